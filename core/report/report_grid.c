// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_grid.h"

#include "base/alloc.h"
#include "report/report_maker.h"
#include "report/report_markup.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// From what one looks at first to what is of no concern.
static const char *const states[] = {"wrong",      "together", "not judged", "unsupported",
                                     "uncompared", "right",    "source"};

size_t report_grid_rank(const char *state)
{
    size_t rank = 0;

    while (strcmp(states[rank], state) != 0) {
        rank++;
    }
    return rank;
}

// The group of an instance is its layer: up to the first part that ends in a number, else the first
// part, else "".
static size_t group_length(const char *instance)
{
    const char *slash = strchr(instance, '/');

    for (const char *at = instance; slash != NULL; at = slash + 1, slash = strchr(at, '/')) {
        const char *dot = memchr(at, '.', (size_t)(slash - at));

        if (dot != NULL && strspn(dot + 1, "0123456789") == (size_t)(slash - dot - 1)) {
            return (size_t)(slash - instance);
        }
    }
    return strcspn(instance, "/") == strlen(instance) ? 0 : strcspn(instance, "/");
}

// The ops of one group and kind as one cell: the most telling state, the worst margin.
struct cell {
    uint32_t instances;
    size_t rank;
    double margin;
};

static void put_cell(struct report_maker *made, json_t *cells, const struct cell *cell)
{
    struct report_maker part = report_maker_begin();

    if (cell->instances == 0) {
        json_decref(part.object);
        made->failed |= json_array_append_new(cells, json_null()) != 0;
        return;
    }
    report_maker_text(&part, "state", states[cell->rank]);
    report_maker_put(&part, "margin", report_maker_margin(cell->margin));
    report_maker_count(&part, "instances", cell->instances);
    report_maker_append(made, cells, &part);
}

static void add_to_cell(const struct report_grid_item *item, struct cell *cell)
{
    const size_t rank = report_grid_rank(item->state);
    const double margin = item->margin;

    cell->rank = cell->instances == 0 || rank < cell->rank ? rank : cell->rank;
    if (!isnan(margin)) {
        cell->margin =
            cell->instances == 0 || isnan(cell->margin) ? margin : fmax(cell->margin, margin);
    } else if (cell->instances == 0) {
        cell->margin = NAN;
    }
    cell->instances++;
}

// A grid under construction.
struct grid {
    const struct report_grid_item *items;
    size_t count;
    const struct report_lines *lines;
    struct report_maker made;
    json_t *rows;
};

static void print_name(const struct grid *grid, size_t begin, size_t end, char *out, size_t size)
{
    const char *first = grid->items[begin].instance;
    const size_t length = group_length(first);

    if (length > 0 || end - begin == 1) {
        (void)snprintf(out, size, "%.*s", length > 0 ? (int)length : 120, first);
    } else {
        (void)snprintf(out, size, "%.60s .. %.60s", first, grid->items[end - 1].instance);
    }
}

// One row: the items `begin` .. `end`.
static void put_row(struct grid *grid, size_t begin, size_t end)
{
    struct cell *cells = alloc_array(grid->lines->count + 1, sizeof(*cells));
    json_t *array = json_array();
    char name[256];
    struct report_maker part = report_maker_begin();

    print_name(grid, begin, end, name, sizeof(name));
    report_maker_text(&part, "name", name);
    grid->made.failed |= cells == NULL;
    for (size_t i = begin; cells != NULL && i < end; i++) {
        size_t line = 0;

        (void)table_find(&grid->lines->index_of, grid->items[i].op, &line);
        add_to_cell(&grid->items[i], &cells[line]);
    }
    for (size_t i = 0; cells != NULL && i < grid->lines->count; i++) {
        put_cell(&grid->made, array, &cells[i]);
    }
    alloc_free(cells);
    report_maker_put(&part, "cells", array);
    report_maker_append(&grid->made, grid->rows, &part);
}

// Whether two instances stand in one group.
static int is_same_group(const char *first, const char *second)
{
    const size_t length = group_length(first);

    return group_length(second) == length && strncmp(first, second, length) == 0;
}

// Layers in the order of the graph; ops that stand outside of any, one after the other, share a
// row.
static void put_rows(struct grid *grid)
{
    size_t begin = 0;

    for (size_t i = 1; i <= grid->count; i++) {
        if (i == grid->count ||
            !is_same_group(grid->items[begin].instance, grid->items[i].instance)) {
            put_row(grid, begin, i);
            begin = i;
        }
    }
}

struct report_maker report_grid_make(const struct report_grid_item *items,
                                     size_t count,
                                     const struct report_lines *lines)
{
    struct grid grid = {.items = items,
                        .count = count,
                        .lines = lines,
                        .made = report_maker_begin(),
                        .rows = json_array()};
    json_t *columns = json_array();

    for (size_t i = 0; i < lines->count; i++) {
        grid.made.failed |=
            json_array_append_new(columns, report_maker_string(lines->items[i].op_name)) != 0;
    }
    put_rows(&grid);
    report_maker_put(&grid.made, "columns", columns);
    report_maker_put(&grid.made, "rows", grid.rows);
    return grid.made;
}

const char *report_grid_worst(const json_t *target, const char *op, double *out_margin)
{
    const json_t *instances = json_object_get(target, "instances");
    const char *worst = NULL;
    double margin = NAN;

    for (size_t i = 0; i < json_array_size(instances); i++) {
        const json_t *instance = json_array_get(instances, i);
        const char *state = report_markup_string(instance, "state");

        if (strcmp(report_markup_string(instance, "op"), op) != 0) {
            continue;
        }
        margin = fmax(margin, report_markup_number(instance, "margin")); // Of one NaN, the other.
        if (worst == NULL || report_grid_rank(state) < report_grid_rank(worst)) {
            worst = state;
        }
    }
    *out_margin = margin;
    return worst;
}
