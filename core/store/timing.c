// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/timing.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row_list.h"

tapml_status timing_write(struct store *store, const char *target, const struct timing_row *item)
{
    ASSERT(target && item->op);
    struct row row;
    TAPML_TRY(row_begin(store, "INSERT OR REPLACE INTO timing VALUES (?, ?, ?, ?, ?)",
                        "writing times", &row));
    row_put_text(&row, target);
    row_put_text(&row, item->op);
    row_put_i64(&row, (int64_t)item->calls);
    row_put_i64(&row, (int64_t)item->launches);
    row_put_i64(&row, (int64_t)item->time_ns);
    return row_run(&row);
}

static int take(struct arena *arena, struct row *row, void *out_item)
{
    struct timing_row *item = out_item;
    *item = (struct timing_row){.op = arena_text(arena, row_text(row, 0)),
                                .calls = (uint64_t)row_i64(row, 1),
                                .launches = (uint64_t)row_i64(row, 2),
                                .time_ns = (uint64_t)row_i64(row, 3)};
    return item->op != NULL;
}

tapml_status timing_list(struct store *store,
                         const char *target,
                         struct arena *arena,
                         struct timing_row **out_items,
                         size_t *out_count)
{
    ASSERT(target);
    void *items = NULL;
    TAPML_TRY(row_list_read(
        store,
        &(struct row_list){
            .sql = "SELECT op, calls, launches, time_ns FROM timing WHERE target = ? ORDER BY op",
            .key = target,
            .item_bytes = sizeof(**out_items),
            .take = take},
        arena, &items, out_count));
    *out_items = items;
    return TAPML_OK;
}

tapml_status timing_forget(struct store *store, const char *target)
{
    ASSERT(target);
    return row_forget(store, "DELETE FROM timing WHERE target = ?", target);
}
