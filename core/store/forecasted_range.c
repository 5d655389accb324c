// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/forecasted_range.h"

#include "base/arena.h"

static void put(struct row *row, const void *data)
{
    const struct forecasted_range *item = data;
    row_put_text(row, item->type);
    row_put_text(row, item->instance);
    row_put_text(row, item->op);
    row_put_i64(row, (int64_t)item->elements);
    row_put_f64(row, item->largest);
    row_put_i64(row, (int64_t)item->beyond);
    row_put_i64(row, (int64_t)item->below);
    row_put_i64(row, (int64_t)item->zeroed);
    row_put_f64(row, item->relative);
    row_put_f64(row, item->worst);
}

static int take(struct arena *arena, struct row *row, void *out_item)
{
    struct forecasted_range *item = out_item;
    *item = (struct forecasted_range){
        .type = arena_text(arena, row_text(row, 0)),
        .instance = arena_text(arena, row_text(row, 1)),
        .op = arena_text(arena, row_text(row, 2)),
        .elements = (uint64_t)row_i64(row, 3),
        .largest = row_f64(row, 4),
        .beyond = (uint64_t)row_i64(row, 5),
        .below = (uint64_t)row_i64(row, 6),
        .zeroed = (uint64_t)row_i64(row, 7),
        .relative = row_f64(row, 8),
        .worst = row_f64(row, 9),
    };
    return item->type && item->instance && item->op;
}

const struct forecasted_part forecasted_range_part = {
    .insert = "INSERT INTO forecast_range VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    .select = "SELECT type, instance, op, elements, largest, beyond, below, zeroed, relative, worst"
              " FROM forecast_range WHERE name = ? ORDER BY position",
    .item_bytes = sizeof(struct forecasted_range),
    .put = put,
    .take = take,
};
