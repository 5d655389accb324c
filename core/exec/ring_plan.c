// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/ring_plan.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS_LEAST = 2, // One is filled while another one is read.
    SLOTS_MOST = 4,  // Of those that are chosen here; more do not even out more.
};

enum { WORD_MAX = 24, MEBIBYTES_MAX = 1 << 30 };

tapml_status ring_plan_read(const char *word, struct ring_settings *io_settings)
{
    const size_t length = strlen(word);
    const int is_share = length > 0 && word[length - 1] == '%';
    char number[WORD_MAX];
    double amount = 0;
    if (strcmp(word, "auto") == 0) {
        io_settings->amount = RING_AUTO;
        return TAPML_OK;
    }
    (void)snprintf(number, sizeof(number), "%.*s", (int)(length - (size_t)is_share), word);
    if (length < sizeof(number) && text_parse_f64(number, &amount) == TAPML_OK && amount > 0) {
        if (is_share && amount <= 100) {
            io_settings->amount = RING_SHARE;
            io_settings->share = amount / 100;
            return TAPML_OK;
        }
        if (!is_share && amount == floor(amount) && amount <= MEBIBYTES_MAX) {
            io_settings->amount = RING_BYTES;
            io_settings->bytes = (uint64_t)amount << 20;
            return TAPML_OK;
        }
    }
    return status_fail(TAPML_INVALID,
                       "expected 'auto', MiB from 1 to %d or a share such as '12.5%%', found '%s'",
                       MEBIBYTES_MAX, word);
}

struct planner {
    const struct ring_plan_options *given;
    struct ring_plan plan;
    uint32_t *order; // Ops, the largest first.
    uint64_t *op_bytes;
    uint8_t *is_taken; // For each weight, while something is counted.
};

static uint32_t begin_of(const struct planner *planner, uint32_t op)
{
    return op == 0 ? 0 : planner->given->ends[op - 1];
}

// What the weights of an op take in a slot, without those that stay.
static uint64_t bytes_of(const struct planner *planner, uint32_t op)
{
    uint64_t bytes = 0;
    for (uint32_t i = begin_of(planner, op); i < planner->given->ends[op]; i++) {
        const uint32_t weight = planner->given->uses[i];
        bytes += planner->plan.stays[weight] ? 0 : planner->given->weight_bytes[weight];
    }
    return bytes;
}

static uint64_t largest(const struct planner *planner, uint32_t *out_op)
{
    uint64_t most = 0;
    for (uint32_t op = 0; op < planner->given->op_count; op++) {
        const uint64_t bytes = bytes_of(planner, op);
        if (bytes > most) {
            most = bytes;
            *out_op = op;
        }
    }
    return most;
}

static void keep_op(struct planner *planner, uint32_t op)
{
    for (uint32_t i = begin_of(planner, op); i < planner->given->ends[op]; i++) {
        planner->plan.stays[planner->given->uses[i]] = 1;
    }
}

static uint64_t staying(const struct planner *planner)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < planner->given->weight_count; i++) {
        bytes += planner->plan.stays[i] ? planner->given->weight_bytes[i] : 0;
    }
    return bytes;
}

static void keep_largest(struct planner *planner, uint32_t count)
{
    memset(planner->plan.stays, 0, planner->given->weight_count);
    for (uint32_t i = 0; i < count; i++) {
        keep_op(planner, planner->order[i]);
    }
}

// What is in the way of `slots` slots beside weights of the `kept` largest ops that stay; 0: none.
static uint64_t lacking(struct planner *planner, uint32_t slots, uint32_t kept)
{
    uint32_t op = 0;
    keep_largest(planner, kept);
    const uint64_t slot = largest(planner, &op);
    const uint64_t needed = staying(planner) + slots * slot;
    const uint64_t max = planner->given->slot_bytes_max;
    if (max > 0 && slot > max) {
        return slot;
    }
    return needed > planner->plan.memory_bytes ? needed - planner->plan.memory_bytes : 0;
}

// The number of largest ops whose weights stay, so that slots are as small as they can be.
// UINT32_MAX: so many slots have no room.
static uint32_t find_kept(struct planner *planner, uint32_t slots)
{
    const uint32_t op_count = planner->given->op_count;
    uint32_t found = UINT32_MAX;
    for (uint32_t kept = 0; kept <= op_count; kept++) {
        if (lacking(planner, slots, kept) == 0) {
            found = kept;
        }
        if (staying(planner) > planner->plan.memory_bytes) {
            break;
        }
    }
    return found;
}

