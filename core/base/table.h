// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A map from texts to numbers: names to positions in an array of the owner's.
#pragma once

#include "base/status.h"

#include <stddef.h>

struct table {
    struct table_entry *entries;
    size_t count;
    size_t capacity; // A power of two, or 0.
};

void table_init(struct table *table);
void table_release(struct table *table);

// Sets `key` (copied) to `value`, in place of what was there.
tapml_status table_set(struct table *table, const char *key, size_t value) STATUS_USED;

// Whether `key` is there; then its value is written.
int table_find(const struct table *table, const char *key, size_t *out_value);
