// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `run`: which run of the host has written a row.
//
// One thread. Failures are those of the store, which name it.
#pragma once

#include "base/status.h"

struct store;

// The id of the run that this connection writes for: 32 hexadecimal digits. Its row is written when
// it is first asked for, so in the transaction of the first row that names it. `*out_id` lives
// until the store is closed or rolled back.
tapml_status run_id(struct store *store, const char **out_id) STATUS_USED;

// Whether there is one: this connection has written, or is about to write, a row that names it.
int run_id_is_made(struct store *store);

// Makes the run that this connection writes for the same at each time and on each machine, so that
// a file with the same rows has the same bytes: its id is all zeros, and it has neither machine nor
// time. Call it before anything else writes, inside of a transaction.
tapml_status run_id_make_same(struct store *store) STATUS_USED;
