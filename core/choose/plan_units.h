// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Operators that a search of plans moves together: those of a kind, of a layer, of a part of all
// layers ("attn"), of a part of one layer, of neighbouring layers; and each alone.
//
// Pure; any thread. Results are in `arena`. TAPML_NO_MEMORY is the one failure.
#pragma once

#include "base/status.h"

#include <tapml/draft/policy.h>

#include <stddef.h>

struct arena;

struct plan_unit {
    const char *name;    // For people: "attention", "layers.3", "attn", "layers.0 to layers.3".
    const uint32_t *ops; // In the order in which they run.
    uint32_t count;
    int is_kind; // They are all operators of one kind.
};

struct plan_units {
    struct plan_unit *items;
    size_t count;
};

// Finds the units of a model, without those that equal an earlier one: kinds come first, then the
// larger ones before the smaller.
tapml_status plan_units_find(const tapml_policy_ops *question,
                             struct arena *arena,
                             struct plan_units *out_units) STATUS_USED;

// Puts the operators of a unit to `place`, those that may run there. Returns how many have moved.
uint32_t plan_units_move(const tapml_policy_ops *question,
                         const struct plan_unit *unit,
                         uint8_t place,
                         uint8_t *io_places);
