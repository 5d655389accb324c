// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the carving run of a store came to: counts and times over its prompts, calls and cases.
//
// A store and what is read from it belong to one thread. Failures are those of the store, which
// name it, and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"
#include "store/case.h"
#include "store/case_key.h"

#include <stdint.h>

struct arena;
struct store;

struct carved_counts {
    uint64_t prompts; // Carved to their end.
    uint64_t calls;
    uint64_t time_ns;   // Of all calls, on the source.
    uint64_t cases;     // That are kept.
    uint64_t instances; // That have some.
};

tapml_status carved_count(struct store *store, struct carved_counts *out_counts) STATUS_USED;

// Where a case was seen.
struct carved_origin {
    uint64_t prompt; // Its place in the prompts file, from 0.
    uint64_t step;   // 0 is the prefill.
    uint64_t tokens; // Of the step.
};

// `*out_has` is 0 where the case has no prompt.
tapml_status carved_find_origin(struct store *store,
                                int64_t case_id,
                                struct carved_origin *out_origin,
                                int *out_has) STATUS_USED;

// The content key of a case in hexadecimal, two digits a byte, into `out_key` of CARVED_KEY bytes;
// "" if there is no such case.
enum { CARVED_KEY = 2 * CASE_KEY_BYTES + 1 };
tapml_status carved_find_key(struct store *store, int64_t case_id, char *out_key) STATUS_USED;

// A name with a number; `name` lives until the visitor returns. A status that is not TAPML_OK ends
// the visit.
typedef tapml_status (*carved_visit_fn)(void *user, const char *name, uint64_t number);

// Each op with the time in ns that the source took for the calls of it that were kept.
tapml_status carved_visit_times(struct store *store, carved_visit_fn visit, void *user) STATUS_USED;

// Each dtype of the weights that cases refer to, with how many bytes have it; by name.
tapml_status
carved_visit_weights(struct store *store, carved_visit_fn visit, void *user) STATUS_USED;

// The ids of all cases of an op, in `arena`.
tapml_status carved_list_op(struct store *store,
                            const char *op,
                            struct arena *arena,
                            int64_t **out_ids,
                            size_t *out_count) STATUS_USED;

// The ids of all cases that read a weight of that name, in `arena`.
tapml_status carved_list_weight(struct store *store,
                                const char *weight,
                                struct arena *arena,
                                int64_t **out_ids,
                                size_t *out_count) STATUS_USED;

// An instance that has cases.
struct carved_instance {
    const char *instance, *op;
    uint32_t version; // Of the op.
};

// All of them in the order in which the source called them first, in `arena`.
tapml_status carved_list_instances(struct store *store,
                                   struct arena *arena,
                                   struct carved_instance **out_items,
                                   size_t *out_count) STATUS_USED;

// Deletes all prompts, calls and cases, with their results and limits. Several statements: call
// it inside of a transaction.
tapml_status carved_forget(struct store *store) STATUS_USED;
