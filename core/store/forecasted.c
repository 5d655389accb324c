// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/forecasted.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/forecasted_kind.h"
#include "store/forecasted_limit.h"
#include "store/forecasted_range.h"
#include "store/forecasted_time.h"
#include "store/row_list.h"

static tapml_status
write_row(struct store *store, size_t position, const struct forecasted_row *item)
{
    struct row row;
    TAPML_TRY(row_begin(store, "INSERT INTO forecast VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                        "writing forecasts", &row));
    row_put_text(&row, item->name);
    row_put_i64(&row, (int64_t)position);
    row_put_text(&row, item->activations);
    row_put_text(&row, item->figures);
    row_put_i64(&row, (int64_t)item->tokens);
    row_put_i64(&row, (int64_t)item->weights_bytes);
    row_put_i64(&row, (int64_t)item->states_bytes);
    row_put_i64(&row, (int64_t)item->activations_bytes);
    return row_run(&row);
}

static tapml_status write_parts(struct store *store, const struct forecasted_row *item)
{
    TAPML_TRY(forecasted_range_write(store, item->name, item->ranges, item->range_count));
    TAPML_TRY(forecasted_limit_write(store, item->name, item->limits, item->limit_count));
    TAPML_TRY(forecasted_time_write(store, item->name, item->times, item->time_count));
    return forecasted_kind_write(store, item->name, item->kinds, item->kind_count);
}

tapml_status
forecasted_replace(struct store *store, const struct forecasted_row *items, size_t count)
{
    ASSERT(items || count == 0);
    TAPML_TRY(row_forget(store, "DELETE FROM forecast", NULL)); // With the rows of its parts.
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(write_row(store, i, &items[i]));
        TAPML_TRY(write_parts(store, &items[i]));
    }
    return TAPML_OK;
}

static int take(struct arena *arena, struct row *row, void *out_item)
{
    struct forecasted_row *item = out_item;
    *item = (struct forecasted_row){.name = arena_text(arena, row_text(row, 0)),
                                    .activations = arena_text(arena, row_text(row, 1)),
                                    .figures = arena_text(arena, row_text(row, 2)),
                                    .tokens = (uint64_t)row_i64(row, 3),
                                    .weights_bytes = (uint64_t)row_i64(row, 4),
                                    .states_bytes = (uint64_t)row_i64(row, 5),
                                    .activations_bytes = (uint64_t)row_i64(row, 6)};
    return item->name && item->activations && item->figures;
}

static tapml_status
list_parts(struct store *store, struct arena *arena, struct forecasted_row *item)
{
    TAPML_TRY(forecasted_range_list(store, item->name, arena, &item->ranges, &item->range_count));
    TAPML_TRY(forecasted_limit_list(store, item->name, arena, &item->limits, &item->limit_count));
    TAPML_TRY(forecasted_time_list(store, item->name, arena, &item->times, &item->time_count));
    return forecasted_kind_list(store, item->name, arena, &item->kinds, &item->kind_count);
}

tapml_status forecasted_list(struct store *store,
                             struct arena *arena,
                             struct forecasted_row **out_items,
                             size_t *out_count)
{
    void *items = NULL;
    TAPML_TRY(row_list_read(
        store,
        &(struct row_list){
            .sql = "SELECT name, activations, figures, tokens, weights_bytes, states_bytes,"
                   " activations_bytes FROM forecast ORDER BY position",
            .key = NULL,
            .item_bytes = sizeof(**out_items),
            .take = take},
        arena, &items, out_count));
    *out_items = items;
    for (size_t i = 0; i < *out_count; i++) {
        TAPML_TRY(list_parts(store, arena, &(*out_items)[i]));
    }
    return TAPML_OK;
}
