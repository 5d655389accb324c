// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/row_list.h"

#include "base/arena.h"
#include "base/assert.h"

#include <string.h>

struct row_reading {
    const struct row_list *list;
    struct arena *arena;
    unsigned char *items;
    size_t count, capacity;
};

// The arena keeps what was too small: as much again as the array at most.
static tapml_status grow(struct row_reading *reading)
{
    const size_t capacity = reading->capacity > 0 ? 2 * reading->capacity : 8;
    unsigned char *items = arena_array(reading->arena, capacity, reading->list->item_bytes);
    if (!items) {
        return status_no_memory();
    }
    if (reading->count > 0) {
        memcpy(items, reading->items, reading->count * reading->list->item_bytes);
    }
    reading->items = items;
    reading->capacity = capacity;
    return TAPML_OK;
}

static tapml_status take_row(void *user, struct row *row)
{
    struct row_reading *reading = user;
    if (reading->count == reading->capacity) {
        TAPML_TRY(grow(reading));
    }
    void *item = reading->items + reading->count * reading->list->item_bytes;
    reading->count++;
    memset(item, 0, reading->list->item_bytes);
    return reading->list->take(reading->arena, row, item) ? TAPML_OK : status_no_memory();
}

tapml_status row_list_read(struct store *store,
                           const struct row_list *list,
                           struct arena *arena,
                           void **out_items,
                           size_t *out_count)
{
    ASSERT(arena && list->item_bytes > 0);
    struct row_reading reading = {.list = list, .arena = arena};
    TAPML_TRY(grow(&reading));
    TAPML_TRY(row_each(store, list->sql, list->key, take_row, &reading));
    *out_items = reading.items;
    *out_count = reading.count;
    return TAPML_OK;
}

static int take_id(struct arena *arena, struct row *row, void *out_item)
{
    (void)arena;
    *(int64_t *)out_item = row_i64(row, 0);
    return 1;
}

tapml_status row_list_ids(struct store *store,
                          const char *sql,
                          const char *key,
                          struct arena *arena,
                          int64_t **out_ids,
                          size_t *out_count)
{
    const struct row_list list = {
        .sql = sql, .key = key, .item_bytes = sizeof(int64_t), .take = take_id};
    void *items = NULL;
    TAPML_TRY(row_list_read(store, &list, arena, &items, out_count));
    *out_ids = items;
    return TAPML_OK;
}