// Weights that stay in what memory is left, evenly over the call.
static void keep_others(struct planner *planner)
{
    const struct ring_plan *plan = &planner->plan;
    const uint64_t used = staying(planner) + plan->slots * plan->slot_bytes;
    uint64_t left = plan->memory_bytes > used ? plan->memory_bytes - used : 0;
    uint64_t going = 0;
    for (uint32_t op = 0; op < planner->given->op_count; op++) {
        going += bytes_of(planner, op);
    }
    const double share = going > 0 ? (double)left / (double)going : 0;
    double due = 0;
    for (uint32_t op = 0; op < planner->given->op_count; op++) {
        const uint64_t bytes = bytes_of(planner, op);
        due += share * (double)bytes;
        if (bytes > 0 && bytes <= left && due >= (double)bytes / 2) {
            keep_op(planner, op);
            left -= bytes;
            due -= (double)bytes;
        }
    }
}

// -- Sections ----------------------------------------------------------------------------------

static uint64_t new_bytes(const struct planner *planner, uint32_t op)
{
    uint64_t bytes = 0;
    for (uint32_t i = begin_of(planner, op); i < planner->given->ends[op]; i++) {
        const uint32_t weight = planner->given->uses[i];
        const int is_new = !planner->plan.stays[weight] && !planner->is_taken[weight];
        bytes += is_new ? planner->given->weight_bytes[weight] : 0;
    }
    return bytes;
}

static void add_items(struct planner *planner, struct ring_section *section, uint32_t op)
{
    struct ring_plan *plan = &planner->plan;
    for (uint32_t i = begin_of(planner, op); i < planner->given->ends[op]; i++) {
        const uint32_t weight = planner->given->uses[i];
        if (plan->stays[weight] || planner->is_taken[weight] ||
            planner->given->weight_bytes[weight] == 0) {
            continue;
        }
        planner->is_taken[weight] = 1;
        plan->items[plan->item_count++] = (struct ring_item){weight, section->bytes};
        section->item_count++;
        section->bytes += planner->given->weight_bytes[weight];
    }
}

static void make_sections(struct planner *planner)
{
    struct ring_plan *plan = &planner->plan;
    struct ring_section *section = NULL;
    for (uint32_t op = 0; op < planner->given->op_count; op++) {
        const uint64_t bytes = new_bytes(planner, op);
        if (bytes == 0) {
            continue;
        }
        if (!section || section->bytes + bytes > plan->slot_bytes) {
            memset(planner->is_taken, 0, planner->given->weight_count);
            section = &plan->sections[plan->section_count++];
            *section = (struct ring_section){.op = op, .first_item = plan->item_count};
        }
        add_items(planner, section, op);
        ASSERT(section->bytes <= plan->slot_bytes);
    }
    for (uint32_t i = 0; i < plan->section_count; i++) {
        plan->loaded_bytes += plan->sections[i].bytes;
    }
}

// -- All of it ---------------------------------------------------------------------------------

static uint64_t memory_of(const struct ring_settings *settings, uint64_t weights_bytes)
{
    switch (settings->amount) {
    case RING_BYTES:
        return settings->bytes;
    case RING_SHARE:
        return (uint64_t)(settings->share * (double)weights_bytes);
    case RING_OFF:
    case RING_AUTO:
        break;
    }
    return weights_bytes;
}

static tapml_status refuse(struct planner *planner, uint32_t slots, uint32_t *out_op)
{
    const uint64_t max = planner->given->slot_bytes_max;
    keep_largest(planner, 0);
    const uint64_t slot = largest(planner, out_op);
    if (max > 0 && slot > max && planner->plan.memory_bytes >= slots * slot) {
        return status_fail(TAPML_NO_MEMORY,
                           "its weights take %llu bytes, and a slot of the ring %llu at most",
                           (unsigned long long)slot, (unsigned long long)max);
    }
    return status_fail(
        TAPML_NO_MEMORY,
        "its weights take a slot of %llu bytes, of which the ring has %u: its memory is %llu, "
        "expected at least %llu",
        (unsigned long long)slot, slots, (unsigned long long)planner->plan.memory_bytes,
        (unsigned long long)(slots * slot));
}

