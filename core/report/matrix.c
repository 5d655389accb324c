// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/matrix.h"

#include "base/alloc.h"
#include "base/table.h"
#include "base/text.h"
#include "report/report_grid.h"
#include "report/report_maker.h"
#include "report/report_markup.h"
#include "report/report_verdict.h"

#include <math.h>
#include <string.h>

const char matrix_by_words[] = "target device";

enum { GIVEN_UP = -1 };

// A row of a model is an operator, or one of these, which come first.
static const char *const first_rows[] = {"verdict", "end to end"};
enum { ROW_VERDICT, ROW_END_TO_END, FIRST_ROWS };

struct matrix_cell {
    const char *state; // Of a report, or static; NULL: no run has it.
    double margin;     // NaN where there is none.
    size_t run;
    int target;      // In its report; or GIVEN_UP.
    json_t *earlier; // Runs that had it before; or NULL.
};

struct matrix_column {
    const json_t *target; // The last one in it.
};

// A model while the matrix is made. Texts are those of reports.
struct matrix_model {
    const json_t *model;
    struct table column_of, row_of;
    struct matrix_column *columns;
    const char **rows; // Operators, behind those of `first_rows`.
    size_t column_count, column_capacity;
    size_t row_count, row_capacity;
    struct matrix_cell *cells; // Row by row.
};

struct matrix_work {
    const struct matrix_options *options;
    struct table model_of;
    struct matrix_model *models;
    size_t model_count, model_capacity;
    struct text name; // What something is found by, while it is looked for.
};

// -- What there is -----------------------------------------------------------------------------

// The index of what `work->name` names, which is the next one where the table lacks it.
static tapml_status
find_name(struct matrix_work *work, struct table *table, size_t next, size_t *out_index)
{
    TAPML_TRY(text_status(&work->name));
    *out_index = next;
    return table_find(table, work->name.data, out_index) ? TAPML_OK
                                                         : table_set(table, work->name.data, next);
}

// A model is the same where its name and its bytes are.
static tapml_status
find_model(struct matrix_work *work, const json_t *report, struct matrix_model **out_model)
{
    const json_t *model = json_object_get(report, "model");
    void *models = work->models;
    size_t index = 0;

    text_clear(&work->name);
    text_format(&work->name, "%s\x1f%s", report_markup_string(model, "name"),
                report_markup_string(model, "hash"));
    TAPML_TRY(find_name(work, &work->model_of, work->model_count, &index));
    if (index == work->model_count) {
        if (!alloc_grow(&models, &work->model_capacity, index, sizeof(*work->models))) {
            return status_no_memory();
        }
        work->models = models;
        work->models[work->model_count++] = (struct matrix_model){.model = model};
    }
    *out_model = &work->models[index];
    return TAPML_OK;
}

// A device is known by component, id and name; of a target that was given up the run's file alone
// knows what it was.
static void name_column(struct matrix_work *work, const json_t *target)
{
    const char *component = report_markup_string(target, "component");

    text_clear(&work->name);
    if (work->options->by == MATRIX_BY_TARGET) {
        text_append(&work->name, report_markup_string(target, "name"));
    } else if (*component == '\0') {
        text_append(&work->name, report_markup_string(target, "backend"));
    } else {
        text_format(&work->name, "%s:%s\x1f%s", component, report_markup_string(target, "device"),
                    report_markup_string(target, "device_name"));
    }
}

static tapml_status find_column(struct matrix_work *work,
                                struct matrix_model *model,
                                const json_t *target,
                                size_t *out_column)
{
    void *columns = model->columns;

    name_column(work, target);
    TAPML_TRY(find_name(work, &model->column_of, model->column_count, out_column));
    if (*out_column == model->column_count) {
        if (!alloc_grow(&columns, &model->column_capacity, *out_column, sizeof(*model->columns))) {
            return status_no_memory();
        }
        model->columns = columns;
        model->columns[model->column_count++] = (struct matrix_column){target};
    }
    return TAPML_OK;
}

static tapml_status
find_row(struct matrix_work *work, struct matrix_model *model, const char *op, size_t *out_row)
{
    void *rows = model->rows;
    size_t index = 0;

    text_clear(&work->name);
    text_append(&work->name, op);
    TAPML_TRY(find_name(work, &model->row_of, model->row_count, &index));
    if (index == model->row_count) {
        if (!alloc_grow(&rows, &model->row_capacity, index, sizeof(*model->rows))) {
            return status_no_memory();
        }
        model->rows = rows;
        model->rows[model->row_count++] = op;
    }
    *out_row = FIRST_ROWS + index;
    return TAPML_OK;
}

