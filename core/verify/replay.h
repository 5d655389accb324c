// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Replays cases on a backend: rebuilds the arguments in the layout they had, with poison in gaps
// and in state rows that the case does not know, calls the op under a guard (verify/guard), and
// reads what came out. A backend of reduced activations (exec/reduced) gets f32 inputs and states
// in its dtype, and what it computes is given as f32.
//
// One thread. A wrong result is a result; failures are those of the backend and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"
#include "device/backend.h"
#include "exec/residency.h"
#include "model/checkpoint.h"
#include "store/case.h"
#include "verify/guard.h"
#include "verify/replay_output.h"

enum { REPLAY_OUTPUTS_MAX = 4, REPLAY_POISON = GUARD_BUFFER_POISON };

struct replay;

// Replays on one backend, reusing buffers and weights from case to case. `checkpoint` gives the
// weights; NULL where the cases carry them. Both are borrowed.
tapml_status replay_create(struct backend *backend,
                           const struct checkpoint *checkpoint,
                           struct replay **out_replay) STATUS_USED;
void replay_destroy(struct replay *replay);

enum replay_outcome { REPLAY_RAN, REPLAY_UNSUPPORTED, REPLAY_SKIPPED };

struct replay_result {
    enum replay_outcome outcome;
    char reason[256]; // Where it did not run, or what the guard found.

    // Of the call and the wait for it, the faster of two runs where the guard found nothing: the
    // second is not guarded. 0 where it was not asked for.
    uint64_t time_ns;
    uint32_t output_count;
    struct replay_output outputs[REPLAY_OUTPUTS_MAX];
};

// A failure of the backend is a status that names the instance; unsupported is an outcome. A weight
// that the checkpoint lacks, or has in another shape, is TAPML_INVALID. TAPML_DEVICE_LOST ends the
// use of the backend.
tapml_status replay_run(struct replay *replay,
                        const struct carved_case *item,
                        const struct compiled_op *schema,
                        int timed,
                        struct replay_result *out_result) STATUS_USED;

uint64_t replay_executions(const struct replay *replay);