// As many slots as leave half of the memory to weights that stay, if that many are given a choice.
static tapml_status choose_slots(struct planner *planner, uint32_t *out_op)
{
    struct ring_plan *plan = &planner->plan;
    const uint32_t wanted = (uint32_t)planner->given->settings.slots;
    uint32_t slots = wanted > 0 ? wanted : SLOTS_MOST;
    uint32_t kept = find_kept(planner, slots), op = 0;
    for (; wanted == 0 && slots > SLOTS_LEAST; slots--) {
        if (kept != UINT32_MAX) {
            keep_largest(planner, kept);
            if (slots * largest(planner, &op) <= plan->memory_bytes / 2) {
                break;
            }
        }
        kept = find_kept(planner, slots - 1);
    }
    if (kept == UINT32_MAX) {
        return refuse(planner, slots, out_op);
    }
    keep_largest(planner, kept);
    plan->slots = slots;
    plan->slot_bytes = largest(planner, &op);
    keep_others(planner);
    return TAPML_OK;
}

static int compare(const void *left, const void *right)
{
    const uint64_t *a = *(const uint64_t *const *)left, *b = *(const uint64_t *const *)right;
    return *a != *b ? (*a < *b) - (*a > *b) : (a > b) - (a < b);
}

static tapml_status sort_ops(struct planner *planner)
{
    const uint32_t count = planner->given->op_count;
    const uint64_t **sorted = alloc_array((size_t)count + 1, sizeof(*sorted));
    if (!sorted) {
        return status_no_memory();
    }
    for (uint32_t op = 0; op < count; op++) {
        planner->op_bytes[op] = bytes_of(planner, op);
        sorted[op] = &planner->op_bytes[op];
    }
    qsort(sorted, count, sizeof(*sorted), compare);
    for (uint32_t i = 0; i < count; i++) {
        planner->order[i] = (uint32_t)(sorted[i] - planner->op_bytes);
    }
    alloc_free(sorted);
    return TAPML_OK;
}

static tapml_status make(struct planner *planner, uint32_t *out_op)
{
    struct ring_plan *plan = &planner->plan;
    for (uint32_t i = 0; i < planner->given->weight_count; i++) {
        plan->weights_bytes += planner->given->weight_bytes[i];
    }
    plan->memory_bytes = memory_of(&planner->given->settings, plan->weights_bytes);
    if (plan->memory_bytes >= plan->weights_bytes) {
        memset(plan->stays, 1, planner->given->weight_count);
    } else {
        TAPML_TRY(sort_ops(planner));
        TAPML_TRY(choose_slots(planner, out_op));
        make_sections(planner);
    }
    plan->staying_bytes = staying(planner);
    return TAPML_OK;
}

tapml_status ring_plan_make(const struct ring_plan_options *options,
                            uint32_t *out_op,
                            struct ring_plan *out_plan)
{
    const size_t op_count = options->op_count, weight_count = options->weight_count;
    const size_t use_count = op_count > 0 ? options->ends[op_count - 1] : 0;
    struct planner planner = {
        .given = options,
        .plan = {.sections = alloc_array(op_count + 1, sizeof(*planner.plan.sections)),
                 .items = alloc_array(use_count + 1, sizeof(*planner.plan.items)),
                 .stays = alloc_array(weight_count + 1, 1)},
        .order = alloc_array(op_count + 1, sizeof(*planner.order)),
        .op_bytes = alloc_array(op_count + 1, sizeof(*planner.op_bytes)),
        .is_taken = alloc_array(weight_count + 1, 1),
    };
    tapml_status status = status_no_memory();
    *out_op = UINT32_MAX;
    if (planner.plan.sections && planner.plan.items && planner.plan.stays && planner.order &&
        planner.op_bytes && planner.is_taken) {
        status = make(&planner, out_op);
    }
    alloc_free(planner.order);
    alloc_free(planner.op_bytes);
    alloc_free(planner.is_taken);
    if (status != TAPML_OK) {
        ring_plan_release(&planner.plan);
        return status;
    }
    *out_plan = planner.plan;
    return TAPML_OK;
}

void ring_plan_release(struct ring_plan *plan)
{
    alloc_free(plan->sections);
    alloc_free(plan->items);
    alloc_free(plan->stays);
    *plan = (struct ring_plan){0};
}
