// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/forecasted_time.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row_list.h"

static tapml_status write_one(struct store *store,
                              const char *name,
                              size_t position,
                              const struct forecasted_time *item)
{
    struct row row;
    TAPML_TRY(row_begin(store,
                        "INSERT INTO forecast_time VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        "writing forecasts", &row));
    row_put_text(&row, name);
    row_put_i64(&row, (int64_t)position);
    row_put_text(&row, item->phase);
    row_put_i64(&row, (int64_t)item->tokens);
    row_put_i64(&row, (int64_t)item->first_token);
    row_put_i64(&row, (int64_t)item->launches);
    row_put_f64(&row, item->bytes);
    row_put_f64(&row, item->operations);
    row_put_f64(&row, item->seconds);
    row_put_i64(&row, item->has_bandwidth);
    row_put_i64(&row, item->has_rate);
    row_put_i64(&row, item->has_launch);
    return row_run(&row);
}

tapml_status forecasted_time_write(struct store *store,
                                   const char *name,
                                   const struct forecasted_time *items,
                                   size_t count)
{
    ASSERT(name && (items || count == 0));
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(write_one(store, name, i, &items[i]));
    }
    return TAPML_OK;
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

tapml_status forecasted_time_list(struct store *store,
                                  const char *name,
                                  struct arena *arena,
                                  struct forecasted_time **out_items,
                                  size_t *out_count)
{
    void *items = NULL;
    TAPML_TRY(row_list_read(
        store,
        &(struct row_list){.sql = "SELECT phase, tokens, first_token, launches, bytes, operations, "
                                  "seconds, has_bandwidth,"
                                  " has_rate, has_launch"
                                  " FROM forecast_time WHERE name = ? ORDER BY position",
                           .key = name,
                           .item_bytes = sizeof(**out_items),
                           .take = take},
        arena, &items, out_count));
    *out_items = items;
    return TAPML_OK;
}
