// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Verdicts: every kept case of a store against a target, and the cases derived from some of them.
//
// Derived cases (verify/derive.h) surround one kept case of each op, phase and choice of dtypes and
// attributes. They are not in the store: a recipe and a seed give the same case again. Verdicts on
// them are, and stay as long as all is the same that those of an op depend on, their basis.
#pragma once

#include "base/hash.h"
#include "base/status.h"
#include "plugin/registry.h"
#include "store/element.h"
#include "verify/calibrator.h"
#include "verify/derive.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct carved_case;
struct store;

enum verdict_kind {
    VERDICT_PASS,
    VERDICT_FAIL,        // An output beyond its limit, or written outside.
    VERDICT_ERROR,       // The backend failed: the reason says how.
    VERDICT_UNSUPPORTED, // With the backend's reason.
    VERDICT_SKIPPED      // Of a derived case also: it cannot be made, or judges nobody.
};

struct verdict {
    int64_t case_id;    // Of a derived case: of the kept one it surrounds, as all names.
    const char *source; // "carved", or of a derived case "uniform", "boundary", "shape".
    const char *label;  // What is special about a derived case: "outlier", "out=33"; else "".
    const struct derive_recipe *recipe; // Of a derived case, which makes it again; else NULL.
    const char *instance;
    const char *op_name;
    uint32_t op_version;
    const char *phase;
    const char *shape_class;
    enum verdict_kind kind;
    double margin;      // The worst output's observed / limit.
    const char *output; // The worst output's parameter; or "".
    const char *reason; // A sentence for all but a pass: first bad element, expected and computed.
    uint64_t time_ns;
    struct element_list elements; // Of a failure: the first bad ones of the worst output.
    const char *basis; // Of a derived case: a digest of all that the verdicts of its op depend on.
};

struct verdict_list {
    struct arena *arena;
    struct verdict *items; // Of kept cases.
    size_t count;
    struct verdict *derived; // Op by op.
    size_t derived_count, derived_capacity;
    size_t replayed, derived_replayed; // Of both: those that the store did not have.

    // Op executions on the target: of kept cases, of those the ones from the first that failed on,
    // of derived cases. Of calibration, on other devices, for all of them.
    uint64_t executions, executions_since_failure, executions_derived, executions_calibrating;
};

struct verdict_options {
    struct registry *registry;
    struct store *store;
    const char *target; // The target's name in the run; results are kept under it.
    struct backend *backend;
    const struct checkpoint *checkpoint; // Or NULL.
    enum activation activation; // A reduced one: what is judged was computed in it, whatever
                                // `backend`.
    int64_t case_id;            // One case alone; 0: all.
    int fresh;                  // Replays also what the store has a result for.
    int derived;                // Judges derived cases too, after the kept ones.

    // Verdicts on derived cases that the store has (verify/neighbours.h): those of an op that are
    // fresh are taken over, and not judged again. They outlive the list. Or NULL.
    const struct verdict_list *known;

    // Called after each kept case, and after the derived ones around each kept case that has some;
    // a status that is not TAPML_OK ends it. Or NULL.
    tapml_status (*progress)(void *user, size_t done, size_t all);
    tapml_status (*derived_progress)(void *user, size_t done, size_t all);
    void *user;
};

// Replays every case and judges it. Results are written to the store, some cases a transaction.
// Results that are there and fresh (store/result.h) are not computed again. Where all cases are
// judged, stale ones are deleted first, with a line of log for each op.
// A failure of the backend is the verdict of its case; a lost device ends it all, with what is
// known written.
tapml_status verdict_all(const struct verdict_options *options,
                         struct verdict_list *out_list) STATUS_USED;
void verdict_list_release(struct verdict_list *list);

// The results that the store has of a target, by case: those of `verdict_all`, and what was kept
// since. Without derived ones.
tapml_status
verdict_read(struct store *store, const char *target, struct verdict_list *out_list) STATUS_USED;

// For cases that come one by one, such as the calls of a run.
struct verdict_judge;

// Of `options`, which is borrowed, count registry, store (of limits; results are not written),
// target, backend, checkpoint and `activation`. The caller owns the judge.
tapml_status verdict_judge_create(const struct verdict_options *options,
                                  struct verdict_judge **out_judge) STATUS_USED;
void verdict_judge_destroy(struct verdict_judge *judge);

// Runs `item` on the backend and judges what comes out. Texts of the verdict live until the next
// case.
tapml_status verdict_judge_case(struct verdict_judge *judge,
                                const struct carved_case *item,
                                struct verdict *out_verdict) STATUS_USED;

// Judges what `item` has as outputs, which the target has computed: the backend is one that is
// right and says what they should be. Where they fail, `item` holds what is right from then on.
tapml_status verdict_judge_computed(struct verdict_judge *judge,
                                    struct carved_case *item,
                                    struct verdict *out_verdict) STATUS_USED;

// Op executions so far, on the backend and for calibration.
uint64_t verdict_judge_executions(const struct verdict_judge *judge);
uint64_t verdict_judge_calibrations(const struct verdict_judge *judge);

// Adds a case that was judged to the store, with its verdict as the result of the target: later
// starts replay it with all others. `out_case_id` is its id; a case of the same key that is there
// already is kept as it is.
tapml_status verdict_judge_keep(struct verdict_judge *judge,
                                const struct carved_case *item,
                                const struct verdict *verdict,
                                int64_t *out_case_id) STATUS_USED;

const char *verdict_name(enum verdict_kind kind);

// The kind of a name. TAPML_INVALID where there is none.
tapml_status verdict_find_kind(const char *name, enum verdict_kind *out_kind) STATUS_USED;

// How many of `verdicts` say that something is wrong: a failure or an error.
size_t verdict_count_failed(const struct verdict *verdicts, size_t count);
