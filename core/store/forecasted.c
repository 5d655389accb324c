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
    const struct {
        const struct forecasted_part *part;
        const void *items;
        size_t count;
    } parts[] = {{&forecasted_range_part, item->ranges, item->range_count},
                 {&forecasted_limit_part, item->limits, item->limit_count},
                 {&forecasted_time_part, item->times, item->time_count},
                 {&forecasted_kind_part, item->kinds, item->kind_count}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        TAPML_TRY(forecasted_part_write(store, parts[i].part, item->name, parts[i].items,
                                        parts[i].count));
    }
    return TAPML_OK;
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
    const char *name = item->name;
    void *items = NULL;
    TAPML_TRY(forecasted_part_list(store, &forecasted_range_part, name, arena, &items,
                                   &item->range_count));
    item->ranges = items;
    TAPML_TRY(forecasted_part_list(store, &forecasted_limit_part, name, arena, &items,
                                   &item->limit_count));
    item->limits = items;
    TAPML_TRY(
        forecasted_part_list(store, &forecasted_time_part, name, arena, &items, &item->time_count));
    item->times = items;
    TAPML_TRY(
        forecasted_part_list(store, &forecasted_kind_part, name, arena, &items, &item->kind_count));
    item->kinds = items;
    return TAPML_OK;
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
