// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/bundled.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row_list.h"

tapml_status bundled_write(struct store *store, const char *target, const struct bundled_row *item)
{
    ASSERT(target && item->instance && item->file);
    struct row row;
    TAPML_TRY(row_begin(store, "INSERT OR REPLACE INTO bundle VALUES (?, ?, ?, ?, ?)",
                        "writing a bundle", &row));
    row_put_text(&row, target);
    row_put_text(&row, item->instance);
    row_put_text(&row, item->file);
    row_put_text(&row, item->shape_class);
    row_put_text(&row, item->command);
    return row_run(&row);
}

static int take(struct arena *arena, struct row *row, void *out_item)
{
    struct bundled_row *item = out_item;
    *item = (struct bundled_row){.instance = arena_text(arena, row_text(row, 0)),
                                 .file = arena_text(arena, row_text(row, 1)),
                                 .shape_class = arena_text(arena, row_text(row, 2)),
                                 .command = arena_text(arena, row_text(row, 3))};
    return item->instance && item->file && item->shape_class && item->command;
}

tapml_status bundled_list(struct store *store,
                          const char *target,
                          struct arena *arena,
                          struct bundled_row **out_items,
                          size_t *out_count)
{
    ASSERT(target);
    void *items = NULL;
    TAPML_TRY(row_list_read(
        store,
        &(struct row_list){
            .sql = "SELECT instance, file, shape_class, command FROM bundle WHERE target = ?"
                   " ORDER BY file",
            .key = target,
            .item_bytes = sizeof(**out_items),
            .take = take},
        arena, &items, out_count));
    *out_items = items;
    return TAPML_OK;
}

tapml_status bundled_forget(struct store *store, const char *target)
{
    ASSERT(target);
    return row_forget(store, "DELETE FROM bundle WHERE target = ?", target);
}
