// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/result.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row.h"
#include "store/row_list.h"
#include "store/run_id.h"

#define IS_OF_MAKER "implementation = ? AND device = ? AND driver = ? AND options = ?"

// Binds the maker to the next values of a row.
static void put_maker(struct row *row, const struct result_maker *maker)
{
    ASSERT(maker->implementation && maker->device && maker->driver && maker->options);
    row_put_text(row, maker->implementation);
    row_put_text(row, maker->device);
    row_put_text(row, maker->driver);
    row_put_text(row, maker->options);
}

tapml_status result_write(struct store *store,
                          const char *target,
                          const struct result_row *item,
                          const struct result_maker *maker)
{
    ASSERT(target && item->outcome && maker->oracle);
    const char *run = NULL;
    struct row row;
    TAPML_TRY(run_id(store, &run));
    TAPML_TRY(row_begin(store,
                        "INSERT OR REPLACE INTO result"
                        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        "writing results", &row));
    row_put_text(&row, target);
    row_put_i64(&row, item->case_id);
    row_put_text(&row, item->outcome);
    row_put_text(&row, item->reason);
    row_put_i64(&row, (int64_t)item->time_ns);
    put_maker(&row, maker);
    row_put_text(&row, maker->oracle);
    if (item->total > 0) {
        row_put_i64(&row, (int64_t)item->beyond);
        row_put_i64(&row, (int64_t)item->total);
    } else {
        row_put_null(&row);
        row_put_null(&row);
    }
    row_put_text(&row, run);
    return row_run(&row);
}

#define SELECT_RESULT                                                                              \
    "SELECT outcome, reason, implementation, device, driver, options, oracle, instance, op, "      \
    "phase,"                                                                                       \
    " shape_class, case_id, result.time_ns, beyond, elements, version"                             \
    " FROM result JOIN \"case\" ON case_id = id"

enum { TEXTS = 11 };

struct result_reading {
    struct arena *arena;
    struct result_row *items;
    size_t count, capacity;
    const char *texts[TEXTS];
};

// `texts` are those of the row before, which this one has many of; or NULL.
static tapml_status take_row(struct row *row,
                             struct arena *arena,
                             const char *texts[TEXTS],
                             struct result_row *out_item)
{
    for (int i = 0; i < TEXTS; i++) {
        texts[i] = row_keep(row, i, texts[i], arena);
        if (!texts[i]) {
            return status_no_memory();
        }
    }
    *out_item = (struct result_row){.outcome = texts[0],
                                    .reason = texts[1],
                                    .maker = {.implementation = texts[2],
                                              .device = texts[3],
                                              .driver = texts[4],
                                              .options = texts[5],
                                              .oracle = texts[6]},
                                    .instance = texts[7],
                                    .op = texts[8],
                                    .phase = texts[9],
                                    .shape_class = texts[10],
                                    .case_id = row_i64(row, 11),
                                    .time_ns = (uint64_t)row_i64(row, 12),
                                    .beyond = (uint64_t)row_i64(row, 13),
                                    .total = (uint64_t)row_i64(row, 14),
                                    .version = (uint32_t)row_i64(row, 15)};
    return TAPML_OK;
}

tapml_status result_find(struct store *store,
                         const char *target,
                         int64_t case_id,
                         const struct result_maker *maker,
                         struct arena *arena,
                         struct result_row *out_item)
{
    ASSERT(target);
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store, SELECT_RESULT " WHERE target = ? AND case_id = ? AND " IS_OF_MAKER,
                        "reading results", &row));
    row_put_text(&row, target);
    row_put_i64(&row, case_id);
    put_maker(&row, maker);
    TAPML_TRY(row_next(&row, &has));
    if (!has) {
        return status_fail(TAPML_NOT_FOUND, "'%s' has no fresh result of case %lld", target,
                           (long long)case_id);
    }
    const char *texts[TEXTS] = {NULL};
    const tapml_status status = take_row(&row, arena, texts, out_item);
    row_end(&row);
    return status;
}

tapml_status
result_set_oracle(struct store *store, const char *target, int64_t case_id, const char *oracle)
{
    ASSERT(target && oracle);
    struct row row;
    TAPML_TRY(row_begin(store, "UPDATE result SET oracle = ? WHERE target = ? AND case_id = ?",
                        "writing results", &row));
    row_put_text(&row, oracle);
    row_put_text(&row, target);
    row_put_i64(&row, case_id);
    return row_run(&row);
}

static tapml_status take_result(void *user, struct row *row)
{
    struct result_reading *reading = user;
    return reading->count < reading->capacity
               ? take_row(row, reading->arena, reading->texts, &reading->items[reading->count++])
               : TAPML_OK;
}

