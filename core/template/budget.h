// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What rendering one template may cost: steps, bytes and depth.
//
// A template comes from a model's folder and may be hostile. Everything that works on it draws from
// one budget, whose memory is an arena, so that a loop without end, a text that doubles at each
// step or a macro that calls itself ends in one sentence. A budget belongs to one thread at a time.
#pragma once

#include "base/arena.h"
#include "base/status.h"

#include <stddef.h>

enum {
    BUDGET_STEPS = 10000000,
    BUDGET_BYTES = 64 << 20,
    BUDGET_DEPTH = 800, // Of evaluations within each other.
};

struct budget {
    struct arena *arena; // Borrowed.
    size_t steps_left;
    size_t bytes_left;
    size_t depth_left;
};

// Makes a full budget over `arena`.
void budget_init(struct budget *budget, struct arena *arena);

// Takes `steps`. TAPML_INVALID if fewer are left.
tapml_status budget_spend(struct budget *budget, size_t steps) STATUS_USED;

// Takes the steps of copying or comparing `length` bytes.
tapml_status budget_spend_on_bytes(struct budget *budget, size_t length) STATUS_USED;

// Takes the steps of looking at each character of `length` bytes.
tapml_status budget_spend_on_characters(struct budget *budget, size_t length) STATUS_USED;

// Allocates `count` zeroed items of `item_size` bytes from the arena; both may be 0.
tapml_status
budget_array(struct budget *budget, size_t count, size_t item_size, void **out_items) STATUS_USED;

// Makes room for one more item behind `count` items: a power of two at a time, copied.
tapml_status
budget_grow(struct budget *budget, void **items, size_t count, size_t item_size) STATUS_USED;

// Goes one level deeper. Every success is followed by budget_leave.
tapml_status budget_enter(struct budget *budget) STATUS_USED;
void budget_leave(struct budget *budget);
