// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The words that a query may have: the functions of its list, and the names of its views and their
// columns.
#pragma once

#include "base/status.h"
#include "store/query_views.h"

// Whether a query may call it: a function of values, groups or windows that reads and changes
// nothing else. [any]
int query_words_is_function(const char *name);

// TAPML_INVALID with a sentence about what SQLite says of a statement. If that is about an unknown
// column, table or function, the sentence has the nearest known one, or the views. [any]
tapml_status query_words_fail(const struct query_view *const *views,
                              size_t view_count,
                              const char *message) STATUS_USED;
