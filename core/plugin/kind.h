// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The kinds of components that this host has: one table. To add a kind: a row in kind.c, and what
// uses its components.
//
// Constant: any thread.
#pragma once

#include "base/status.h"

struct kind_entry {
    const char *id;   // "tapml.backend/1"
    const char *what; // "a backend", for messages.

    // Whether the table of a component's root is whole. TAPML_ABI_MISMATCH names what is missing.
    tapml_status (*check)(const void *table);

    const char *used_as; // Of an earlier draft: the kind that its components serve as; or NULL.
};

// The kind with this id, or NULL.
const struct kind_entry *kind_find(const char *id);

// Whether a component of the kind `id` is used where one of `wanted` is.
int kind_serves(const char *id, const char *wanted);
