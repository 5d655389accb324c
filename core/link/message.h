// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The messages of the link, as both sides write and read them: docs/wire.md has the list.
//
// Any thread. Writers keep a lack of memory until they are sent (`is_failed`), readers a message
// that is too short (`is_broken`); a message that is wrong otherwise is TAPML_INVALID.
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "device/backend.h"
#include "plugin/call.h"

#include <tapml/wire/wire.h>

enum message_verb {
    MESSAGE_OPEN = 1,    // Answered: what the backend is, and its ops.
    MESSAGE_REGION,      // Shared memory; its descriptor comes along.
    MESSAGE_SUPPORTS,    // Answered.
    MESSAGE_BUFFER_NEW,  // Answered.
    MESSAGE_BUFFER_WRAP, // Over a span of a region.
    MESSAGE_BUFFER_FREE,
    MESSAGE_WRITE,
    MESSAGE_READ,
    MESSAGE_FILL,
    MESSAGE_CALL,
    MESSAGE_FLUSH,
    MESSAGE_WAIT,  // Answered: the first error since the last one, or the launches.
    MESSAGE_COUNT, // Answered: launches and other counts.
    MESSAGE_CLOSE,
    MESSAGE_SHARE, // Memory that is only read; its descriptor comes along.
    MESSAGE_UNSHARE,
    MESSAGE_SIGNAL,   // A point behind what was queued.
    MESSAGE_WAIT_FOR, // Answered: the same error; what is queued in front of a point is done.
    MESSAGE_COPY,     // From a part of a buffer to another one.
    MESSAGE_DEFINE,   // An op with a plain form. Answered: whether the backend has it, and the op.
    MESSAGE_STAMP,    // What was queued is waited for; then the time goes to a span of a region.
    MESSAGE_KNOBS,    // Answered: what can be chosen for a call.
    MESSAGE_REPLY = 64
};

// Beside the number of a region: it is that of an import.
#define MESSAGE_IS_IMPORT UINT32_C(0x80000000)

// Whether a descriptor comes along with a message.
int message_has_descriptor(uint16_t verb);

// A writer of the core's memory.
#define MESSAGE_WRITER ((struct wire_writer){.grow = message_grow})
void *message_grow(void *data, size_t used, size_t size);

// The settings that the opening side sends to the other: keys and values in sections, as in an INI
// file.
struct message_setting {
    const char *section;
    const char *key;
    const char *value;
};

void message_put_settings(struct wire_writer *writer,
                          const struct message_setting *settings,
                          size_t count);
tapml_status message_take_settings(struct wire_reader *reader,
                                   struct arena *arena,
                                   struct message_setting **out_settings,
                                   size_t *out_count) STATUS_USED;

// A backend and the schemas of its ops, each with what computes it (`backend_identity`), and how
// (`backend_arithmetic`).
void message_put_info(struct wire_writer *writer, const struct backend_info *info);
tapml_status message_take_info(struct wire_reader *reader,
                               struct arena *arena,
                               struct backend_info *out_info) STATUS_USED;
void message_put_op(struct wire_writer *writer,
                    const tapml_op *op,
                    const char *identity,
                    const struct arithmetic *arithmetic);
tapml_status message_take_op(struct wire_reader *reader,
                             struct arena *arena,
                             const tapml_op **out_op,
                             const char **out_identity,
                             struct arithmetic *out_arithmetic) STATUS_USED;

// The number of a buffer on the wire. 0 is none.
typedef uint32_t (*message_number_fn)(const tapml_object *buffer);

// The arguments of a call. TAPML_UNIMPLEMENTED for an encoded tensor.
tapml_status message_put_args(struct wire_writer *writer,
                              const tapml_op *op,
                              const tapml_value *args,
                              message_number_fn number_of) STATUS_USED;

// Arguments that were read. Reused from call to call; zeroed to begin with.
struct message_args {
    tapml_value values[CALL_PARAMS_MAX];
    struct message_panel {
        tapml_tensor tensor;
        int64_t shape[TAPML_MAX_RANK];
        int64_t stride[TAPML_MAX_RANK];
        int has_spans; // With buffers of their own.
    } * panels;
    const tapml_tensor **lists; // Of TENSORS_IN, and of spans.
    size_t panel_count, list_count;
    size_t capacity; // Of both.
};

// The buffer of a number; NULL where there is none.
struct message_buffers {
    tapml_object *(*find)(void *user, uint32_t number);
    void *user;
};

// Reads arguments of `op`. TAPML_INVALID where they are not of the schema's kinds, where a
// tensor has an impossible shape, or a number is no buffer's. Whether it lies in its buffer, the
// façade of the backend checks. `buffers` is NULL where tensors have none.
tapml_status message_take_args(struct wire_reader *reader,
                               const tapml_op *op,
                               const struct message_buffers *buffers,
                               struct message_args *args) STATUS_USED;
void message_args_release(struct message_args *args);
