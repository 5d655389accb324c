// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/timing.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row.h"

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

struct timing_reading {
    struct arena *arena;
    struct timing_row *items;
    size_t count;
};

static tapml_status take_timing(void *user, struct row *row)
{
    struct timing_reading *reading = user;
    struct timing_row *item = &reading->items[reading->count++];
    *item = (struct timing_row){.op = arena_text(reading->arena, row_text(row, 0)),
                                .calls = (uint64_t)row_i64(row, 1),
                                .launches = (uint64_t)row_i64(row, 2),
                                .time_ns = (uint64_t)row_i64(row, 3)};
    return item->op ? TAPML_OK : status_no_memory();
}

tapml_status timing_list(struct store *store,
                         const char *target,
                         struct arena *arena,
                         struct timing_row **out_items,
                         size_t *out_count)
{
    ASSERT(target);
    struct timing_reading reading = {.arena = arena};
    int64_t count = 0;
    TAPML_TRY(row_count(store, "SELECT count(*) FROM timing WHERE target = ?", target, &count));
    reading.items = arena_array(arena, (size_t)count + 1, sizeof(*reading.items));
    if (!reading.items) {
        return status_no_memory();
    }
    TAPML_TRY(row_each(
        store, "SELECT op, calls, launches, time_ns FROM timing WHERE target = ? ORDER BY op",
        target, take_timing, &reading));
    *out_items = reading.items;
    *out_count = reading.count;
    return TAPML_OK;
}

tapml_status timing_forget(struct store *store, const char *target)
{
    ASSERT(target);
    return row_forget(store, "DELETE FROM timing WHERE target = ?", target);
}
