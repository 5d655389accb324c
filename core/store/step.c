// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/step.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/clock.h"
#include "store/row_list.h"

// Outside of `store_begin` a statement is a transaction.
tapml_status step_add(struct store *store, const struct step_row *item)
{
    ASSERT(item->target && item->step && item->verdict);
    struct row row;
    TAPML_TRY(row_begin(store,
                        "INSERT INTO step"
                        " (target, step, verdict, reason, plan, margin, time_ns, written_s)"
                        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                        "writing a step", &row));
    row_put_text(&row, item->target);
    row_put_text(&row, item->step);
    row_put_text(&row, item->verdict);
    row_put_text(&row, item->reason);
    row_put_text(&row, item->plan);
    row_put_f64(&row, item->margin);
    row_put_i64(&row, (int64_t)item->time_ns);
    row_put_i64(&row, clock_wall_s());
    return row_run(&row);
}

static tapml_status copy_row(struct row *row, struct arena *arena, struct step_row *out_row)
{
    const struct step_row copy = {
        .id = row_i64(row, 0),
        .target = arena_text(arena, row_text(row, 1)),
        .step = arena_text(arena, row_text(row, 2)),
        .verdict = arena_text(arena, row_text(row, 3)),
        .reason = arena_text(arena, row_text(row, 4)),
        .plan = arena_text(arena, row_text(row, 5)),
        .margin = row_f64(row, 6),
        .time_ns = (uint64_t)row_i64(row, 7),
    };
    if (!copy.target || !copy.step || !copy.verdict || !copy.reason || !copy.plan) {
        return status_no_memory();
    }
    *out_row = copy;
    return TAPML_OK;
}

tapml_status step_find(struct store *store,
                       const char *target,
                       const char *step,
                       struct arena *arena,
                       struct step_row *out_row)
{
    ASSERT(target && step);
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store,
                        "SELECT id, target, step, verdict, reason, plan, margin, time_ns FROM step"
                        " WHERE target = ? AND step = ? ORDER BY id DESC LIMIT 1",
                        "reading a step", &row));
    row_put_text(&row, target);
    row_put_text(&row, step);
    TAPML_TRY(row_next(&row, &has));
    if (!has) {
        return status_fail(TAPML_NOT_FOUND, "the offload has no step '%s' of target '%s'", step,
                           target);
    }
    const tapml_status status = copy_row(&row, arena, out_row);
    row_end(&row);
    return status;
}

tapml_status step_find_settled(struct store *store,
                               const char *target,
                               struct arena *arena,
                               struct step_row *out_row,
                               int *out_has)
{
    ASSERT(target);
    struct row row;
    TAPML_TRY(row_begin(store,
                        "SELECT id, target, step, verdict, reason, plan, margin, time_ns FROM step"
                        " WHERE target = ? AND (step LIKE 'move %' OR step = 'final')"
                        " ORDER BY id DESC LIMIT 1",
                        "reading a step", &row));
    row_put_text(&row, target);
    TAPML_TRY(row_next(&row, out_has));
    if (!*out_has) {
        return TAPML_OK;
    }
    const tapml_status status = copy_row(&row, arena, out_row);
    row_end(&row);
    return status;
}

tapml_status step_forget(struct store *store, const char *target)
{
    ASSERT(target);
    return row_forget(store, "DELETE FROM step WHERE target = ?", target);
}

static int take(struct arena *arena, struct row *row, void *out_item)
{
    struct step_row *item = out_item;
    *item = (struct step_row){.id = row_i64(row, 0),
                              .target = arena_text(arena, row_text(row, 1)),
                              .step = arena_text(arena, row_text(row, 2)),
                              .verdict = arena_text(arena, row_text(row, 3)),
                              .reason = arena_text(arena, row_text(row, 4)),
                              .plan = "",
                              .margin = row_f64(row, 5),
                              .time_ns = (uint64_t)row_i64(row, 6)};
    return item->target && item->step && item->verdict && item->reason;
}

tapml_status step_list(struct store *store,
                       const char *target,
                       struct arena *arena,
                       struct step_row **out_items,
                       size_t *out_count)
{
    ASSERT(target);
    void *items = NULL;
    TAPML_TRY(row_list_read(
        store,
        &(struct row_list){.sql =
                               "SELECT id, target, step, verdict, reason, margin, time_ns FROM step"
                               " WHERE target = ? ORDER BY id",
                           .key = target,
                           .item_bytes = sizeof(**out_items),
                           .take = take},
        arena, &items, out_count));
    *out_items = items;
    return TAPML_OK;
}
