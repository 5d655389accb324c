// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Verdicts on cases, as a run has them in memory, and from the rows of its store.
//
// What a list, a verdict or an option points to is borrowed unless something else is said. A list
// belongs to one thread. Times are nanoseconds, margins observed / limit.
#pragma once

#include "base/status.h"
#include "plugin/registry.h"
#include "store/element.h"
#include "store/measured.h"
#include "store/output_error.h"
#include "store/result.h"
#include "tensor/activation.h"
#include "verify/derive.h"
#include "verify/judgement.h"
#include "verify/replay_ahead.h"

struct arena;
struct backend;
struct checkpoint;
struct choice_settings;
struct comparers;
struct case_budget;
struct examination;
struct fault_rule;
struct outlook;
struct store;

// Whether a result of a store is one of what computed the last start (store/result.h).
enum verdict_freshness {
    VERDICT_FRESH,
    VERDICT_OUTDATED, // Its kind is VERDICT_STALE, unless another case lends it one:
    VERDICT_INHERITED // that has the same content key, and a fresh result.
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

    const struct result_row *result; // That it was read from, as a report shows it; else NULL.

    // What was measured and observed.
    const struct output_error *errors; // Of each output that was compared; else none.
    size_t error_count;
    const struct measured *measures; // Of comparers of plugins, beside the errors; nothing follows.
    size_t measure_count;
    const char *observed; // A sentence of what the errors do not say, or "".
    const char *oracle;   // Whose limits the errors are judged by; "" of an exact op.
    tapml_status failure; // Of VERDICT_ERROR: what the backend gave, TAPML_DEADLINE for no answer
                          // in time. TAPML_OK for all others, and where it was read from a store.
    uint64_t time_ns;
    double cost; // The error of the declared arithmetic against f32, as the root of an NMSE; NaN if
                 // it is not known, or nothing is declared.

    // What follows from that (verify/judgement.h).
    enum verdict_kind kind;
    double margin;                // The worst output's; NaN where nothing was compared.
    const char *output;           // The worst output's parameter; or "".
    const char *reason;           // A sentence for all but a pass.
    struct element_list elements; // Of a failure: the first bad ones of the worst output.

    // Of a verdict that was read from a store (verdict_read).
    enum verdict_freshness freshness;
    enum verdict_kind measured_kind; // What errors and limits make of the result, be it stale.
    int has_stale_limits;            // They are another oracle's: the next start measures them.

    const char *basis; // Of a derived case: a digest of all that the verdicts of its op depend on.
};

struct verdict_list {
    struct arena *arena;   // Of all that the list has but the items of `derived`.
    struct verdict *items; // Of kept cases.
    size_t count;
    struct verdict *derived; // Op by op.
    size_t derived_count, derived_capacity;
    size_t replayed, derived_replayed; // Of both: those that the store did not have.
    size_t not_run;                    // Kept cases that the choice leaves out, and
    size_t left;                       // of them, those that what may be spent has left out.
    size_t firsts;                     // Kept cases that were the first of their op to be replayed,
    uint64_t firsts_ns;                // and how long these took: the device has made its kernels.

    // Op executions on the target: of kept cases, of those the ones from the first that failed on,
    // of derived cases. Of calibration, on other devices, for all of them.
    uint64_t executions, executions_since_failure, executions_derived, executions_calibrating;

    struct replay_ahead_counts ahead; // Of kept cases, where windows of them were replayed.
};

// What verdicts are made of, and how (verify/verdicts.h, verify/examiner.h).
struct verdict_options {
    struct registry *registry;
    struct store *store;
    const char *target; // The target's name in the run; results are kept under it.
    struct backend *backend;
    const struct fault_rule *faults;     // Injected around `backend`,
    size_t fault_count;                  // on which results depend (verify/makers.h).
    const struct checkpoint *checkpoint; // Or NULL.
    enum activation activation;  // A reduced one: what is judged was computed in it, whatever
                                 // `backend`.
    struct backend *declares;    // Whose arithmetic is judged, whatever `backend`; or NULL.
    struct comparers *comparers; // Measure kept cases beside the errors; or NULL.
    const int64_t *ids;          // These kept cases alone, each once; NULL: all.
    size_t id_count;
    int fresh;    // Replays also what the store has a result for.
    int derived;  // Judges derived cases too, after the kept ones.
    int divides;  // Finds the part of a group that is wrong (verify/divider.h).
    size_t ahead; // Kept cases of a window that is replayed at once (verify/replay_ahead.h), at
                  // most; 0: tuned; 1: each is waited for. With `spend` it is 1, and 0 is 1 where
                  // faults are injected, which count calls.
    size_t hangs_max; // Of an op, after which its other kept cases are skipped; 0: none.

