// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A growing array of token ids. It belongs to one thread at a time.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct ids {
    int32_t *items;
    size_t count;
    size_t capacity;
};

// Makes an empty array, without an allocation. A zeroed struct is empty too.
void ids_init(struct ids *ids);

// Frees the memory.
void ids_release(struct ids *ids);

// Appends one id. TAPML_NO_MEMORY leaves the array unchanged.
tapml_status ids_add(struct ids *ids, int32_t id) STATUS_USED;

// Appends all ids of `more`. After TAPML_NO_MEMORY some may have been appended.
tapml_status ids_add_all(struct ids *ids, const struct ids *more) STATUS_USED;
