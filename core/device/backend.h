// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A backend inside the core: an open device with its queue, behind one small table.
//
// The innermost one stands for a loaded plugin's device (plugin/device). Everything that watches or
// changes ops is a backend that wraps a backend and has this same table: trace, recorder, guard,
// link, fault. Wrappers watch; the plan alone decides where an op runs.
//
// Buffers are handles of the backend that made them. Work is in order; `write`, `read`, `fill`,
// `copy` and `call` may return before it is done. `wait` returns when all of it is, `wait_for` when
// all in front of a point is that `signal` gave. Memory given to `write` and `read` stays valid
// until then. The first error of queued work comes out of the next wait of either kind; what was
// queued is gone then, and the backend works on. One thread works with a backend.
//
// The functions `backend_*` are the façade in front of every table that makes buffers of its own:
// an implementation gets handles that are alive and its own, ranges that lie inside of them, grains
// that it can transfer, and no write to a buffer that is only read. A misuse is TAPML_INVALID, or
// TAPML_PRECONDITION where it is the wrong moment, and names device, buffer, offset and size. A
// wrapper that forwards `buffer_new` is not checked once more. Nothing is allocated but for new
// buffers. Freeing what is not alive, and showing two buffers at once, are mistakes of ours.
#pragma once

#include "base/status.h"
#include "device/handles.h"
#include "schema/infer.h"
#include "tensor/activation.h"
#include "tensor/arithmetic.h"
#include "tensor/encoding.h"

#include <tapml/backend.h>
#include <tapml/draft/subgraph.h>
#include <tapml/draft/tuning.h>

struct arena;
struct backend;
struct knob_space;

// What a backend does with memory that is shared with it.
enum backend_borrowing {
    BACKEND_BORROWS_NOTHING, // It sees all memory of this process.
    BACKEND_BORROWS_SOURCES, // `write` reads from it, where it would copy other memory first.
    BACKEND_BORROWS_BUFFERS, // And `buffer_wrap` works for it, to be read.
    BACKEND_BORROWS_WHOLE    // It sees all, and `buffer_wrap` may work for what is shared, in whole
                             // pages that do not overlap, to be read.
};

struct backend_info {
    const char *component; // "component" id.
    const char *plugin;    // Id of its plugin.
    const char *plugin_version;
    const char *build_id;    // Of its library, hexadecimal.
    const char *device;      // Id.
    const char *device_name; // For people.
    const char *driver;      // Or "".
    int is_host_memory;      // `buffer_wrap` works, and nothing has to be moved.
    unsigned takes;          // Of encodings: ENCODING_TAKES_* (tensor/encoding.h).
    int takes_groups;        // Of ops, perhaps of ops that it lacks.
    uint64_t buffer_bytes_max;
    uint64_t memory_bytes;      // In all; 0: unknown, or behind a link.
    const tapml_limits *limits; // What its kernels may use; NULL: unknown, or behind a link.
    enum backend_borrowing borrowing;
    enum activation activation; // What is f32 elsewhere, weights excepted, is of this dtype there.
};

// A moment in the work of a backend: all that was queued before is done.
struct backend_point {
    const struct backend *owner; // The innermost backend, which counts.
    uint64_t value;              // Only grows.
};

// Memory that another process can see, too: a mapping of `descriptor` from its first byte on.
struct backend_share {
    const void *memory;
    uint64_t bytes;
    int descriptor; // Of the owner, who keeps it open. A reader must not be able to write by it.
};

// Where an argument's memory comes from: what a recorder keeps beside the numbers.
struct backend_origin {
    const char *name;    // Of the base value: a weight's or a state's name, "<instance>", an input.
    uint64_t base_bytes; // Of the base value, dense.
    uint64_t base_offset; // Where it begins in its buffer: of weights that lie in that of a file.
    const void *data;     // Weights and constants: the bytes in host memory; else NULL.
};

// A copy between two buffers.
struct backend_copy {
    tapml_object *source, *target;
    uint64_t source_offset, target_offset, size; // Bytes.
};

