// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/weight.h"

#include "base/arena.h"
#include "store/row.h"

struct weight_reading {
    struct arena *arena;
    struct weight_row *items;
    size_t count;
};

static tapml_status take_weight(void *user, struct row *row)
{
    struct weight_reading *reading = user;
    struct weight_row *item = &reading->items[reading->count++];
    *item = (struct weight_row){.name = arena_text(reading->arena, row_text(row, 0)),
                                .dtype = arena_text(reading->arena, row_text(row, 1)),
                                .bytes = (uint64_t)row_i64(row, 2)};
    item->has_key = row_hash(row, 3, &item->key);
    return item->name && item->dtype ? TAPML_OK : status_no_memory();
}

tapml_status weight_list(struct store *store,
                         struct arena *arena,
                         struct weight_row **out_items,
                         size_t *out_count)
{
    struct weight_reading reading = {.arena = arena};
    int64_t count = 0;
    TAPML_TRY(row_count(store, "SELECT count(*) FROM weight", NULL, &count));
    reading.items = arena_array(arena, (size_t)count + 1, sizeof(*reading.items));
    if (!reading.items) {
        return status_no_memory();
    }
    TAPML_TRY(row_each(store, "SELECT name, dtype, byte_count, key FROM weight ORDER BY name", NULL,
                       take_weight, &reading));
    *out_items = reading.items;
    *out_count = reading.count;
    return TAPML_OK;
}
