// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Replays cases on a backend: rebuilds the arguments in their carved layout, with poison in gaps
// and in state rows that the case does not have, calls the op under a guard (verify/guard), and
// reads the outputs. For a backend of reduced activations (exec/reduced) f32 inputs and states are
// converted to its dtype, and its outputs to f32.
//
// One thread. A wrong result is no failure; failures are those of the backend and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"
#include "device/backend.h"
#include "exec/residency.h"
#include "model/checkpoint.h"
#include "store/case.h"
#include "verify/guard.h"
#include "verify/replay_output.h"

enum { REPLAY_OUTPUTS_MAX = 8, REPLAY_POISON = GUARD_BUFFER_POISON };

struct replay;

// A replay on one backend, which reuses buffers and weights from case to case. The weights are
// those of `checkpoint`; NULL if the cases have their bytes. Both are borrowed. The caller owns the
// replay; `replay_destroy` accepts NULL.
tapml_status replay_create(struct backend *backend,
                           const struct checkpoint *checkpoint,
                           struct replay **out_replay) STATUS_USED;
void replay_destroy(struct replay *replay);

enum replay_outcome { REPLAY_RAN, REPLAY_UNSUPPORTED, REPLAY_SKIPPED };

struct replay_result {
    enum replay_outcome outcome;
    char reason[256]; // Why it did not run, or what the guard found. May be cut.

    // The time of the call and the wait for it. If the guard found nothing it is the faster of two
    // runs, the second without the guard. 0 if `timed` was 0.
    uint64_t time_ns;
    uint32_t output_count;
    struct replay_output outputs[REPLAY_OUTPUTS_MAX];
};

// Replays a case of the op `schema`; the result's outputs live until the next run. A failure of the
// backend is a status that names the instance; unsupported is an outcome. TAPML_INVALID if the case
// is no call of the op, or if the checkpoint lacks a weight or has it in another shape. After
// TAPML_DEVICE_LOST the backend is not used any more.
tapml_status replay_run(struct replay *replay,
                        const struct carved_case *item,
                        const struct compiled_op *schema,
                        int timed,
                        struct replay_result *out_result) STATUS_USED;

// Calls of ops on the backend so far, repeats for times included.
uint64_t replay_executions(const struct replay *replay);
