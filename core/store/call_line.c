// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/call_line.h"

#include "base/assert.h"
#include "base/text.h"
#include "store/prompt.h"
#include "store/row.h"
#include "store/store.h"

// A clause RETURNING makes SQLite build a table for each statement, and OR REPLACE makes it copy
// each page that the statement changes first. A run writes a line for each of its calls, so neither
// is used here: together they took more than half of the time of a line.

static tapml_status
write_statistic(struct store *store, int64_t call_id, const struct call_statistics *statistics)
{
    struct row row;
    TAPML_TRY(row_begin(store,
                        "INSERT INTO statistic VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                        " ON CONFLICT (call_id, param) DO UPDATE SET least = excluded.least,"
                        " largest = excluded.largest, mean_square = excluded.mean_square,"
                        " count = excluded.count, non_finite = excluded.non_finite,"
                        " kinds = excluded.kinds",
                        "writing statistics", &row));
    row_put_i64(&row, call_id);
    row_put_text(&row, statistics->param);
    row_put_f64(&row, statistics->least);
    row_put_f64(&row, statistics->largest);
    row_put_f64(&row, statistics->mean_square);
    row_put_i64(&row, (int64_t)statistics->count);
    row_put_i64(&row, (int64_t)statistics->non_finite);
    row_put_i64(&row, statistics->non_finite_kinds);
    return row_run(&row);
}

// Which call a line is of: four parameters.
static void put_place(struct row *row, const struct call_line *call, const char *hash)
{
    row_put_text(row, call->instance);
    row_put_text(row, hash);
    row_put_i64(row, call->step);
    row_put_i64(row, call->part);
}

static void put_rest(struct row *row, const struct call_line *call)
{
    row_put_text(row, call->phase);
    row_put_text(row, call->shape_class);
    row_put_i64(row, (int64_t)call->time_ns);
    row_put_i64(row, call->is_kept);
}

// The id of the new row, or 0: there is a line of this call.
static tapml_status
insert_call(struct store *store, const struct call_line *call, const char *hash, int64_t *out_id)
{
    sqlite3 *connection = store_connection(store);
    struct row row;
    TAPML_TRY(row_begin(store,
                        "INSERT INTO call (instance, prompt, step, part, phase, shape_class,"
                        " time_ns, kept) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                        " ON CONFLICT (instance, prompt, step, part) DO NOTHING",
                        "writing a call", &row));
    put_place(&row, call, hash);
    put_rest(&row, call);
    TAPML_TRY(row_run(&row));
    *out_id = sqlite3_changes(connection) > 0 ? sqlite3_last_insert_rowid(connection) : 0;
    return TAPML_OK;
}

// A step that is run again, after a run was interrupted in it.
static tapml_status
replace_call(struct store *store, const struct call_line *call, const char *hash, int64_t *out_id)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store,
                        "UPDATE call SET phase = ?5, shape_class = ?6, time_ns = ?7,"
                        " kept = max(kept, ?8)"
                        " WHERE instance = ?1 AND prompt = ?2 AND step = ?3 AND part = ?4"
                        " RETURNING id",
                        "replacing a call", &row));
    put_place(&row, call, hash);
    put_rest(&row, call);
    TAPML_TRY(row_next(&row, &has));
    *out_id = has ? row_i64(&row, 0) : 0;
    if (has) {
        row_end(&row);
    }
    return TAPML_OK;
}

tapml_status call_line_add(struct store *store, const struct call_line *call)
{
    char hash[HASH_TEXT];
    int64_t id = 0;
    ASSERT(call->output_count <= CALL_LINE_OUTPUTS_MAX);
    hash_text(call->prompt, hash);
    TAPML_TRY(prompt_begin(store, call->prompt));
    TAPML_TRY(insert_call(store, call, hash, &id));
    if (id == 0) {
        TAPML_TRY(replace_call(store, call, hash, &id));
    }
    for (uint32_t i = 0; i < call->output_count; i++) {
        TAPML_TRY(write_statistic(store, id, &call->outputs[i]));
    }
    return TAPML_OK;
}

// A call while its rows come, one for each output: texts of a row end with it, so they are copied.
struct gathered {
    int64_t id; // 0: none yet.
    struct call_line call;
    struct text instance, phase, shape_class;
    struct text params[CALL_LINE_OUTPUTS_MAX];
};

