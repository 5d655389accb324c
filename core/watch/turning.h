// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Which verdicts are others than at the look before: the rows of `watched` beside the verdicts of
// now. A verdict is worse if it went from pass to anything else, or from what was not compared to a
// failure or an error; a case that nobody has watched is worse if it fails.
//
// A store belongs to one thread. Failures are those of the store and TAPML_NO_MEMORY.
#pragma once

#include "store/looked.h"
#include "store/turned.h"
#include "store/watched.h"
#include "verify/verdict.h"

struct arena;
struct sampling;
struct store;

// How bad a verdict is.
enum turning_rank { TURNING_RIGHT, TURNING_UNKNOWN, TURNING_WRONG };

// Of a verdict as a report names it; TURNING_UNKNOWN of what is none. [any]
enum turning_rank turning_rank(const char *verdict);

struct turning_item {
    const char *target;
    struct watched_row now; // What becomes the row of `watched`.
    struct turned_row turned;
    int has_turned;
    struct looked_row looked; // Its cause is NULL if the look has not seen the case.
};

struct turning {
    struct arena *arena; // Of the items; borrowed.
    struct turning_item *items;
    size_t count, capacity;
    int64_t worse, better;
    int64_t seen; // Items that were judged anew, or have turned.
};

// Notes in `watched` since when cases are stale: those of a target that `fresh`, which has all
// verdicts that are fresh, does not have. In the transaction at hand.
tapml_status turning_mark_stale(struct store *store,
                                const char *target,
                                const struct verdict_list *fresh,
                                int64_t now_s) STATUS_USED;

// Adds what has become of the cases of a target, from the verdicts of `verdict_read`: stale ones
// count for nothing. The list outlives `turning`.
tapml_status turning_add(struct turning *turning,
                         struct store *store,
                         const char *target,
                         const struct verdict_list *list) STATUS_USED;

// Says of the cases of a target that were added which of them were samples, or were judged since
// others of their op had moved. What `sampling` points to outlives `turning`. [any]
void turning_add_samples(struct turning *turning,
                         const char *target,
                         const struct sampling *sampling);

// The same as `turning_add` of the driver of a target: `reason` is a sentence if it is wrong, else
// NULL.
tapml_status turning_add_driver(struct turning *turning,
                                struct store *store,
                                const char *target,
                                const char *reason) STATUS_USED;

// Writes all of it, in the transaction at hand: rows of `watched`, and of `turned` and `looked` for
// the look. One that has no row, with the id 0, has none of `looked`, and nothing has turned.
tapml_status
turning_write(const struct turning *turning, struct store *store, int64_t look) STATUS_USED;

// The first verdict that is worse, else the first that is better; NULL: none has turned.
const struct turned_row *turning_first(const struct turning *turning);

// Frees the list of items.
void turning_release(struct turning *turning);
