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
#include "verify/replay_call.h"
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

// -- Cases that are queued ahead -----------------------------------------------------------------

// Several cases are made ready, asked about, queued one behind the other on a backend that has
// stamps (`backend_stamp`), waited for together, and looked at in their order: each gives what
// `replay_run` would give. Between the first queue and the wait nothing else is done with the
// replay.
struct replay_flight;

// The caller owns a flight, in which one case after the other may be; `replay_flight_destroy`,
// while no work is pending, accepts NULL.
tapml_status replay_flight_create(struct replay_flight **out_flight) STATUS_USED;
void replay_flight_destroy(struct replay_flight *flight);

// Makes a case ready to be queued, without the backend, which may be at work on other flights. Item
// and schema stay until it has landed. `*out_bytes` are those of its buffers. Where `*out_is_ready`
// is 0 it must be run alone, which says why. Fails with TAPML_NO_MEMORY alone.
tapml_status replay_ready(struct replay *replay,
                          const struct carved_case *item,
                          const struct compiled_op *schema,
                          struct replay_flight *flight,
                          int *out_is_ready,
                          uint64_t *out_bytes) STATUS_USED;

// Asks the backend, on which no work is pending, whether it runs the case.
tapml_status replay_ask(struct replay_flight *flight) STATUS_USED;

// Queues a case that the backend was asked about. If it fails, all that was queued has failed too:
// it is waited for, and every case that has not landed is run alone.
tapml_status replay_queue(struct replay_flight *flight, int timed) STATUS_USED;

// After the wait: buffers may be freed.
void replay_settled(struct replay *replay);

// Gives the result of a case, which lives until the flight has another one. `*out_is_clean` is 0 if
// the guard found something, or the memory was wrong: cases that were queued behind it may be wrong
// by it, and are run again. If it fails, the case is run again too.
tapml_status replay_land(struct replay_flight *flight,
                         struct replay_result *out_result,
                         int *out_is_clean) STATUS_USED;
