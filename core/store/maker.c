// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/maker.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row_list.h"

#include <string.h>

tapml_status maker_write(struct store *store,
                         const char *target,
                         const char *op,
                         uint32_t version,
                         const struct result_maker *maker)
{
    ASSERT(target && op);
    ASSERT(maker->implementation && maker->device && maker->driver && maker->options &&
           maker->oracle);
    struct row row;
    TAPML_TRY(row_begin(store, "INSERT OR REPLACE INTO maker VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                        "writing makers", &row));
    row_put_text(&row, target);
    row_put_text(&row, op);
    row_put_i64(&row, version);
    row_put_text(&row, maker->implementation);
    row_put_text(&row, maker->device);
    row_put_text(&row, maker->driver);
    row_put_text(&row, maker->options);
    row_put_text(&row, maker->oracle);
    return row_run(&row);
}

static int take_maker(struct arena *arena, struct row *row, void *out_item)
{
    struct maker_row *item = out_item;
    *item = (struct maker_row){.op = arena_text(arena, row_text(row, 0)),
                               .version = (uint32_t)row_i64(row, 1),
                               .maker = {.implementation = arena_text(arena, row_text(row, 2)),
                                         .device = arena_text(arena, row_text(row, 3)),
                                         .driver = arena_text(arena, row_text(row, 4)),
                                         .options = arena_text(arena, row_text(row, 5)),
                                         .oracle = arena_text(arena, row_text(row, 6))}};
    return item->op && item->maker.implementation && item->maker.device && item->maker.driver &&
           item->maker.options && item->maker.oracle;
}

tapml_status maker_list(struct store *store,
                        const char *target,
                        struct arena *arena,
                        struct maker_row **out_items,
                        size_t *out_count)
{
    void *items = NULL;
    ASSERT(target);
    TAPML_TRY(row_list_read(
        store,
        &(struct row_list){.sql = "SELECT op, version, implementation, device, driver, options,"
                                  " oracle FROM maker WHERE target = ? ORDER BY op, version",
                           .key = target,
                           .item_bytes = sizeof(struct maker_row),
                           .take = take_maker},
        arena, &items, out_count));
    *out_items = items;
    return TAPML_OK;
}

const struct maker_row *
maker_search(const struct maker_row *items, size_t count, const char *op, uint32_t version)
{
    size_t low = 0, high = count; // The one that is looked for lies in low .. high - 1.
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        int order = strcmp(items[middle].op, op);
        order = order != 0 ? order
                           : (items[middle].version > version) - (items[middle].version < version);
        if (order == 0) {
            return &items[middle];
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return NULL;
}

int maker_differs(const struct result_maker *maker, const struct result_maker *last)
{
    return strcmp(maker->implementation, last->implementation) != 0 ||
           strcmp(maker->device, last->device) != 0 || strcmp(maker->driver, last->driver) != 0 ||
           strcmp(maker->options, last->options) != 0;
}
