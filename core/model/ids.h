// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A growing row of token ids.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct ids {
    int32_t *items;
    size_t count;
    size_t capacity;
};

// All zero is empty.
void ids_init(struct ids *ids);
void ids_release(struct ids *ids);

tapml_status ids_add(struct ids *ids, int32_t id) STATUS_USED;
tapml_status ids_add_all(struct ids *ids, const struct ids *more) STATUS_USED;
