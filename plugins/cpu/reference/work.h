// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tapml/backend.h>

// Outputs to compute that do not depend on each other, for the host's pool.
struct work {
    uint64_t count;     // Units of work.
    uint64_t unit_cost; // Of one unit: about how many additions. Small work stays on one thread.
    void (*body)(void *job, uint64_t begin, uint64_t end);
    void *job;
};

// Runs `work` and finishes the output `y` as the device of `queue` says. Which thread takes which
// unit changes no bit. TAPML_CANCELLED where the user ends the call.
tapml_status
work_run(tapml_object *queue, tapml_call *call, const struct work *work, const tapml_tensor *y);

// Finishes one more tensor that the work wrote: a state.
void work_finish(tapml_object *queue, const tapml_tensor *y);
