// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/instance.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row.h"

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

struct instance_reading {
    struct arena *arena;
    struct instance_row *items;
    size_t count;
};

static tapml_status take_instance(void *user, struct row *row)
{
    struct instance_reading *reading = user;
    struct instance_row *item = &reading->items[reading->count++];
    *item = (struct instance_row){.instance = arena_text(reading->arena, row_text(row, 0)),
                                  .op = arena_text(reading->arena, row_text(row, 1)),
                                  .class_ = arena_text(reading->arena, row_text(row, 2))};
    return item->instance && item->op && item->class_ ? TAPML_OK : status_no_memory();
}

tapml_status instance_list(struct store *store,
                           struct arena *arena,
                           struct instance_row **out_items,
                           size_t *out_count)
{
    struct instance_reading reading = {.arena = arena};
    int64_t count = 0;
    TAPML_TRY(row_count(store, "SELECT count(*) FROM instance", NULL, &count));
    reading.items = arena_array(arena, (size_t)count + 1, sizeof(*reading.items));
    if (!reading.items) {
        return status_no_memory();
    }
    TAPML_TRY(row_each(store, "SELECT instance, op, class FROM instance ORDER BY position", NULL,
                       take_instance, &reading));
    *out_items = reading.items;
    *out_count = reading.count;
    return TAPML_OK;
}
