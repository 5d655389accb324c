// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/forecasted_kind.h"

#include "base/arena.h"

static void put(struct row *row, const void *data)
{
    const struct forecasted_kind *item = data;
    row_put_text(row, item->phase);
    row_put_text(row, item->op);
    row_put_i64(row, (int64_t)item->calls);
    row_put_f64(row, item->bytes);
    row_put_f64(row, item->operations);
    row_put_f64(row, item->seconds);
}

static int take(struct arena *arena, struct row *row, void *out_item)
{
    struct forecasted_kind *item = out_item;
    *item = (struct forecasted_kind){
        .phase = arena_text(arena, row_text(row, 0)),
        .op = arena_text(arena, row_text(row, 1)),
        .calls = (uint64_t)row_i64(row, 2),
        .bytes = row_f64(row, 3),
        .operations = row_f64(row, 4),
        .seconds = row_f64(row, 5),
    };
    return item->phase && item->op;
}

const struct forecasted_part forecasted_kind_part = {
    .insert = "INSERT INTO forecast_kind VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    .select = "SELECT phase, op, calls, bytes, operations, seconds"
              " FROM forecast_kind WHERE name = ? ORDER BY position",
    .item_bytes = sizeof(struct forecasted_kind),
    .put = put,
    .take = take,
};
