// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/usage.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row_list.h"
#include "store/run_id.h"
#include "store/store.h"

#include <math.h>
#include <stdio.h>

static const char DOING[] = "noting what a place has cost";

// A number that is not known is NULL.
static void put_known(struct row *row, int64_t value)
{
    if (value < 0) {
        row_put_null(row);
    } else {
        row_put_i64(row, value);
    }
}

tapml_status usage_write(struct store *store, const struct usage_row *row)
{
    const struct usage_cases *cases = &row->cases;
    const int64_t numbers[] = {cases->count,    cases->limits, cases->whole_ns, cases->busy_ns,
                               cases->calls_ns, cases->bytes,  cases->firsts,   cases->firsts_ns};
    struct row out;
    const char *run = NULL;
    ASSERT(row->place && row->device && row->driver && row->held_ns >= 0 && row->busy_ns >= 0);
    TAPML_TRY(run_id(store, &run));
    TAPML_TRY(row_begin(store,
                        "INSERT OR REPLACE INTO usage"
                        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        DOING, &out));
    row_put_text(&out, run);
    row_put_text(&out, row->place);
    row_put_text(&out, row->device);
    row_put_text(&out, row->driver);
    row_put_f64(&out, row->rate.per_hour);
    row_put_text(&out, row->rate.currency);
    row_put_i64(&out, row->began_s);
    put_known(&out, row->start_ns);
    row_put_i64(&out, row->held_ns);
    row_put_i64(&out, row->busy_ns);
    put_known(&out, row->bytes);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        row_put_i64(&out, numbers[i]);
    }
    return row_run(&out);
}

static int64_t known(struct row *row, int column)
{
    return row_is_null(row, column) ? -1 : row_i64(row, column);
}

// A store may come from someone else: times and counts below 0 count as none.
static int64_t counted(struct row *row, int column)
{
    const int64_t value = row_i64(row, column);
    return value > 0 ? value : 0;
}

static struct rate take_rate(struct row *row, int amount, int currency)
{
    struct rate rate = {.per_hour = row_f64(row, amount)};
    if (!isfinite(rate.per_hour) || rate.per_hour < 0) {
        return rate_none();
    }
    (void)snprintf(rate.currency, sizeof(rate.currency), "%s", row_text(row, currency));
    return rate;
}

static int take(struct arena *arena, struct row *row, void *out_item)
{
    struct usage_row *item = out_item;
    *item = (struct usage_row){.run = arena_text(arena, row_text(row, 0)),
                               .place = arena_text(arena, row_text(row, 1)),
                               .device = arena_text(arena, row_text(row, 2)),
                               .driver = arena_text(arena, row_text(row, 3)),
                               .rate = take_rate(row, 4, 5),
                               .began_s = row_i64(row, 6),
                               .start_ns = known(row, 7),
                               .held_ns = counted(row, 8),
                               .busy_ns = counted(row, 9),
                               .bytes = known(row, 10),
                               .cases = {.count = counted(row, 11),
                                         .limits = counted(row, 12),
                                         .whole_ns = counted(row, 13),
                                         .busy_ns = counted(row, 14),
                                         .calls_ns = counted(row, 15),
                                         .bytes = counted(row, 16),
                                         .firsts = counted(row, 17),
                                         .firsts_ns = counted(row, 18)}};
    return item->run && item->place && item->device && item->driver;
}

tapml_status usage_list(struct store *store,
                        const char *place,
                        struct arena *arena,
                        struct usage_row **out_rows,
                        size_t *out_count)
{
    static const char of_all[] = "SELECT * FROM usage ORDER BY place, began_s, run";
    static const char of_one[] = "SELECT * FROM usage WHERE place = ? ORDER BY began_s, run";
    void *rows = NULL;
    TAPML_TRY(row_list_read(store,
                            &(struct row_list){.sql = place ? of_one : of_all,
                                               .key = place,
                                               .item_bytes = sizeof(**out_rows),
                                               .take = take},
                            arena, &rows, out_count));
    *out_rows = rows;
    return TAPML_OK;
}

tapml_status usage_count_results(struct store *store,
                                 const char *target,
                                 int64_t *out_count,
                                 int64_t *out_calls_ns)
{
    const char *run = store_memory(store)->run; // Without a row yet there are no results.
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store,
                        "SELECT count(*), sum(time_ns) FROM result WHERE target = ? AND run = ?",
                        DOING, &row));
    row_put_text(&row, target);
    row_put_text(&row, run);
    TAPML_TRY(row_next(&row, &has));
    ASSERT(has); // An aggregate has one row.
    *out_count = row_i64(&row, 0);
    *out_calls_ns = row_i64(&row, 1);
    row_end(&row);
    return TAPML_OK;
}

tapml_status usage_count_limits(struct store *store, int64_t *out_count)
{
    return row_count(store, "SELECT count(*) FROM \"limit\"", NULL, out_count);
}
