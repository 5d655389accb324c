// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a view of a query (store/query.h) is, and the views that are read from the tables of a store
// as they stand. The view of verdicts is not among them, since these are computed
// (verify/judgement.h). docs/query.md describes all.
#pragma once

#include <stddef.h>

struct text;

enum { QUERY_COLUMNS_MAX = 64, QUERY_VIEWS_MAX = 16 };

struct query_column {
    const char *name;
    const char *value; // SQL over the tables of a store, in which ?1 is the run; NULL: the caller
                       // adds the rows of the view.
    const char *about; // A few words.
};

struct query_view {
    const char *name;
    const char *from; // The tables that the values are read from, behind FROM; or NULL likewise.
    const char *about;
    const struct query_column *columns;
    size_t count; // At most QUERY_COLUMNS_MAX.
};

// By index, NULL past the last. A new view is a row of the table behind this function.
const struct query_view *query_views_at(size_t index);

// Appends the query for the numbers of the cases that meet a condition over the columns of `cases`
// and `verdicts`, each once. The condition stands on lines of its own, so that a comment in it ends
// there; it may be anybody's, as a query.
void query_views_choose(const char *condition, struct text *out_sql);
