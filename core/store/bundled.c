// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/bundled.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row.h"

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

struct bundled_reading {
    struct arena *arena;
    struct bundled_row *items;
    size_t count;
};

static tapml_status take_bundled(void *user, struct row *row)
{
    struct bundled_reading *reading = user;
    struct bundled_row *item = &reading->items[reading->count++];
    *item = (struct bundled_row){.instance = arena_text(reading->arena, row_text(row, 0)),
                                 .file = arena_text(reading->arena, row_text(row, 1)),
                                 .shape_class = arena_text(reading->arena, row_text(row, 2)),
                                 .command = arena_text(reading->arena, row_text(row, 3))};
    return item->instance && item->file && item->shape_class && item->command ? TAPML_OK
                                                                              : status_no_memory();
}

tapml_status bundled_list(struct store *store,
                          const char *target,
                          struct arena *arena,
                          struct bundled_row **out_items,
                          size_t *out_count)
{
    ASSERT(target);
    struct bundled_reading reading = {.arena = arena};
    int64_t count = 0;
    TAPML_TRY(row_count(store, "SELECT count(*) FROM bundle WHERE target = ?", target, &count));
    reading.items = arena_array(arena, (size_t)count + 1, sizeof(*reading.items));
    if (!reading.items) {
        return status_no_memory();
    }
    TAPML_TRY(row_each(store,
                       "SELECT instance, file, shape_class, command FROM bundle WHERE target = ?"
                       " ORDER BY file",
                       target, take_bundled, &reading));
    *out_items = reading.items;
    *out_count = reading.count;
    return TAPML_OK;
}

tapml_status bundled_forget(struct store *store, const char *target)
{
    ASSERT(target);
    return row_forget(store, "DELETE FROM bundle WHERE target = ?", target);
}
