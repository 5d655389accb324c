// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `result`: what became of a case on a target, and what computed that. The errors of its
// outputs are rows of their own (store/output_error.h). A result is fresh as long as everything is
// the same that it was computed by: it is stale otherwise, and never used. Limits have no part in
// that: a verdict is computed from the errors and the limits of the day. Times are nanoseconds. A
// store and what is read from it belong to one thread.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

// All that a result depends on beside its case, and where its limits come from. None is NULL.
struct result_maker {
    const char *implementation; // Of the op: plugin and digest (`backend_identity`).
    const char *device;         // "COMPONENT:DEVICE"
    const char *driver;         // "NAME OF THE DEVICE, DRIVER"
    const char *options;        // "activations=f16", "declared: inputs bf16", both, or "".
    const char *oracle;         // Digest of what gives the limits of the op; "" of an exact one. A
                                // result with another one is fresh all the same.
};

struct result_row {
    int64_t case_id;
    const char *outcome; // RESULT_RAN, or the verdict itself: "error", "unsupported", "skipped".
    const char *reason;  // A sentence of what was observed beside errors, or "".
    uint64_t time_ns;    // Of the call and the wait for it.
    uint64_t beyond,
        total; // Elements of the output that was worst when it ran, if it failed; else 0.

    // Ignored when a result is written: what computed it, and what its case is.
    struct result_maker maker;
    const char *instance, *op, *phase, *shape_class;
    uint32_t version;
};

#define RESULT_RAN "ran" // Its outputs were compared.

// Writes the result of a case, in the place of an earlier one, its errors and its elements. In the
// transaction at hand, if there is one. Fails as SQLite does: a full disk, a store that is locked.
tapml_status result_write(struct store *store,
                          const char *target,
                          const struct result_row *item,
                          const struct result_maker *maker) STATUS_USED;

// The fresh result of a case, in `arena`. TAPML_NOT_FOUND where there is none.
tapml_status result_find(struct store *store,
                         const char *target,
                         int64_t case_id,
                         const struct result_maker *maker,
                         struct arena *arena,
                         struct result_row *out_item) STATUS_USED;

// Says that the limits of a result are now those of another oracle.
tapml_status result_set_oracle(struct store *store,
                               const char *target,
                               int64_t case_id,
                               const char *oracle) STATUS_USED;

// All results of a target in the order of their cases, in `arena`.
tapml_status result_list(struct store *store,
                         const char *target,
                         struct arena *arena,
                         struct result_row **out_items,
                         size_t *out_count) STATUS_USED;

// The ids of the cases that have results of a target, stale ones too, in their order, in `arena`.
tapml_status result_list_cases(struct store *store,
                               const char *target,
                               struct arena *arena,
                               int64_t **out_ids,
                               size_t *out_count) STATUS_USED;

// How many results a target has, stale ones too.
tapml_status result_count(struct store *store, const char *target, size_t *out_count) STATUS_USED;

// Calls `visit` with each target that has results, by name, and how many it has, stale ones too.
// The name lives until it returns; a status that is not TAPML_OK ends the visit.
tapml_status
result_visit_targets(struct store *store,
                     tapml_status (*visit)(void *user, const char *target, uint64_t results),
                     void *user) STATUS_USED;

// Deletes the results of a target that are stale, of the cases of one op, and counts them.
tapml_status result_forget_stale(struct store *store,
                                 const char *target,
                                 const char *op,
                                 uint32_t version,
                                 const struct result_maker *maker,
                                 size_t *out_count) STATUS_USED;

// Deletes all results of a target, with their errors and elements.
tapml_status result_forget(struct store *store, const char *target) STATUS_USED;

// The same of the cases of one op, whatever its version.
tapml_status result_forget_op(struct store *store, const char *target, const char *op) STATUS_USED;

// Deletes those of a target but for the cases `ids`, which are in order. Writes several statements:
// call it inside of a transaction. `*out_count` is how many are gone.
tapml_status result_forget_others(struct store *store,
                                  const char *target,
                                  const int64_t *ids,
                                  size_t count,
                                  size_t *out_count) STATUS_USED;
