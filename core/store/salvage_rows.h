// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Copies the rows of a damaged store that can still be read into a new one.
//
// Rows are copied one by one, around the pages that cannot be read. Foreign keys are not checked:
// what refers to a lost row comes over too, until store/salvage_sift.h leaves it out.
//
// One thread for both stores.
#pragma once

#include "base/status.h"

struct store;

// Copies all tables from `from` to `to`, which is empty, in transactions of its own, and turns the
// foreign keys of `to` off. Makes `gap`, a temporary table of `to`: the keys `low` to `high` of the
// table `name` (quoted as in SQL) cannot be read, or rows beside them may be missing; of a table
// whose key is no number they are 0. What cannot be read of `from` is no failure; TAPML_NO_MEMORY,
// and those of writing `to`.
tapml_status salvage_rows_copy(struct store *from, struct store *to) STATUS_USED;
