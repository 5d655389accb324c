// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How the weights of a place go through less memory than they have, in the order in which ops use
// them: which of them stay, and which are loaded again in each call, in sections that fill slots.
//
// A section is the weights of some consecutive ops. Slots have one size, and take the sections by
// turns. What memory is left beside the slots is for weights that stay: first those of the largest
// ops, as far as slots become smaller by that, then others, spread evenly over the call, so that
// loading never has more to do at once than elsewhere.
//
// Nothing here is kept; TAPML_NO_MEMORY is a failure of memory, and of a plan that cannot be. Sizes
// and offsets are bytes.
#pragma once

#include "base/status.h"

#include <stdint.h>

enum { RING_SLOTS_MAX = 64 };

// How much memory a ring has.
enum ring_amount { RING_OFF, RING_AUTO, RING_BYTES, RING_SHARE };

struct ring_settings {
    enum ring_amount amount;
    uint64_t bytes;       // RING_BYTES.
    double share;         // RING_SHARE: of all weights of the place.
    int64_t slots;        // Up to RING_SLOTS_MAX; 0: chosen.
    uint64_t bytes_per_s; // Of what is read from files, at most; 0: any.
};

// The weights that ops use, as numbers from 0, and their sizes in slots.
struct ring_plan_options {
    const uint64_t *weight_bytes;
    uint32_t weight_count;
    const uint32_t *uses; // Weights, op after op: none twice in an op.
    const uint32_t *ends; // Of each op, in `uses`.
    uint32_t op_count;
    struct ring_settings settings; // RING_AUTO: all weights stay.
    uint64_t slot_bytes_max;       // 0: any.
};

struct ring_item {
    uint32_t weight;
    uint64_t offset; // In the slot.
};

struct ring_section {
    uint32_t op; // The first.
    uint32_t first_item, item_count;
    uint64_t bytes;
};

struct ring_plan {
    struct ring_section *sections;
    uint32_t section_count; // 0: all weights stay.
    struct ring_item *items;
    uint32_t item_count;
    uint8_t *stays; // For each weight.
    uint32_t slots;
    uint64_t slot_bytes;
    uint64_t memory_bytes;  // That it may take,
    uint64_t staying_bytes; // of which so much stays.
    uint64_t weights_bytes; // All weights, each once.
    uint64_t loaded_bytes;  // In each call.
};

// Reads an amount of memory: 'auto', MiB, or a share such as '12.5%'. The rest of `*io_settings`
// stays. TAPML_INVALID: it is none.
tapml_status ring_plan_read(const char *word, struct ring_settings *io_settings) STATUS_USED;

// Makes a plan. `*out_op` is the op of a failure, UINT32_MAX without one; the message names no op.
// The caller releases the plan.
tapml_status ring_plan_make(const struct ring_plan_options *options,
                            uint32_t *out_op,
                            struct ring_plan *out_plan) STATUS_USED;

// Accepts a zeroed plan.
void ring_plan_release(struct ring_plan *plan);
