// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// From the tables of an earlier version of the store to those of this one.
//
// Each table that has changed is filled anew, as a temporary table of the connection, which hides
// the old one of its name. A store that is opened to be read is left at that: temporary tables live
// in memory and end with the connection, the file is not written to, and tensors, which make up
// nearly all of it, are read where they lie. A store that is opened to be written gets the new
// tables in place of the old ones, in one transaction: killed at any moment it is of the one
// version or of the other.
#pragma once

#include "base/status.h"

#include <stdint.h>

struct store;

// The oldest version that can be read.
enum { MIGRATE_VERSION_MIN = 2 };

// Brings an open store of `version`, which is below STORE_VERSION, to STORE_VERSION: in the file if
// `is_kept`, else for this connection alone. TAPML_INVALID if its tables are not those of
// `version`; the file is then as it was.
tapml_status migrate_run(struct store *store, int64_t version, int is_kept) STATUS_USED;