tapml_status result_list(struct store *store,
                         const char *target,
                         struct arena *arena,
                         struct result_row **out_items,
                         size_t *out_count)
{
    ASSERT(target);
    struct result_reading reading = {.arena = arena};
    int64_t count = 0;
    // Of all targets, since these are counted page by page and not row by row.
    TAPML_TRY(row_count(store, "SELECT count(*) FROM result", NULL, &count));
    reading.capacity = (size_t)count;
    reading.items = arena_array(arena, reading.capacity + 1, sizeof(*reading.items));
    if (!reading.items) {
        return status_no_memory();
    }
    TAPML_TRY(row_each(store, SELECT_RESULT " WHERE target = ? ORDER BY case_id", target,
                       take_result, &reading));
    *out_items = reading.items;
    *out_count = reading.count;
    return TAPML_OK;
}

tapml_status result_count(struct store *store, const char *target, size_t *out_count)
{
    ASSERT(target);
    int64_t count = 0;
    TAPML_TRY(row_count(store, "SELECT count(*) FROM result WHERE target = ?", target, &count));
    *out_count = (size_t)count;
    return TAPML_OK;
}

struct target_visit {
    tapml_status (*visit)(void *user, const char *target, uint64_t results);
    void *user;
};

static tapml_status visit_target(void *user, struct row *row)
{
    const struct target_visit *visit = user;
    return visit->visit(visit->user, row_text(row, 0), (uint64_t)row_i64(row, 1));
}

tapml_status
result_visit_targets(struct store *store,
                     tapml_status (*visit)(void *user, const char *target, uint64_t results),
                     void *user)
{
    struct target_visit visiting = {visit, user};
    return row_each(store, "SELECT target, count(*) FROM result GROUP BY target ORDER BY target",
                    NULL, visit_target, &visiting);
}

tapml_status result_forget_stale(struct store *store,
                                 const char *target,
                                 const char *op,
                                 uint32_t version,
                                 const struct result_maker *maker,
                                 size_t *out_count)
{
    ASSERT(target && op);
    struct row row;
    size_t before = 0, after = 0;
    TAPML_TRY(result_count(store, target, &before));
    TAPML_TRY(row_begin(store,
                        "DELETE FROM result WHERE target = ?"
                        " AND case_id IN (SELECT id FROM \"case\" WHERE op = ? AND version = ?)"
                        " AND NOT (" IS_OF_MAKER ")",
                        "forgetting results", &row));
    row_put_text(&row, target);
    row_put_text(&row, op);
    row_put_i64(&row, version);
    put_maker(&row, maker);
    TAPML_TRY(row_run(&row));
    TAPML_TRY(result_count(store, target, &after));
    *out_count = before - after;
    return TAPML_OK;
}

// The elements go with their rows.
tapml_status result_forget(struct store *store, const char *target)
{
    ASSERT(target);
    return row_forget(store, "DELETE FROM result WHERE target = ?", target);
}

tapml_status result_forget_op(struct store *store, const char *target, const char *op)
{
    ASSERT(target && op);
    struct row row;
    TAPML_TRY(row_begin(store,
                        "DELETE FROM result WHERE target = ?"
                        " AND case_id IN (SELECT id FROM \"case\" WHERE op = ?)",
                        "forgetting results", &row));
    row_put_text(&row, target);
    row_put_text(&row, op);
    return row_run(&row);
}

tapml_status result_list_cases(struct store *store,
                               const char *target,
                               struct arena *arena,
                               int64_t **out_ids,
                               size_t *out_count)
{
    ASSERT(target);
    return row_list_ids(store, "SELECT case_id FROM result WHERE target = ? ORDER BY case_id",
                        target, arena, out_ids, out_count);
}

static tapml_status forget_case(struct store *store, const char *target, int64_t id)
{
    struct row row;
    TAPML_TRY(row_begin(store, "DELETE FROM result WHERE target = ? AND case_id = ?",
                        "forgetting results", &row));
    row_put_text(&row, target);
    row_put_i64(&row, id);
    return row_run(&row);
}

static tapml_status forget_others(struct store *store,
                                  const char *target,
                                  const int64_t *ids,
                                  size_t count,
                                  struct arena *arena,
                                  size_t *out_count)
{
    int64_t *all = NULL;
    size_t all_count = 0, kept = 0;
    TAPML_TRY(result_list_cases(store, target, arena, &all, &all_count));
    *out_count = 0;
    for (size_t i = 0; i < all_count; i++) {
        while (kept < count && ids[kept] < all[i]) {
            kept++;
        }
        if (kept == count || ids[kept] != all[i]) {
            TAPML_TRY(forget_case(store, target, all[i]));
            ++*out_count;
        }
    }
    return TAPML_OK;
}

tapml_status result_forget_others(
    struct store *store, const char *target, const int64_t *ids, size_t count, size_t *out_count)
{
    ASSERT(target && (ids || count == 0));
    struct arena *arena = arena_create();
    const tapml_status status =
        arena ? forget_others(store, target, ids, count, arena, out_count) : status_no_memory();
    arena_destroy(arena);
    return status;
}