static void gathered_init(struct gathered *gathered)
{
    *gathered = (struct gathered){0};
    text_init(&gathered->instance);
    text_init(&gathered->phase);
    text_init(&gathered->shape_class);
    for (int i = 0; i < CALL_LINE_OUTPUTS_MAX; i++) {
        text_init(&gathered->params[i]);
    }
}

static void gathered_release(struct gathered *gathered)
{
    text_release(&gathered->instance);
    text_release(&gathered->phase);
    text_release(&gathered->shape_class);
    for (int i = 0; i < CALL_LINE_OUTPUTS_MAX; i++) {
        text_release(&gathered->params[i]);
    }
}

static tapml_status copy_column(struct row *row, int column, struct text *text)
{
    text_clear(text);
    text_append(text, row_text(row, column));
    return text_status(text);
}

static tapml_status begin_call(struct row *row, struct gathered *gathered)
{
    TAPML_TRY(copy_column(row, 1, &gathered->instance));
    TAPML_TRY(copy_column(row, 5, &gathered->phase));
    TAPML_TRY(copy_column(row, 6, &gathered->shape_class));
    gathered->id = row_i64(row, 0);
    gathered->call = (struct call_line){
        .id = gathered->id,
        .instance = gathered->instance.data,
        .step = row_i64(row, 3),
        .part = row_i64(row, 4),
        .phase = gathered->phase.data,
        .shape_class = gathered->shape_class.data,
        .time_ns = (uint64_t)row_i64(row, 7),
        .is_kept = row_i64(row, 8) != 0,
    };
    if (!hash_parse(row_text(row, 2), &gathered->call.prompt)) {
        return status_fail(TAPML_INVALID, "call %lld has no prompt", (long long)gathered->id);
    }
    return TAPML_OK;
}

static tapml_status add_output(struct row *row, struct gathered *gathered)
{
    struct call_line *call = &gathered->call;
    if (row_is_null(row, 9)) {
        return TAPML_OK;
    }
    if (call->output_count == CALL_LINE_OUTPUTS_MAX) {
        return status_fail(TAPML_INVALID, "call %lld has more than %d outputs",
                           (long long)gathered->id, CALL_LINE_OUTPUTS_MAX);
    }
    struct text *param = &gathered->params[call->output_count];
    TAPML_TRY(copy_column(row, 9, param));
    call->outputs[call->output_count++] = (struct call_statistics){
        .param = param->data,
        .least = row_f64(row, 10),
        .largest = row_f64(row, 11),
        .mean_square = row_f64(row, 12),
        .count = (uint64_t)row_i64(row, 13),
        .non_finite = (uint64_t)row_i64(row, 14),
        .non_finite_kinds = (uint32_t)row_i64(row, 15),
    };
    return TAPML_OK;
}

// Takes a row: a new call ends the one before.
static tapml_status
visit_row(struct row *row, struct gathered *gathered, call_line_visit_fn visit, void *user)
{
    if (row_i64(row, 0) != gathered->id) {
        if (gathered->id != 0) {
            visit(user, &gathered->call);
        }
        TAPML_TRY(begin_call(row, gathered));
    }
    return add_output(row, gathered);
}

static tapml_status
visit_rows(struct row *row, struct gathered *gathered, call_line_visit_fn visit, void *user)
{
    int has = 0;
    TAPML_TRY(row_next(row, &has));
    while (has) {
        const tapml_status status = visit_row(row, gathered, visit, user);
        if (status != TAPML_OK) {
            row_end(row);
            return status_explain(status, "store '%s'", store_path(row->store));
        }
        TAPML_TRY(row_next(row, &has));
    }
    if (gathered->id != 0) {
        visit(user, &gathered->call);
    }
    return TAPML_OK;
}

tapml_status call_line_visit(struct store *store, call_line_visit_fn visit, void *user)
{
    struct row row;
    TAPML_TRY(
        row_begin(store,
                  "SELECT id, instance, prompt, step, part, phase, shape_class, time_ns, kept,"
                  " param, least, largest, mean_square, count, non_finite, kinds"
                  " FROM call LEFT JOIN statistic ON call_id = id ORDER BY id, param",
                  "reading calls", &row));
    struct gathered gathered;
    gathered_init(&gathered);
    const tapml_status status = visit_rows(&row, &gathered, visit, user);
    gathered_release(&gathered);
    return status;
}
