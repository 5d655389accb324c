// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/blame.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row_list.h"

#include <string.h>

tapml_status blame_write(struct store *store, const char *target, const struct blame_row *item)
{
    ASSERT(target && item->instance);
    struct row row;
    TAPML_TRY(row_begin(store,
                        "INSERT OR REPLACE INTO blame VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        "writing a blamed op", &row));
    row_put_text(&row, target);
    row_put_text(&row, item->instance);
    row_put_text(&row, item->kind);
    row_put_f64(&row, item->margin);
    row_put_text(&row, item->reason);
    row_put_text(&row, item->evidence);
    if (item->case_id != 0) {
        row_put_i64(&row, item->case_id);
    } else {
        row_put_null(&row);
    }
    row_put_text(&row, item->source);
    row_put_text(&row, item->label);
    row_put_i64(&row, (int64_t)item->tried);
    row_put_i64(&row, (int64_t)item->failed);
    return row_run(&row);
}

static int take(struct arena *arena, struct row *row, void *out_item)
{
    struct blame_row *item = out_item;
    *item = (struct blame_row){.instance = arena_text(arena, row_text(row, 0)),
                               .kind = arena_text(arena, row_text(row, 1)),
                               .margin = row_f64(row, 2),
                               .reason = arena_text(arena, row_text(row, 3)),
                               .evidence = arena_text(arena, row_text(row, 4)),
                               .case_id = row_i64(row, 5),
                               .source = arena_text(arena, row_text(row, 6)),
                               .label = arena_text(arena, row_text(row, 7)),
                               .tried = (uint64_t)row_i64(row, 8),
                               .failed = (uint64_t)row_i64(row, 9)};
    return item->instance && item->kind && item->reason && item->evidence && item->source &&
           item->label;
}

tapml_status blame_list(struct store *store,
                        const char *target,
                        struct arena *arena,
                        struct blame_row **out_items,
                        size_t *out_count)
{
    ASSERT(target);
    void *items = NULL;
    TAPML_TRY(row_list_read(
        store,
        &(struct row_list){
            .sql = "SELECT blame.instance, kind, margin, reason, evidence, case_id, source,"
                   " label, tried, failed FROM blame LEFT JOIN instance USING (instance)"
                   " WHERE target = ? ORDER BY position, blame.instance",
            .key = target,
            .item_bytes = sizeof(**out_items),
            .take = take},
        arena, &items, out_count));
    *out_items = items;
    return TAPML_OK;
}

tapml_status blame_forget(struct store *store, const char *target)
{
    ASSERT(target);
    return row_forget(store, "DELETE FROM blame WHERE target = ?", target);
}

int blame_is_driver(const struct blame_row *item)
{
    return strcmp(item->kind, BLAME_ALONE) == 0 && !item->evidence[0];
}

int blame_is_failure(const struct blame_row *item)
{
    return strcmp(item->kind, BLAME_UNSUPPORTED) != 0;
}
