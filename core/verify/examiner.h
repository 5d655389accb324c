// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Runs cases on one target and judges what comes out, case by case: the kept and derived ones of a
// store (verify/verdicts.h), or the calls of a run.
//
// An examiner and what it is given belong to one thread. A failure of the backend is the verdict of
// its case; a status that ends all, such as a lost device, is returned.
#pragma once

#include "verify/output_measure.h"
#include "verify/verdict.h"

struct arena;
struct carved_case;
struct examiner;

// Of `options`, which is borrowed, count registry, store (of limits), target, backend, checkpoint
// and `activation`. The caller owns the examiner.
tapml_status examiner_create(const struct verdict_options *options,
                             struct examiner **out_examiner) STATUS_USED;
void examiner_destroy(struct examiner *examiner);

// The schema of the op of a case, or NULL.
const struct compiled_op *examiner_schema(const struct examiner *examiner,
                                          const struct carved_case *item);

// What results of an op depend on; borrowed from the examiner.
tapml_status examiner_maker(struct examiner *examiner,
                            const char *op,
                            uint32_t version,
                            const struct result_maker **out_maker) STATUS_USED;

// Runs and judges a case. `io_verdict` has its names; texts are put into `arena`.
tapml_status examiner_try(struct examiner *examiner,
                          struct examination *examination,
                          struct arena *arena,
                          struct verdict *io_verdict) STATUS_USED;

// Where the examiner replays, for who queues cases ahead (verify/replay_ahead.h).
struct replay *examiner_replay(const struct examiner *examiner);

// Judges a result that is in the examination, of a case whose schema is known, as `examiner_try`
// judges what it has run. Nothing is run on the target.
tapml_status examiner_judge(struct examiner *examiner,
                            struct examination *examination,
                            struct arena *arena,
                            struct verdict *io_verdict) STATUS_USED;

// Whether the store has a fresh result of this very backend of a case whose names the verdict has.
tapml_status
examiner_has(struct examiner *examiner, const struct verdict *verdict, int *out_has) STATUS_USED;

// Gives a case without expected values what the oracle computes, and its limits
// (`calibrator_expect`).
tapml_status examiner_expect(struct examiner *examiner,
                             struct carved_case *item,
                             struct examination *io_examination,
                             struct arena *arena,
                             const char **out_refusal) STATUS_USED;

// Takes the result that the store has of this very backend into a verdict that has the names of its
// case, and judges it by the limits of today: limits that the store lacks are measured, and nothing
// is run on the target. `*out_has` is 0 if there is no fresh result, or one without errors. Texts
// are put into `arena`.
tapml_status examiner_find(struct examiner *examiner,
                           struct arena *arena,
                           struct verdict *io_verdict,
                           int *out_has) STATUS_USED;

// Writes what was measured as the result of a kept case, in the transaction at hand.
tapml_status examiner_write(struct examiner *examiner, const struct verdict *verdict) STATUS_USED;

// Copies the names of a case into a verdict. TAPML_NO_MEMORY is its one failure.
tapml_status examiner_name(struct arena *arena,
                           const struct carved_case *item,
                           struct verdict *io_verdict) STATUS_USED;

// Runs `item` on the backend and judges what comes out. Texts of the verdict live until the next
// case.
tapml_status examiner_case(struct examiner *examiner,
                           const struct carved_case *item,
                           struct verdict *out_verdict) STATUS_USED;

// Judges what `item` has as outputs, which the target has computed: the backend is one that is
// right and says what they should be. If they fail, `item` holds what is right from then on.
tapml_status examiner_computed(struct examiner *examiner,
                               struct carved_case *item,
                               struct verdict *out_verdict) STATUS_USED;

// Adds a case that was judged to the store, with what was measured as the result of the target:
// later starts replay it with all others. `out_case_id` is its id; a case of the same key that is
// there already is kept as it is.
tapml_status examiner_keep(struct examiner *examiner,
                           const struct carved_case *item,
                           const struct verdict *verdict,
                           int64_t *out_case_id) STATUS_USED;

// How many cases of an op have ended by a hang.
size_t examiner_hangs(const struct examiner *examiner, const char *op_name);

// Op executions so far, on the backend and for calibration.
uint64_t examiner_executions(const struct examiner *examiner);
uint64_t examiner_calibrations(const struct examiner *examiner);
