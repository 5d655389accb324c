// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/feature.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row_list.h"

const char *feature_name(size_t column)
{
#define FEATURE_TEXT(name_) #name_,
    static const char *const names[] = {FEATURE_COLUMNS(FEATURE_TEXT)};
#undef FEATURE_TEXT
    ASSERT(column < FEATURE_COUNT);
    return names[column];
}

#define FEATURE_VALUE(name_) ", ?"
static const char WRITE[] =
    "INSERT OR REPLACE INTO feature VALUES (?, ?" FEATURE_COLUMNS(FEATURE_VALUE) ")";
#undef FEATURE_VALUE

tapml_status feature_write(struct store *store, int64_t case_id, const struct feature_row *row)
{
    struct row out;
    ASSERT(row->signature);
    TAPML_TRY(row_begin(store, WRITE, "writing features", &out));
    row_put_i64(&out, case_id);
    row_put_text(&out, row->signature);
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        row_put_f64(&out, row->values[i]);
    }
    return row_run(&out);
}

enum { FIRST = 8 }; // Of the columns of the table in LIST.

#define FEATURE_OF(name_) ", f." #name_
static const char LIST[] =
    "SELECT c.id, c.op, c.instance, c.phase, l.time_ns, r.time_ns, r.case_id IS NOT NULL,"
    " f.signature" FEATURE_COLUMNS(
        FEATURE_OF) " FROM \"case\" AS c"
                    " LEFT JOIN feature AS f ON f.case_id = c.id LEFT JOIN prompt AS p ON p.hash = "
                    "c.prompt"
                    " LEFT JOIN call AS l ON l.instance = c.instance AND l.prompt = c.prompt AND "
                    "l.step = c.step"
                    "  AND l.part = c.part"
                    " LEFT JOIN result AS r ON r.case_id = c.id AND r.target = ?"
                    " ORDER BY p.position IS NULL, p.position, c.id";
#undef FEATURE_OF

static int take(struct arena *arena, struct row *row, void *out_item)
{
    struct feature_case *item = out_item;
    item->id = row_i64(row, 0);
    item->op = arena_text(arena, row_text(row, 1));
    item->instance = arena_text(arena, row_text(row, 2));
    item->phase = arena_text(arena, row_text(row, 3));
    item->source_ns = (uint64_t)row_i64(row, 4);
    item->target_ns = (uint64_t)row_i64(row, 5);
    item->has_result = (int)row_i64(row, 6);
    for (int i = 0; i < FEATURE_COUNT; i++) {
        item->row.values[i] = row_f64(row, FIRST + i);
    }
    if (!row_is_null(row, FIRST - 1)) {
        item->row.signature = arena_text(arena, row_text(row, FIRST - 1));
    }
    return item->op && item->instance && item->phase &&
           (item->row.signature || row_is_null(row, FIRST - 1));
}

tapml_status feature_list(struct store *store,
                          const char *target,
                          struct arena *arena,
                          struct feature_case **out_cases,
                          size_t *out_count)
{
    void *items = NULL;
    ASSERT(target);
    TAPML_TRY(row_list_read(
        store,
        &(struct row_list){
            .sql = LIST, .key = target, .item_bytes = sizeof(**out_cases), .take = take},
        arena, &items, out_count));
    *out_cases = items;
    return TAPML_OK;
}