// What is done beside the queue of a backend: copies to the device while it computes, which have an
// order of their own.
enum backend_aside_kind {
    BACKEND_ASIDE_WRITE,  // As `write`.
    BACKEND_ASIDE_FOLLOW, // What is written aside later begins behind `point` of the queue.
    BACKEND_ASIDE_SIGNAL, // Sets `point`: behind all that was written aside so far.
    BACKEND_ASIDE_JOIN    // What is queued later begins behind `point` of a signal.
};

struct backend_aside {
    enum backend_aside_kind kind;
    tapml_object *buffer;
    uint64_t offset;
    const void *source;
    uint64_t size;
    struct backend_point point;
};

// One call of an op.
struct backend_call {
    const tapml_op *op;
    const tapml_value *args; // One for each parameter; tensors carry buffers of this backend.

    // What `infer_call` made of `args`: symbols and regions. What makes a call or changes its
    // arguments makes this, and everything that the call goes through trusts it.
    const struct inferred *inferred;

    // NULL if the call is not observed.
    const char *instance;
    const struct backend_origin *origins; // One for each parameter.
    int is_extra; // No call that a run would make: who counts calls leaves it out.
};

struct backend_vt {
    void (*release)(struct backend *backend);
    const struct backend_info *(*info)(const struct backend *backend);

    // Whether it has the op at all.
    int (*has_op)(struct backend *backend, const tapml_op *op);

    // Whether it runs the op with these arguments (tensors without buffers). `answer` is set.
    // TAPML_INVALID where they do not fit the schema.
    tapml_status (*supports)(struct backend *backend,
                             const struct compiled_op *schema,
                             const tapml_value *args,
                             tapml_support *answer);
    tapml_status (*buffer_new)(struct backend *backend, uint64_t size, tapml_object **out_buffer);
    tapml_status (*buffer_wrap)(struct backend *backend,
                                void *memory,
                                uint64_t size,
                                uint32_t access,
                                tapml_object **out_buffer);
    void (*buffer_free)(struct backend *backend, tapml_object *buffer);
    tapml_status (*write)(struct backend *backend,
                          tapml_object *buffer,
                          uint64_t offset,
                          const void *source,
                          uint64_t size);
    tapml_status (*read)(struct backend *backend,
                         tapml_object *buffer,
                         uint64_t offset,
                         void *target,
                         uint64_t size);
    tapml_status (*fill)(struct backend *backend,
                         tapml_object *buffer,
                         uint64_t offset,
                         uint64_t size,
                         uint32_t pattern);

    // NULL, and TAPML_UNIMPLEMENTED here or at a wait: it copies between no buffers.
    tapml_status (*copy)(struct backend *backend, const struct backend_copy *copy);

    // Shows bytes of a buffer where they lie, to be read until `unmap` while no work is pending;
    // one buffer at a time. `*out_memory` is NULL where only `read` gets at them. Both are NULL
    // where that is always so.
    tapml_status (*map)(struct backend *backend,
                        tapml_object *buffer,
                        uint64_t offset,
                        uint64_t size,
                        const void **out_memory);
    void (*unmap)(struct backend *backend, tapml_object *buffer);
    tapml_status (*call)(struct backend *backend, const struct backend_call *call);

    // Groups of ops, as in tapml/draft/subgraph.h. `call` is that of the group as an op. Both NULL:
    // it takes none, nor does a wrapper.
    tapml_status (*supports_group)(struct backend *backend,
                                   const tapml_group *group,
                                   tapml_support *answer);
    tapml_status (*call_group)(struct backend *backend,
                               const tapml_group *group,
                               const struct backend_call *call);

    // Hands over what is held back; does not wait.
    tapml_status (*flush)(struct backend *backend);

    // Hands over and waits for all. An error of queued work comes out here, with its instance.
    tapml_status (*wait)(struct backend *backend);

    // Marks the end of what is queued. Hands nothing over, and does not wait.
    tapml_status (*signal)(struct backend *backend, struct backend_point *out_point);

    // Hands over and waits for a point of this backend.
    tapml_status (*wait_for)(struct backend *backend, struct backend_point point);

    // Work that is queued later begins behind a point of another backend, without a wait of the
    // host. The point has been handed over. TAPML_UNIMPLEMENTED: the host has to wait for it. NULL:
    // that is always so.
    tapml_status (*queue_wait)(struct backend *backend, struct backend_point point);

