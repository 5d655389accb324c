// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A hash map from texts to numbers, mostly from names to positions in an array of the caller. A
// table belongs to one thread at a time.
#pragma once

#include "base/status.h"

#include <stddef.h>

struct table {
    struct table_entry *entries;
    size_t count;
    size_t capacity; // A power of two, or 0.
};

// Makes an empty table, without an allocation.
void table_init(struct table *table);

// Frees the entries. A zeroed table is allowed.
void table_release(struct table *table);

// Maps `key`, which is copied, to `value` and replaces an earlier value. TAPML_NO_MEMORY leaves the
// table unchanged.
tapml_status table_set(struct table *table, const char *key, size_t value) STATUS_USED;

// Whether the table has `key`; only then `*out_value` is written.
int table_find(const struct table *table, const char *key, size_t *out_value);
