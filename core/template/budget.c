// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "template/budget.h"

#include <string.h>

void budget_init(struct budget *budget, struct arena *arena)
{
    *budget = (struct budget){
        .arena = arena,
        .steps_left = BUDGET_STEPS,
        .bytes_left = BUDGET_BYTES,
        .depth_left = BUDGET_DEPTH,
    };
}

tapml_status budget_spend(struct budget *budget, size_t steps)
{
    if (steps > budget->steps_left) {
        budget->steps_left = 0;
        return status_fail(TAPML_INVALID, "the template takes more than %d steps", BUDGET_STEPS);
    }
    budget->steps_left -= steps;
    return TAPML_OK;
}

tapml_status budget_spend_on_bytes(struct budget *budget, size_t length)
{
    return budget_spend(budget, 1 + length / 32);
}

tapml_status budget_spend_on_characters(struct budget *budget, size_t length)
{
    return budget_spend(budget, 1 + length / 4);
}

tapml_status budget_array(struct budget *budget, size_t count, size_t item_size, void **out_items)
{
    size_t size = 0;
    if (__builtin_mul_overflow(count > 0 ? count : 1, item_size > 0 ? item_size : 1, &size) ||
        size > budget->bytes_left) {
        budget->bytes_left = 0;
        return status_fail(TAPML_INVALID, "the template takes more than %d MiB of memory",
                           BUDGET_BYTES >> 20);
    }
    void *items = arena_new(budget->arena, size);
    if (!items) {
        return status_no_memory();
    }
    budget->bytes_left -= size;
    *out_items = items;
    return TAPML_OK;
}

tapml_status budget_grow(struct budget *budget, void **items, size_t count, size_t item_size)
{
    if (count > 0 && (count & (count - 1)) != 0) {
        return TAPML_OK; // Between two powers of two there is room.
    }
    void *grown = NULL;
    TAPML_TRY(budget_array(budget, count > 0 ? 2 * count : 1, item_size, &grown));
    if (count > 0) {
        memcpy(grown, *items, count * item_size);
    }
    *items = grown;
    return TAPML_OK;
}

tapml_status budget_enter(struct budget *budget)
{
    if (budget->depth_left == 0) {
        return status_fail(TAPML_INVALID, "the template calls itself more than %d levels deep",
                           BUDGET_DEPTH);
    }
    --budget->depth_left;
    return TAPML_OK;
}

void budget_leave(struct budget *budget)
{
    ++budget->depth_left;
}