    // Calls `function` once when a point of this backend is reached, or with the failure of the
    // work before it: on any thread, in no order, perhaps before this returns, and in any case
    // before a wait that covers the point returns. What is read may arrive only with that wait. The
    // point has been handed over. A failure: `function` is never called. TAPML_UNIMPLEMENTED: the
    // caller has to wait. NULL: that is always so.
    tapml_status (*notify)(struct backend *backend,
                           struct backend_point point,
                           tapml_notified function,
                           void *user);

    // Queues that a clock of the far side, in nanoseconds, is put to `*out_ns` once all that was
    // queued before is done: work behind it begins later. It is there after the next wait, and
    // stays valid until then as what `read` is given. Two of them around a call tell its time,
    // without a wait of the host. NULL, or TAPML_UNIMPLEMENTED: the caller has to wait, and to look
    // at its own clock.
    tapml_status (*stamp)(struct backend *backend, uint64_t *out_ns);

    // Kernels launched for op calls so far; 0 if the backend does not count them.
    uint64_t (*launches)(struct backend *backend);

    // What computes `op` there: text that changes with any code that can change a result of the op.
    // From the plugin, or the build id of its library. Never NULL; lives as long as the backend.
    const char *(*identity)(struct backend *backend, const tapml_op *op);

    // How `op` is computed there, as its device declares. Never NULL; lives as long as the backend.
    // NULL: all in f32.
    const struct arithmetic *(*arithmetic)(struct backend *backend, const tapml_op *op);

    // How often what was in its buffers was lost: a worker's device was started again. The buffers
    // are there, and undefined.
    uint64_t (*generation)(const struct backend *backend);

    // How often its process was killed by somebody else: a failure since then may be no fault of
    // the work (exec/persist.h). NULL: never.
    uint64_t (*kills)(const struct backend *backend);

    // Calls that are refused since they have crashed it are made again: a search looks for them.
    // NULL: none are.
    void (*forgive)(struct backend *backend);

    // What has ended its process last is done again, alone: that end is held against no call and no
    // op. NULL: nothing is held against any.
    void (*excuse)(struct backend *backend);

    // Shares memory with it, and ends that. Both NULL where `borrowing` is NOTHING.
    tapml_status (*share)(struct backend *backend, const struct backend_share *share);
    void (*unshare)(struct backend *backend, const void *memory);

    // Does something beside the queue, without a wait. NULL, and TAPML_UNIMPLEMENTED at the first
    // use: it has nothing there.
    tapml_status (*aside)(struct backend *backend, struct backend_aside *io_aside);

    // What could be chosen for a call, which the backend supports, with these arguments (tensors
    // without buffers): in `arena`, as device/knobs.h has it, where one finds the façade of both.
    // NULL: nothing. `*io_space` has no knobs before.
    tapml_status (*knobs)(struct backend *backend,
                          const struct compiled_op *schema,
                          const tapml_value *args,
                          struct arena *arena,
                          struct knob_space *io_space);

    // Takes a setting for the calls of an op, by its name, that follow; the identity of the op is
    // another one from then on. NULL, and TAPML_UNIMPLEMENTED: there is nothing to choose, or a
    // worker was given its settings when it was opened.
    tapml_status (*tune)(struct backend *backend, const char *op, const tapml_setting *setting);
};

// First member of every backend. All but `vt` is the façade's, and zeroed to begin with.
struct backend {
    const struct backend_vt *vt;
    struct handles handles;     // Where `vt` makes buffers of its own.
    int is_pending;             // Work was given since the last wait.
    const tapml_object *mapped; // The buffer that is shown; or NULL.
};

// Releases what the façade knows of a backend that is not released by `backend_release`: a wrapper
// with buffers of its own that is destroyed by another way.
void backend_forget(struct backend *backend);

// `backend_release` accepts NULL, `backend_buffer_free` a NULL buffer.
void backend_release(struct backend *backend);
const struct backend_info *backend_info(const struct backend *backend);
int backend_has_op(struct backend *backend, const tapml_op *op);
tapml_status backend_supports(struct backend *backend,
                              const struct compiled_op *schema,
                              const tapml_value *args,
                              tapml_support *answer) STATUS_USED;
