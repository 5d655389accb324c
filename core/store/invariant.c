// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/invariant.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row.h"
#include "store/row_list.h"

tapml_status
invariant_write(struct store *store, const char *target, const struct invariant_row *item)
{
    struct row row;
    ASSERT(target && item->op && item->axis && item->verdict && item->basis);
    TAPML_TRY(row_begin(store,
                        "INSERT OR REPLACE INTO invariance VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
                        " ?)",
                        "writing an invariance", &row));
    row_put_text(&row, target);
    row_put_text(&row, item->op);
    row_put_i64(&row, item->version);
    row_put_text(&row, item->axis);
    row_put_text(&row, item->verdict);
    row_put_i64(&row, (int64_t)item->size);
    row_put_i64(&row, (int64_t)item->tried);
    row_put_text(&row, item->instance);
    row_put_text(&row, item->shape);
    row_put_f64(&row, item->margin);
    row_put_text(&row, item->reason);
    row_put_text(&row, item->basis);
    return row_run(&row);
}

static int take(struct arena *arena, struct row *row, void *out_item)
{
    struct invariant_row *item = out_item;
    *item = (struct invariant_row){.op = arena_text(arena, row_text(row, 0)),
                                   .version = (uint32_t)row_i64(row, 1),
                                   .axis = arena_text(arena, row_text(row, 2)),
                                   .verdict = arena_text(arena, row_text(row, 3)),
                                   .size = (uint64_t)row_i64(row, 4),
                                   .tried = (uint64_t)row_i64(row, 5),
                                   .instance = arena_text(arena, row_text(row, 6)),
                                   .shape = arena_text(arena, row_text(row, 7)),
                                   .margin = row_f64(row, 8),
                                   .reason = arena_text(arena, row_text(row, 9)),
                                   .basis = arena_text(arena, row_text(row, 10))};
    return item->op && item->axis && item->verdict && item->instance && item->shape &&
           item->reason && item->basis;
}

tapml_status invariant_list(struct store *store,
                            const char *target,
                            struct arena *arena,
                            struct invariant_row **out_items,
                            size_t *out_count)
{
    void *items = NULL;
    ASSERT(target);
    TAPML_TRY(row_list_read(
        store,
        &(struct row_list){.sql = "SELECT op, version, axis, verdict, size, tried, instance, shape,"
                                  " margin, reason, basis FROM invariance WHERE target = ?"
                                  " ORDER BY version = 0, op, version, axis",
                           .key = target,
                           .item_bytes = sizeof(**out_items),
                           .take = take},
        arena, &items, out_count));
    *out_items = items;
    return TAPML_OK;
}

tapml_status invariant_forget(struct store *store, const char *target)
{
    ASSERT(target);
    return row_forget(store, "DELETE FROM invariance WHERE target = ?", target);
}
