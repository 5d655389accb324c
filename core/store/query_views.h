// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The views of a query that are read from the tables of a store as they stand. A view of verdicts
// is not among them, since these are computed (verify/judgement.h). docs/query.md describes all.
#pragma once

#include "store/query.h"

// By index, NULL past the last. A new view is a row of the table behind this function.
const struct query_view *query_views_at(size_t index);
