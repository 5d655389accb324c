// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `metadata`: what is said of a whole run, by name: "model.hash", "source", "seed".
//
// One thread. A failure to write is one of the store, which names it.
#pragma once

#include "base/status.h"

#include <stdint.h>

struct store;

// Writes a value, in place of an earlier one of that name.
tapml_status metadata_set(struct store *store, const char *name, const char *value) STATUS_USED;

// The same in a transaction of its own.
tapml_status metadata_note(struct store *store, const char *name, const char *value) STATUS_USED;

// The value of that name without control characters, or NULL if there is none or it cannot be read.
// Lives until the next call with this store.
const char *metadata_get(struct store *store, const char *name);

// The number of that name; 0 if there is none, or it is not above 0.
uint64_t metadata_count(struct store *store, const char *name);
