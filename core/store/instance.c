// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/instance.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row_list.h"

tapml_status instance_replace(struct store *store, const struct instance_row *items, size_t count)
{
    ASSERT(items || count == 0);
    struct row row;
    TAPML_TRY(row_begin(store, "DELETE FROM instance", "writing instances", &row));
    TAPML_TRY(row_run(&row));
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(row_begin(store, "INSERT INTO instance VALUES (?, ?, ?, ?)", "writing instances",
                            &row));
        row_put_i64(&row, (int64_t)i);
        row_put_text(&row, items[i].instance);
        row_put_text(&row, items[i].op);
        row_put_text(&row, items[i].class_);
        TAPML_TRY(row_run(&row));
    }
    return TAPML_OK;
}

static int take(struct arena *arena, struct row *row, void *out_item)
{
    struct instance_row *item = out_item;
    *item = (struct instance_row){.instance = arena_text(arena, row_text(row, 0)),
                                  .op = arena_text(arena, row_text(row, 1)),
                                  .class_ = arena_text(arena, row_text(row, 2))};
    return item->instance && item->op && item->class_;
}

tapml_status instance_list(struct store *store,
                           struct arena *arena,
                           struct instance_row **out_items,
                           size_t *out_count)
{
    void *items = NULL;
    TAPML_TRY(row_list_read(
        store,
        &(struct row_list){.sql = "SELECT instance, op, class FROM instance ORDER BY position",
                           .key = NULL,
                           .item_bytes = sizeof(**out_items),
                           .take = take},
        arena, &items, out_count));
    *out_items = items;
    return TAPML_OK;
}
