// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Load on a device: a thread that runs one case over and over on a queue of its own, while the
// caller works with another queue of the same device.
//
// Between `invariance_load_begin` and `invariance_load_end` the backend is the thread's, and what
// it was given may be read, and not changed.
#pragma once

#include "base/status.h"
#include "device/backend.h"

struct carved_case;
struct checkpoint;
struct invariance_load;

enum { INVARIANCE_LOAD_TEXT = 256 };

// What the thread came to.
struct invariance_load_result {
    uint64_t calls;                     // That have ended.
    char failure[INVARIANCE_LOAD_TEXT]; // Why there were no more, a sentence; or "".
};

// Begins, and waits until the first call has ended, or has failed. `backend` is not that of the
// caller; `checkpoint` may be NULL. TAPML_NO_MEMORY, or TAPML_UNAVAILABLE if there is no thread.
tapml_status invariance_load_begin(struct backend *backend,
                                   const struct checkpoint *checkpoint,
                                   const struct carved_case *item,
                                   const struct compiled_op *schema,
                                   struct invariance_load **out_load) STATUS_USED;

// Waits until a call that had not begun before has begun, or there are none any more: what the
// caller does next is done beside it.
void invariance_load_meet(struct invariance_load *load);

// Ends the thread after the call at hand. NULL is allowed; then the result is of no calls.
void invariance_load_end(struct invariance_load *load, struct invariance_load_result *out_result);
