// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/measured.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row.h"

static int copy_texts(struct measured *item, struct arena *arena)
{
    item->comparer = arena_text(arena, item->comparer);
    item->build = arena_text(arena, item->build);
    item->unit = arena_text(arena, item->unit);
    item->param = arena_text(arena, item->param);
    return item->comparer && item->build && item->unit && item->param;
}

tapml_status measured_copy(const struct measured *items,
                           size_t count,
                           struct arena *arena,
                           const struct measured **out_items)
{
    struct measured *copies = arena_array(arena, count + 1, sizeof(*copies));
    if (!copies) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        copies[i] = items[i];
        if (!copy_texts(&copies[i], arena)) {
            return status_no_memory();
        }
    }
    *out_items = copies;
    return TAPML_OK;
}

tapml_status measured_write(struct store *store,
                            const char *target,
                            int64_t case_id,
                            const struct measured *items,
                            size_t count)
{
    ASSERT(target && count <= MEASURED_MAX);
    for (size_t i = 0; i < count; i++) {
        struct row row;
        TAPML_TRY(row_begin(store, "INSERT INTO measure VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                            "writing measures", &row));
        row_put_text(&row, target);
        row_put_i64(&row, case_id);
        row_put_i64(&row, (int64_t)i);
        row_put_text(&row, items[i].comparer);
        row_put_text(&row, items[i].build);
        row_put_text(&row, items[i].unit);
        row_put_text(&row, items[i].param);
        row_put_f64(&row, items[i].value);
        row_put_f64(&row, items[i].limit);
        TAPML_TRY(row_run(&row));
    }
    return TAPML_OK;
}

tapml_status measured_has(struct store *store, const char *target, int *out_has)
{
    int64_t count = 0;
    ASSERT(target);
    TAPML_TRY(row_count(store,
                        "SELECT count(*) FROM (SELECT 1 FROM measure WHERE target = ? LIMIT 1)",
                        target, &count));
    *out_has = count > 0;
    return TAPML_OK;
}

static tapml_status read_one(struct row *row, struct arena *arena, struct measured *out_item)
{
    *out_item = (struct measured){.comparer = row_text(row, 0),
                                  .build = row_text(row, 1),
                                  .unit = row_text(row, 2),
                                  .param = row_text(row, 3),
                                  .value = row_f64(row, 4),
                                  .limit = row_f64(row, 5)};
    return copy_texts(out_item, arena) ? TAPML_OK : status_no_memory();
}

tapml_status measured_list(struct store *store,
                           const char *target,
                           int64_t case_id,
                           struct arena *arena,
                           struct measured **out_items,
                           size_t *out_count)
{
    ASSERT(target);
    struct measured *items = arena_array(arena, MEASURED_MAX, sizeof(*items));
    struct row row;
    size_t count = 0;
    int has = 0;
    if (!items) {
        return status_no_memory();
    }
    TAPML_TRY(row_begin(store,
                        "SELECT comparer, build, unit, param, value, allowed FROM measure"
                        " WHERE target = ? AND case_id = ? ORDER BY position LIMIT 128",
                        "reading measures", &row));
    row_put_text(&row, target);
    row_put_i64(&row, case_id);
    TAPML_TRY(row_next(&row, &has));
    while (has) {
        ASSERT(count < MEASURED_MAX); // The limit of the statement.
        const tapml_status status = read_one(&row, arena, &items[count++]);
        if (status != TAPML_OK) {
            row_end(&row);
            return status;
        }
        TAPML_TRY(row_next(&row, &has));
    }
    *out_items = items;
    *out_count = count;
    return TAPML_OK;
}