    // Told of each kept case before `progress` is called, if their order is one of which every
    // prefix is like the whole (verify/outlook.h); else it stays as it is. Or NULL.
    struct outlook *outlook;

    // Which kept cases run, and in which order (choose/choice.h); NULL: all, in the order of the
    // store. Not beside `ids` or `fresh`.
    const struct choice_settings *choice;

    // How much of what has no fresh result is replayed at this start, each of which is a
    // transaction; what is left counts as not run. A share is one of all cases. NULL: all of it.
    const struct case_budget *spend;

    // For the order 'cover': the share of the cases of an op that have failed, from 0 to 1, by
    // which it is a risk. Or NULL.
    double (*find_failures)(void *user, const char *op);

    // Verdicts on derived cases that the store has (verify/neighbours.h): those of an op that are
    // fresh are taken over, and not judged again. They outlive the list. Or NULL.
    const struct verdict_list *known;

    // Of a process that judges derived cases beside others: whether it takes those of the op that
    // is the `index`th with such cases, which `known` does not have. All others are left out.
    // NULL: all are judged.
    int (*takes_op)(void *taker, size_t index);
    void *taker;

    // Verdicts on what the source computed, by a device that computes it exactly: a kept case that
    // fails there says nothing about a target, and is skipped. Or NULL.
    const struct verdict_list *refuted;

    // Called after each kept case, and after the derived ones around each kept case that has some;
    // a status that is not TAPML_OK ends it. Or NULL.
    tapml_status (*progress)(void *user, size_t done, size_t all);
    tapml_status (*derived_progress)(void *user, size_t done, size_t all);

    // Called with each case that was tried and what became of it, kept or derived: outputs are
    // there where the verdict has errors, until the next case. Or NULL.
    void (*observe)(void *user,
                    const struct examination *examination,
                    const struct verdict *verdict);
    void *user;
};

// Frees what a list owns, and empties it. NULL is allowed.
void verdict_list_release(struct verdict_list *list);

// Sets the result of a verdict whose errors are known: kind, margin, output and reason, whose text
// is put into `arena`, by the limits in `limits`, one for each error.
tapml_status verdict_judge(struct verdict *io_verdict,
                           const struct compare_limit *limits,
                           struct arena *arena) STATUS_USED;

// The same by the limits that the store has of its oracle. Nothing changes for a case that was not
// compared. TAPML_NOT_FOUND if the store lacks one of them, TAPML_INVALID if a class is none.
tapml_status
verdict_settle(struct store *store, struct verdict *io_verdict, struct arena *arena) STATUS_USED;

// Takes what a row and its errors say into a verdict that has its names already; texts are put into
// `arena` or borrowed from the row. It is not judged yet, unless nothing was compared.
tapml_status verdict_take(struct store *store,
                          const char *target,
                          const struct result_row *row,
                          struct arena *arena,
                          struct verdict *io_verdict) STATUS_USED;

// Reads the elements of a failure, into `arena`. What did not fail has none.
tapml_status verdict_take_elements(struct store *store,
                                   const char *target,
                                   struct arena *arena,
                                   struct verdict *io_verdict) STATUS_USED;

// Copies a verdict on a kept case with all that it points to into `arena`.
tapml_status verdict_copy(const struct verdict *verdict,
                          struct arena *arena,
                          struct verdict *out_copy) STATUS_USED;

// The results that the store has of a target, by case, each judged by the limits of today. Without
// derived ones. A stale result, whose code, device, driver or options are not those of the last
// start, or whose errors are not known, is none to rely on: its kind is VERDICT_STALE, with a
// sentence of what it was. If a case with the same content key has a fresh result, that one is the
// result of this case too (VERDICT_INHERITED). The caller releases the list.
tapml_status
verdict_read(struct store *store, const char *target, struct verdict_list *out_list) STATUS_USED;

// "pass", "fail", "error", "unsupported", "skipped", "stale". Static.
const char *verdict_name(enum verdict_kind kind);

// "fresh", "stale", "inherited". Static.
const char *verdict_freshness_name(enum verdict_freshness freshness);

// The kind of a name. TAPML_INVALID where there is none.
tapml_status verdict_find_kind(const char *name, enum verdict_kind *out_kind) STATUS_USED;

// How many of `verdicts` say that something is wrong: a failure or an error.
size_t verdict_count_failed(const struct verdict *verdicts, size_t count);
