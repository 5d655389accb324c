// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A device of the component that is checked, opened by a host that stands in: root, device, queue
// and timeline, and calls on them that a check makes often.
//
// One thread. A failure of a call is told to the result of the check, which names the function.
#pragma once

#include "kit/kit_check.h"
#include "kit/process_usage.h"
#include "kit/stand_in.h"

#include <tapml/backend.h>

struct kit_device {
    struct stand_in *host;
    const tapml_backend *table;
    const tapml_device_info *info; // Lives until the list is asked for again.
    tapml_object *root, *device, *queue, *timeline;
    uint64_t signalled;
};

// Probes, creates and opens. Without a driver or a device the check is skipped, for want of it
// (kit_result_lack_device). Returns whether all is open; the caller closes it in either case.
int kit_device_open(const struct kit_subject *subject,
                    struct kit_result *io_result,
                    struct kit_device *out_device);

// The same up to the root; of a component that is probed, the root; and from the root on: for
// checks that look at the steps.
int kit_device_open_root(const struct kit_subject *subject,
                         struct kit_result *io_result,
                         struct kit_device *out_device);
int kit_device_enter(const struct kit_subject *subject,
                     struct kit_result *io_result,
                     struct kit_device *io_device);
int kit_device_open_device(const struct kit_subject *subject,
                           struct kit_result *io_result,
                           struct kit_device *io_device);

// Releases what is open, children before parents, shuts the component down, and frees the host.
void kit_device_close(struct kit_device *device);

// Releases what is open, and leaves the host as it is.
void kit_device_release(struct kit_device *device);

// How the reason of a failure ends that has no sentence of the plugin.
#define KIT_DEVICE_NO_MESSAGE "no message"

// Tells a failed call of `function` to the result. Returns whether it succeeded.
int kit_device_expect(struct kit_device *device,
                      struct kit_result *io_result,
                      const char *function,
                      tapml_status status);

// A buffer of the first type of memory, or NULL.
tapml_object *
kit_device_buffer(struct kit_device *device, struct kit_result *io_result, uint64_t size);

// What `rounds` openings and releases have left behind since `before` was read: no thread,
// descriptor or process, and at most `allowed_bytes` of memory.
void kit_device_expect_no_growth(const struct process_usage *before,
                                 uint64_t rounds,
                                 uint64_t allowed_bytes,
                                 struct kit_result *io_result);

// Releases an object; NULL is allowed.
void kit_device_drop(tapml_object *object);

// Signals, flushes and waits until all that was queued is done. Returns whether it is.
int kit_device_wait(struct kit_device *device, struct kit_result *io_result);
