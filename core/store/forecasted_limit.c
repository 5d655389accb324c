// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/forecasted_limit.h"

#include "base/arena.h"

static void put(struct row *row, const void *data)
{
    const struct forecasted_limit *item = data;
    row_put_text(row, item->kind);
    row_put_text(row, item->instance);
    row_put_text(row, item->op);
    row_put_i64(row, (int64_t)item->needed);
    row_put_i64(row, (int64_t)item->allowed);
    row_put_text(row, item->sentence);
}

static int take(struct arena *arena, struct row *row, void *out_item)
{
    struct forecasted_limit *item = out_item;
    *item = (struct forecasted_limit){
        .kind = arena_text(arena, row_text(row, 0)),
        .instance = arena_text(arena, row_text(row, 1)),
        .op = arena_text(arena, row_text(row, 2)),
        .needed = (uint64_t)row_i64(row, 3),
        .allowed = (uint64_t)row_i64(row, 4),
        .sentence = arena_text(arena, row_text(row, 5)),
    };
    return item->kind && item->instance && item->op && item->sentence;
}

const struct forecasted_part forecasted_limit_part = {
    .insert = "INSERT INTO forecast_limit VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    .select = "SELECT kind, instance, op, needed, allowed, sentence"
              " FROM forecast_limit WHERE name = ? ORDER BY position",
    .item_bytes = sizeof(struct forecasted_limit),
    .put = put,
    .take = take,
};