// Columns and rows of a run, in its order.
static tapml_status note_run(struct matrix_work *work, const json_t *report)
{
    const json_t *targets = json_object_get(report, "targets");
    const json_t *given_up = json_object_get(report, "given_up");
    struct matrix_model *model = NULL;
    size_t index = 0;

    TAPML_TRY(find_model(work, report, &model));
    for (size_t i = 0; i < json_array_size(targets); i++) {
        const json_t *target = json_array_get(targets, i);
        const json_t *ops = json_object_get(target, "ops");

        TAPML_TRY(find_column(work, model, target, &index));
        for (size_t k = 0; k < json_array_size(ops); k++) {
            TAPML_TRY(
                find_row(work, model, report_markup_string(json_array_get(ops, k), "op"), &index));
        }
    }
    for (size_t i = 0; i < json_array_size(given_up); i++) {
        TAPML_TRY(find_column(work, model, json_array_get(given_up, i), &index));
    }
    return TAPML_OK;
}

// -- Cells -------------------------------------------------------------------------------------

// What a run says takes the place of what one before it said.
static tapml_status
put_cell(struct matrix_model *model, size_t row, size_t column, const struct matrix_cell *said)
{
    struct matrix_cell *cell = &model->cells[row * model->column_count + column];

    if (said->state == NULL) {
        return TAPML_OK;
    }
    if (cell->state != NULL) {
        cell->earlier = cell->earlier != NULL ? cell->earlier : json_array();
        if (json_array_append_new(cell->earlier, json_integer((json_int_t)cell->run)) != 0) {
            return status_no_memory();
        }
    }
    json_t *earlier = cell->earlier;

    *cell = *said;
    cell->earlier = earlier;
    return TAPML_OK;
}

static const char *state_of_model(const json_t *target)
{
    static const char *const states[] = {[REPORT_MODEL_AGREES] = "right",
                                         [REPORT_MODEL_DIVERGES] = "wrong",
                                         [REPORT_MODEL_NOT_JUDGED] = "not judged"};

    return states[report_verdict_model(target)];
}

static tapml_status put_target(struct matrix_work *work,
                               struct matrix_model *model,
                               const json_t *target,
                               struct matrix_cell said)
{
    const json_t *ops = json_object_get(target, "ops");
    size_t column = 0, row = 0;

    TAPML_TRY(find_column(work, model, target, &column));
    model->columns[column].target = target;
    said.state = report_markup_string(target, "verdict");
    said.margin = NAN;
    TAPML_TRY(put_cell(model, ROW_VERDICT, column, &said));
    said.state = state_of_model(target);
    said.margin = report_markup_number(json_object_get(target, "end_to_end"), "margin");
    TAPML_TRY(put_cell(model, ROW_END_TO_END, column, &said));
    for (size_t i = 0; i < json_array_size(ops); i++) {
        const char *op = report_markup_string(json_array_get(ops, i), "op");

        TAPML_TRY(find_row(work, model, op, &row));
        said.state = report_grid_worst(target, op, &said.margin);
        TAPML_TRY(put_cell(model, row, column, &said));
    }
    return TAPML_OK;
}

static tapml_status put_run(struct matrix_work *work, size_t run)
{
    const json_t *report = work->options->runs[run].report;
    const json_t *targets = json_object_get(report, "targets");
    const json_t *given_up = json_object_get(report, "given_up");
    struct matrix_model *model = NULL;
    size_t column = 0;

    TAPML_TRY(find_model(work, report, &model));
    for (size_t i = 0; i < json_array_size(targets); i++) {
        TAPML_TRY(put_target(work, model, json_array_get(targets, i),
                             (struct matrix_cell){.run = run, .target = (int)i}));
    }
    for (size_t i = 0; i < json_array_size(given_up); i++) {
        const struct matrix_cell said = {
            .state = "given up", .margin = NAN, .run = run, .target = GIVEN_UP};

        TAPML_TRY(find_column(work, model, json_array_get(given_up, i), &column));
        TAPML_TRY(put_cell(model, ROW_VERDICT, column, &said));
    }
    return TAPML_OK;
}

static tapml_status fill(struct matrix_work *work)
{
    for (size_t i = 0; i < work->options->count; i++) {
        TAPML_TRY(note_run(work, work->options->runs[i].report));
    }
    for (size_t i = 0; i < work->model_count; i++) {
        struct matrix_model *model = &work->models[i];

        model->cells = alloc_array((FIRST_ROWS + model->row_count) * model->column_count + 1,
                                   sizeof(*model->cells));
        if (model->cells == NULL) {
            return status_no_memory();
        }
    }
    for (size_t i = 0; i < work->options->count; i++) {
        TAPML_TRY(put_run(work, i));
    }
    return TAPML_OK;
}

// -- The document ------------------------------------------------------------------------------

static void put_link(struct report_maker *part, const char *link, int target)
{
    struct text text;

    text_init(&text);
    if (link != NULL) {
        text_append(&text, link);
    }
    if (link != NULL && target != GIVEN_UP) {
        text_format(&text, "#target-%d", target + 1); // As report/report_html_target.h numbers.
    }
    part->failed |= text.failed;
    report_maker_put(part, "link", link != NULL ? report_maker_string(text.data) : json_null());
    text_release(&text);
}

static void add_cell(struct matrix_work *work,
                     struct report_maker *made,
                     json_t *cells,
                     struct matrix_cell *cell)
{
    struct report_maker part = report_maker_begin();

