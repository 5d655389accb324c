// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/output_error.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row.h"

tapml_status output_error_copy(const struct output_error *items,
                               size_t count,
                               struct arena *arena,
                               const struct output_error **out_items)
{
    struct output_error *copies = arena_array(arena, count + 1, sizeof(*copies));
    if (!copies) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        copies[i] = items[i];
        copies[i].param = arena_text(arena, items[i].param);
        copies[i].class_ = arena_text(arena, items[i].class_);
        copies[i].place = arena_text(arena, items[i].place);
        if (!copies[i].param || !copies[i].class_ || !copies[i].place) {
            return status_no_memory();
        }
    }
    *out_items = copies;
    return TAPML_OK;
}

static tapml_status write_one(struct store *store,
                              const char *target,
                              int64_t case_id,
                              size_t position,
                              const struct output_error *item)
{
    struct row row;
    TAPML_TRY(row_begin(store,
                        "INSERT INTO output_error"
                        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        "writing errors", &row));
    row_put_text(&row, target);
    row_put_i64(&row, case_id);
    row_put_i64(&row, (int64_t)position);
    row_put_text(&row, item->param);
    row_put_text(&row, item->class_);
    row_put_i64(&row, item->is_equal);
    row_put_f64(&row, item->ulp);
    row_put_f64(&row, item->nmse);
    row_put_f64(&row, item->row_error);
    row_put_f64(&row, item->cosine);
    row_put_i64(&row, (int64_t)item->non_finite);
    row_put_i64(&row, item->is_outside);
    row_put_text(&row, item->place);
    row_put_f64(&row, item->expected);
    row_put_f64(&row, item->computed);
    row_put_f64(&row, item->margin);
    return row_run(&row);
}

tapml_status output_error_write(struct store *store,
                                const char *target,
                                int64_t case_id,
                                const struct output_error *items,
                                size_t count)
{
    ASSERT(target && (items || count == 0));
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(write_one(store, target, case_id, i, &items[i]));
    }
    return TAPML_OK;
}

#define COLUMNS                                                                                    \
    "param, class, is_equal, ulp, nmse, row_error, cosine, non_finite, is_outside, place,"         \
    " expected, computed, margin"

// `first` is the first of the columns, `before` an error whose texts this one may have too.
static tapml_status take_error(struct row *row,
                               int first,
                               const struct output_error *before,
                               struct arena *arena,
                               struct output_error *out_item)
{
    *out_item = (struct output_error){.param = row_keep(row, first, before->param, arena),
                                      .class_ = row_keep(row, first + 1, before->class_, arena),
                                      .is_equal = row_i64(row, first + 2) != 0,
                                      .ulp = row_f64(row, first + 3),
                                      .nmse = row_f64(row, first + 4),
                                      .row_error = row_f64(row, first + 5),
                                      .cosine = row_f64(row, first + 6),
                                      .non_finite = (uint64_t)row_i64(row, first + 7),
                                      .is_outside = row_i64(row, first + 8) != 0,
                                      .place = row_keep(row, first + 9, before->place, arena),
                                      .expected = row_f64(row, first + 10),
                                      .computed = row_f64(row, first + 11),
                                      .margin = row_f64(row, first + 12)};
    return out_item->param && out_item->class_ && out_item->place ? TAPML_OK : status_no_memory();
}

static tapml_status
count_errors(struct store *store, const char *target, int64_t case_id, size_t *out_count)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store, "SELECT count(*) FROM output_error WHERE target = ? AND case_id = ?",
                        "counting errors", &row));
    row_put_text(&row, target);
    row_put_i64(&row, case_id);
    TAPML_TRY(row_next(&row, &has));
    *out_count = has ? (size_t)row_i64(&row, 0) : 0;
    if (has) {
        row_end(&row);
    }
    return TAPML_OK;
}

tapml_status output_error_list(struct store *store,
                               const char *target,
                               int64_t case_id,
                               struct arena *arena,
                               struct output_error **out_items,
                               size_t *out_count)
{
    ASSERT(target);
    static const struct output_error none = {.param = NULL};
    struct output_error *items = NULL;
    struct row row;
    size_t count = 0, capacity = 0;
    int has = 0;
    TAPML_TRY(count_errors(store, target, case_id, &capacity));
    items = arena_array(arena, capacity + 1, sizeof(*items));
    if (!items) {
        return status_no_memory();
    }
    TAPML_TRY(row_begin(store,
                        "SELECT " COLUMNS " FROM output_error"
                        " WHERE target = ? AND case_id = ? ORDER BY position",
                        "reading errors", &row));
    row_put_text(&row, target);
    row_put_i64(&row, case_id);
    TAPML_TRY(row_next(&row, &has));
    while (has && count < capacity) {
        const tapml_status status = take_error(&row, 0, &none, arena, &items[count++]);
        if (status != TAPML_OK) {
            row_end(&row);
            return status;
        }
        TAPML_TRY(row_next(&row, &has));
    }
    if (has) {
        row_end(&row); // Another host writes: what has come since belongs to another result.
    }
    *out_items = items;
    *out_count = count;
    return TAPML_OK;
}

struct output_error_reading {
    struct arena *arena;
    struct output_error *items;
    struct output_error_group *groups;
    size_t count, group_count, capacity;
};

static tapml_status take_of_target(void *user, struct row *row)
{
    struct output_error_reading *reading = user;
    const int64_t case_id = row_i64(row, 0);
    if (reading->count == reading->capacity) {
        return TAPML_OK; // Another host writes: what has come since belongs to another result.
    }
    struct output_error *item = &reading->items[reading->count++];
    if (reading->group_count == 0 || reading->groups[reading->group_count - 1].case_id != case_id) {
        reading->groups[reading->group_count++] =
            (struct output_error_group){.case_id = case_id, .items = item};
    }
    reading->groups[reading->group_count - 1].count++;
    return take_error(row, 1, reading->count > 1 ? item - 1 : item, reading->arena, item);
}

tapml_status output_error_groups(struct store *store,
                                 const char *target,
                                 struct arena *arena,
                                 struct output_error_group **out_groups,
                                 size_t *out_count)
{
    struct output_error_reading reading = {.arena = arena};
    int64_t count = 0;
    ASSERT(target);
    // Of all targets, since these are counted page by page and not row by row.
    TAPML_TRY(row_count(store, "SELECT count(*) FROM output_error", NULL, &count));
    reading.capacity = (size_t)count;
    reading.items = arena_array(arena, reading.capacity + 1, sizeof(*reading.items));
    reading.groups = arena_array(arena, reading.capacity + 1, sizeof(*reading.groups));
    if (!reading.items || !reading.groups) {
        return status_no_memory();
    }
    TAPML_TRY(row_each(store,
                       "SELECT case_id, " COLUMNS " FROM output_error WHERE target = ?"
                       " ORDER BY case_id, position",
                       target, take_of_target, &reading));
    *out_groups = reading.groups;
    *out_count = reading.group_count;
    return TAPML_OK;
}
