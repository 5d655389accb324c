// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/forecasted_limit.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row_list.h"

static tapml_status write_one(struct store *store,
                              const char *name,
                              size_t position,
                              const struct forecasted_limit *item)
{
    struct row row;
    TAPML_TRY(row_begin(store, "INSERT INTO forecast_limit VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                        "writing forecasts", &row));
    row_put_text(&row, name);
    row_put_i64(&row, (int64_t)position);
    row_put_text(&row, item->kind);
    row_put_text(&row, item->instance);
    row_put_text(&row, item->op);
    row_put_i64(&row, (int64_t)item->needed);
    row_put_i64(&row, (int64_t)item->allowed);
    row_put_text(&row, item->sentence);
    return row_run(&row);
}

tapml_status forecasted_limit_write(struct store *store,
                                    const char *name,
                                    const struct forecasted_limit *items,
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

tapml_status forecasted_limit_list(struct store *store,
                                   const char *name,
                                   struct arena *arena,
                                   struct forecasted_limit **out_items,
                                   size_t *out_count)
{
    void *items = NULL;
    TAPML_TRY(row_list_read(
        store,
        &(struct row_list){.sql = "SELECT kind, instance, op, needed, allowed, sentence"
                                  " FROM forecast_limit WHERE name = ? ORDER BY position",
                           .key = name,
                           .item_bytes = sizeof(**out_items),
                           .take = take},
        arena, &items, out_count));
    *out_items = items;
    return TAPML_OK;
}