    if (cell->state == NULL) {
        json_decref(part.object);
        made->failed |= json_array_append_new(cells, json_null()) != 0;
        return;
    }
    report_maker_text(&part, "state", cell->state);
    report_maker_put(&part, "margin", report_maker_margin(cell->margin));
    report_maker_count(&part, "run", cell->run);
    put_link(&part, work->options->runs[cell->run].link, cell->target);
    report_maker_put(&part, "earlier", cell->earlier != NULL ? cell->earlier : json_array());
    cell->earlier = NULL; // Taken over.
    report_maker_append(made, cells, &part);
}

static void add_row(struct matrix_work *work,
                    struct report_maker *made,
                    json_t *rows,
                    struct matrix_model *model,
                    size_t row)
{
    struct report_maker part = report_maker_begin();
    json_t *cells = json_array();
    const int is_op = row >= FIRST_ROWS;

    report_maker_text(&part, "what", is_op ? "op" : first_rows[row]);
    if (is_op) {
        report_maker_text(&part, "op", model->rows[row - FIRST_ROWS]);
    }
    report_maker_put(&part, "cells", cells);
    for (size_t i = 0; i < model->column_count; i++) {
        add_cell(work, &part, cells, &model->cells[row * model->column_count + i]);
    }
    report_maker_append(made, rows, &part);
}

static void add_column(struct report_maker *made, json_t *columns, const json_t *target)
{
    static const char *const keys[] = {"name",   "backend",     "component",
                                       "device", "device_name", "driver"};
    struct report_maker part = report_maker_begin();

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        report_maker_text(&part, keys[i], report_markup_string(target, keys[i]));
    }
    report_maker_append(made, columns, &part);
}

static void
add_model(struct matrix_work *work, struct report_maker *made, struct matrix_model *model)
{
    static const char *const keys[] = {"name", "hash", "architecture"};
    struct report_maker part = report_maker_begin();
    json_t *columns = json_array(), *rows = json_array();

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        report_maker_text(&part, keys[i], report_markup_string(model->model, keys[i]));
    }
    report_maker_put(&part, "columns", columns);
    report_maker_put(&part, "rows", rows);
    for (size_t i = 0; i < model->column_count; i++) {
        add_column(&part, columns, model->columns[i].target);
    }
    for (size_t i = 0; i < FIRST_ROWS + model->row_count; i++) {
        add_row(work, &part, rows, model, i);
    }
    report_maker_append(made, json_object_get(made->object, "models"), &part);
}

static void add_run(struct report_maker *made, const struct matrix_run *run)
{
    const json_t *of_run = json_object_get(run->report, "run");
    struct report_maker part = report_maker_begin();

    report_maker_text(&part, "name", run->name);
    put_link(&part, run->link, GIVEN_UP);
    report_maker_text(&part, "verdict", report_markup_string(run->report, "verdict"));
    report_maker_text(&part, "model",
                      report_markup_string(json_object_get(run->report, "model"), "name"));
    report_maker_text(&part, "source",
                      report_markup_string(json_object_get(run->report, "source"), "backend"));
    report_maker_text(&part, "host", report_markup_string(of_run, "host"));
    report_maker_append(made, json_object_get(made->object, "runs"), &part);
}

static tapml_status make(struct matrix_work *work, struct report_maker *made)
{
    TAPML_TRY(fill(work));
    report_maker_text(made, "format", "tapml.matrix/1");
    report_maker_text(made, "by", work->options->by == MATRIX_BY_TARGET ? "target" : "device");
    report_maker_put(made, "runs", json_array());
    report_maker_put(made, "models", json_array());
    TAPML_TRY(report_maker_finish(made));
    for (size_t i = 0; i < work->options->count; i++) {
        add_run(made, &work->options->runs[i]);
    }
    for (size_t i = 0; i < work->model_count; i++) {
        add_model(work, made, &work->models[i]);
    }
    return report_maker_finish(made);
}

static void release_model(struct matrix_model *model)
{
    const size_t count =
        model->cells != NULL ? (FIRST_ROWS + model->row_count) * model->column_count : 0;

    for (size_t i = 0; i < count; i++) {
        json_decref(model->cells[i].earlier);
    }
    table_release(&model->column_of);
    table_release(&model->row_of);
    alloc_free(model->columns);
    alloc_free(model->rows);
    alloc_free(model->cells);
}

tapml_status matrix_create(const struct matrix_options *options, json_t **out_matrix)
{
    struct matrix_work work = {.options = options};
    struct report_maker made = report_maker_begin();

    text_init(&work.name);
    const tapml_status status = make(&work, &made);

    for (size_t i = 0; i < work.model_count; i++) {
        release_model(&work.models[i]);
    }
    alloc_free(work.models);
    table_release(&work.model_of);
    text_release(&work.name);
    if (status != TAPML_OK) {
        json_decref(made.object);
        return status;
    }
    *out_matrix = made.object;
    return TAPML_OK;
}
