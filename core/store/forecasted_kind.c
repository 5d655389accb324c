// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/forecasted_kind.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row_list.h"

static tapml_status write_one(struct store *store,
                              const char *name,
                              size_t position,
                              const struct forecasted_kind *item)
{
    struct row row;
    TAPML_TRY(row_begin(store, "INSERT INTO forecast_kind VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                        "writing forecasts", &row));
    row_put_text(&row, name);
    row_put_i64(&row, (int64_t)position);
    row_put_text(&row, item->phase);
    row_put_text(&row, item->op);
    row_put_i64(&row, (int64_t)item->calls);
    row_put_f64(&row, item->bytes);
    row_put_f64(&row, item->operations);
    row_put_f64(&row, item->seconds);
    return row_run(&row);
}

tapml_status forecasted_kind_write(struct store *store,
                                   const char *name,
                                   const struct forecasted_kind *items,
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

tapml_status forecasted_kind_list(struct store *store,
                                  const char *name,
                                  struct arena *arena,
                                  struct forecasted_kind **out_items,
                                  size_t *out_count)
{
    void *items = NULL;
    TAPML_TRY(row_list_read(
        store,
        &(struct row_list){.sql = "SELECT phase, op, calls, bytes, operations, seconds"
                                  " FROM forecast_kind WHERE name = ? ORDER BY position",
                           .key = name,
                           .item_bytes = sizeof(**out_items),
                           .take = take},
        arena, &items, out_count));
    *out_items = items;
    return TAPML_OK;
}