tapml_status
backend_buffer_new(struct backend *backend, uint64_t size, tapml_object **out_buffer) STATUS_USED;
tapml_status backend_buffer_wrap(struct backend *backend,
                                 void *memory,
                                 uint64_t size,
                                 uint32_t access,
                                 tapml_object **out_buffer) STATUS_USED;
void backend_buffer_free(struct backend *backend, tapml_object *buffer);

// Offsets and sizes are bytes inside of the buffer; multiples of TAPML_TRANSFER_GRAIN, but for
// `backend_map`. That one wants no work to be pending, and nothing is queued until `backend_unmap`,
// which follows only where memory was shown.
tapml_status backend_write(struct backend *backend,
                           tapml_object *buffer,
                           uint64_t offset,
                           const void *source,
                           uint64_t size) STATUS_USED;
tapml_status backend_read(struct backend *backend,
                          tapml_object *buffer,
                          uint64_t offset,
                          void *target,
                          uint64_t size) STATUS_USED;
tapml_status backend_fill(struct backend *backend,
                          tapml_object *buffer,
                          uint64_t offset,
                          uint64_t size,
                          uint32_t pattern) STATUS_USED;
// The two buffers are not the same.
tapml_status backend_copy(struct backend *backend, const struct backend_copy *copy) STATUS_USED;
tapml_status backend_map(struct backend *backend,
                         tapml_object *buffer,
                         uint64_t offset,
                         uint64_t size,
                         const void **out_memory) STATUS_USED;
void backend_unmap(struct backend *backend, tapml_object *buffer);

// Every tensor lies in its buffer, at an offset that is a multiple of its element.
tapml_status backend_call(struct backend *backend, const struct backend_call *call) STATUS_USED;

// The answer is NO, without a reason, where a backend takes no groups. What the nodes use lies in
// the arguments of the group, which alone are checked, and in temporaries.
tapml_status backend_supports_group(struct backend *backend,
                                    const tapml_group *group,
                                    tapml_support *answer) STATUS_USED;
tapml_status backend_call_group(struct backend *backend,
                                const tapml_group *group,
                                const struct backend_call *call) STATUS_USED;

// A wait for all is one for what was written aside, too. A device may do one thing after another
// all the same. TAPML_UNIMPLEMENTED: nothing was done, nor ever is.
tapml_status backend_aside(struct backend *backend, struct backend_aside *io_aside) STATUS_USED;
tapml_status backend_flush(struct backend *backend) STATUS_USED;
tapml_status backend_wait(struct backend *backend) STATUS_USED;
tapml_status backend_signal(struct backend *backend, struct backend_point *out_point) STATUS_USED;
tapml_status backend_wait_for(struct backend *backend, struct backend_point point) STATUS_USED;
tapml_status backend_queue_wait(struct backend *backend, struct backend_point point) STATUS_USED;
tapml_status backend_notify(struct backend *backend,
                            struct backend_point point,
                            tapml_notified function,
                            void *user) STATUS_USED;
tapml_status backend_stamp(struct backend *backend, uint64_t *out_ns) STATUS_USED;
uint64_t backend_launches(struct backend *backend);
const char *backend_identity(struct backend *backend, const tapml_op *op);
const struct arithmetic *backend_arithmetic(struct backend *backend, const tapml_op *op);
uint64_t backend_generation(const struct backend *backend);
uint64_t backend_kills(const struct backend *backend);
void backend_forgive(struct backend *backend);
void backend_excuse(struct backend *backend);

// Memory can be shared more than once, and is then unshared as often: after a wait, and when the
// buffers that wrap it are gone. A backend that borrows nothing has nothing to do.
tapml_status backend_share(struct backend *backend, const struct backend_share *share) STATUS_USED;
void backend_unshare(struct backend *backend, const void *memory);

// For wrappers: the same functions, forwarded to `inner`, which is the second member of `struct
// backend_wrapper`. A wrapper copies this table and replaces what it watches.
struct backend_wrapper {
    struct backend backend;
    struct backend *inner; // Borrowed.
};
extern const struct backend_vt backend_forward_vt;
