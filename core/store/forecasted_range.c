// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/forecasted_range.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row_list.h"

static tapml_status write_one(struct store *store,
                              const char *name,
                              size_t position,
                              const struct forecasted_range *item)
{
    struct row row;
    TAPML_TRY(row_begin(store,
                        "INSERT INTO forecast_range VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        "writing forecasts", &row));
    row_put_text(&row, name);
    row_put_i64(&row, (int64_t)position);
    row_put_text(&row, item->type);
    row_put_text(&row, item->instance);
    row_put_text(&row, item->op);
    row_put_i64(&row, (int64_t)item->elements);
    row_put_f64(&row, item->largest);
    row_put_i64(&row, (int64_t)item->beyond);
    row_put_i64(&row, (int64_t)item->below);
    row_put_i64(&row, (int64_t)item->zeroed);
    row_put_f64(&row, item->relative);
    row_put_f64(&row, item->worst);
    return row_run(&row);
}

tapml_status forecasted_range_write(struct store *store,
                                    const char *name,
                                    const struct forecasted_range *items,
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

tapml_status forecasted_range_list(struct store *store,
                                   const char *name,
                                   struct arena *arena,
                                   struct forecasted_range **out_items,
                                   size_t *out_count)
{
    void *items = NULL;
    TAPML_TRY(row_list_read(
        store,
        &(struct row_list){.sql = "SELECT type, instance, op, elements, largest, beyond, below, "
                                  "zeroed, relative, worst"
                                  " FROM forecast_range WHERE name = ? ORDER BY position",
                           .key = name,
                           .item_bytes = sizeof(**out_items),
                           .take = take},
        arena, &items, out_count));
    *out_items = items;
    return TAPML_OK;
}
