// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/stage.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row.h"
#include "store/row_list.h"

static tapml_status
insert(struct store *store, const char *target, size_t position, const struct stage_row *item)
{
    struct row row;
    ASSERT(item->phase && item->stage);
    TAPML_TRY(row_begin(store, "INSERT INTO stage VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                        "writing the time of a stage", &row));
    row_put_text(&row, target);
    row_put_i64(&row, (int64_t)position);
    row_put_text(&row, item->phase);
    row_put_text(&row, item->stage);
    row_put_i64(&row, (int64_t)item->visits);
    row_put_i64(&row, (int64_t)item->bytes);
    row_put_i64(&row, (int64_t)item->wall_ns);
    row_put_i64(&row, (int64_t)item->waiting_ns);
    return row_run(&row);
}

tapml_status
stage_write(struct store *store, const char *target, const struct stage_row *rows, size_t count)
{
    ASSERT(target);
    TAPML_TRY(stage_forget(store, target));
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(insert(store, target, i, &rows[i]));
    }
    return TAPML_OK;
}

// A store may be a stranger's: what is no number of anything is 0.
static uint64_t count_of(struct row *row, int column)
{
    const int64_t value = row_i64(row, column);
    return value > 0 ? (uint64_t)value : 0;
}

static int take(struct arena *arena, struct row *row, void *out_item)
{
    struct stage_row *item = out_item;
    *item = (struct stage_row){.phase = arena_text(arena, row_text(row, 0)),
                               .stage = arena_text(arena, row_text(row, 1)),
                               .visits = count_of(row, 2),
                               .bytes = count_of(row, 3),
                               .wall_ns = count_of(row, 4),
                               .waiting_ns = count_of(row, 5)};
    return item->phase && item->stage;
}

tapml_status stage_list(struct store *store,
                        const char *target,
                        struct arena *arena,
                        struct stage_row **out_rows,
                        size_t *out_count)
{
    void *items = NULL;
    ASSERT(target);
    TAPML_TRY(row_list_read(store,
                            &(struct row_list){.sql = "SELECT phase, stage, visits, bytes, wall_ns,"
                                                      " waiting_ns FROM stage WHERE target = ?"
                                                      " ORDER BY position",
                                               .key = target,
                                               .item_bytes = sizeof(**out_rows),
                                               .take = take},
                            arena, &items, out_count));
    *out_rows = items;
    return TAPML_OK;
}

tapml_status stage_forget(struct store *store, const char *target)
{
    ASSERT(target);
    return row_forget(store, "DELETE FROM stage WHERE target = ?", target);
}
