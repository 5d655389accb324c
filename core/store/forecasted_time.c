// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/forecasted_time.h"

#include "base/arena.h"

static void put(struct row *row, const void *data)
{
    const struct forecasted_time *item = data;
    row_put_text(row, item->phase);
    row_put_i64(row, (int64_t)item->tokens);
    row_put_i64(row, (int64_t)item->first_token);
    row_put_i64(row, (int64_t)item->launches);
    row_put_f64(row, item->bytes);
    row_put_f64(row, item->operations);
    row_put_f64(row, item->seconds);
    row_put_i64(row, item->has_bandwidth);
    row_put_i64(row, item->has_rate);
    row_put_i64(row, item->has_launch);
}

static int take(struct arena *arena, struct row *row, void *out_item)
{
    struct forecasted_time *item = out_item;
    *item = (struct forecasted_time){
        .phase = arena_text(arena, row_text(row, 0)),
        .tokens = (uint64_t)row_i64(row, 1),
        .first_token = (uint64_t)row_i64(row, 2),
        .launches = (uint64_t)row_i64(row, 3),
        .bytes = row_f64(row, 4),
        .operations = row_f64(row, 5),
        .seconds = row_f64(row, 6),
        .has_bandwidth = (int)row_i64(row, 7),
        .has_rate = (int)row_i64(row, 8),
        .has_launch = (int)row_i64(row, 9),
    };
    return item->phase != NULL;
}

const struct forecasted_part forecasted_time_part = {
    .insert = "INSERT INTO forecast_time VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    .select = "SELECT phase, tokens, first_token, launches, bytes, operations, seconds, "
              "has_bandwidth, has_rate, has_launch"
              " FROM forecast_time WHERE name = ? ORDER BY position",
    .item_bytes = sizeof(struct forecasted_time),
    .put = put,
    .take = take,
};
