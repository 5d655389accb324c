// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_invariance.h"

#include "report/report_cells.h"
#include "report/report_markup.h"
#include "verify/invariance_trial.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define COUNT(table_) (sizeof(table_) / sizeof(*(table_)))

// A row, with what its size counts.
struct invariance_item {
    struct invariant_row row;
    const char *unit;
};

static int has_change(const void *item)
{
    return ((const struct invariance_item *)item)->row.size > 0;
}

static const struct report_member members[] = {
    {"op", REPORT_VALUE(struct invariance_item, row.op)},
    {"axis", REPORT_VALUE(struct invariance_item, row.axis)},
    {"verdict", REPORT_VALUE(struct invariance_item, row.verdict)},
    {"tried", REPORT_VALUE(struct invariance_item, row.tried)},
    {"margin", REPORT_VALUE(struct invariance_item, row.margin)},
    {"size", REPORT_VALUE(struct invariance_item, row.size), .is_there = has_change},
    {"unit", REPORT_VALUE(struct invariance_item, unit), .is_there = has_change},
    {"instance", REPORT_VALUE(struct invariance_item, row.instance), .is_there = has_change},
    {"shape", REPORT_VALUE(struct invariance_item, row.shape), .is_there = has_change},
    {"reason", REPORT_VALUE(struct invariance_item, row.reason)},
};

static void print_size(const json_t *item, const char *key, struct text *out)
{
    const int64_t size = report_markup_count(item, key);
    struct report_markup_shorts s;

    REPORT_MARKUP(out, "<td data-n=\"{}\">{} {}</td>", report_cells_sort_key(size, s.a),
                  size > 0 ? report_markup_thousands(size, s.b) : "-",
                  size > 0 ? report_markup_string(item, "unit") : "");
}

static const struct report_cell cells[] = {
    {"operator", 0, "op", report_cells_op_code},    {"axis", 0, "axis", report_cells_text},
    {"verdict", 0, "verdict", report_cells_text},   {"from", 1, "size", print_size},
    {"margin", 1, "margin", report_cells_margin},   {"compared", 1, "tried", report_cells_count},
    {"first at", 0, "instance", report_cells_code}, {"reason", 0, "reason", report_cells_text},
};

static int has_kind(const json_t *item, enum invariance_kind kind)
{
    return strcmp(report_markup_string(item, "verdict"), invariance_trial_kind_name(kind)) == 0;
}

static int is_wrong(const json_t *item)
{
    return has_kind(item, INVARIANCE_WRONG);
}

const struct report_list report_invariance_list = {.members = members,
                                                   .member_count = COUNT(members),
                                                   .cells = cells,
                                                   .cell_count = COUNT(cells),
                                                   .is_wrong = is_wrong};

// Of a name that is none, of a later version, INVARIANCE_AXES.
static enum invariance_axis axis_of(const char *name)
{
    int axis = 0;

    while (axis < INVARIANCE_AXES &&
           strcmp(name, invariance_axis_name((enum invariance_axis)axis)) != 0) {
        axis++;
    }
    return (enum invariance_axis)axis;
}

static const char *unit_of(const char *name)
{
    const enum invariance_axis axis = axis_of(name);

    return axis < INVARIANCE_AXES ? invariance_axis_unit(axis) : "";
}

void report_invariance_put(const struct report_rows *rows, struct report_maker *target)
{
    json_t *array = json_array();

    for (size_t i = 0; i < rows->invariant_count; i++) {
        const struct invariance_item item = {.row = rows->invariants[i],
                                             .unit = unit_of(rows->invariants[i].axis)};
        const struct report_maker part = report_list_make(&report_invariance_list, &item);

        report_maker_append(target, array, &part);
    }
    if (rows->invariant_count > 0) {
        report_maker_put(target, "invariance", array);
    } else {
        json_decref(array);
    }
}

static const json_t *list_of(const json_t *target)
{
    return json_object_get(target, "invariance");
}

size_t report_invariance_count_wrong(const json_t *target)
{
    const json_t *items = list_of(target);
    size_t wrong = 0;

    for (size_t i = 0; i < json_array_size(items); i++) {
        wrong += is_wrong(json_array_get(items, i));
    }
    return wrong;
}

// "rows: tapml.linear is wrong from 8 rows on, first at layers.0/attn/q_proj (rows=8): ..."
static void print_item(const json_t *item, struct text *out)
{
    const char *reason = report_markup_string(item, "reason");
    const enum invariance_axis axis = axis_of(report_markup_string(item, "axis"));
    const int is_axis = axis < INVARIANCE_AXES;

    text_format(out, "%s: %s is %s %s%" PRId64 "%s, first at %s (%s)%s%s",
                report_markup_string(item, "axis"), report_markup_string(item, "op"),
                report_markup_string(item, "verdict"), is_axis ? invariance_axis_before(axis) : "",
                report_markup_count(item, "size"), is_axis ? invariance_axis_behind(axis) : "",
                report_markup_string(item, "instance"), report_markup_string(item, "shape"),
                *reason != '\0' ? ": " : "", reason);
}

void report_invariance_print_first(const json_t *target, struct text *out)
{
    const json_t *items = list_of(target);

    for (size_t i = 0; i < json_array_size(items); i++) {
        if (is_wrong(json_array_get(items, i))) {
            print_item(json_array_get(items, i), out);
            return;
        }
    }
}

static size_t count_kind(const json_t *items, const char *axis, enum invariance_kind kind)
{
    size_t count = 0;

    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);

        count += has_kind(item, kind) && strcmp(report_markup_string(item, "axis"), axis) == 0;
    }
    return count;
}

// "run 12 equal bits; rows 8 equal bits, 3 within limits", without what was not tried.
static void print_counts(const json_t *items, struct text *out)
{
    const char *between = "";

    for (int i = 0; i < INVARIANCE_AXES; i++) {
        const char *axis = invariance_axis_name((enum invariance_axis)i);
        const char *sign = " ";
        int is_first = 1;

        for (int kind = INVARIANCE_EQUAL; kind <= INVARIANCE_WRONG; kind++) {
            const size_t count = count_kind(items, axis, (enum invariance_kind)kind);

            if (count > 0) {
                text_format(out, "%s%s%s%zu %s", is_first ? between : "", is_first ? axis : "",
                            sign, count, invariance_trial_kind_name((enum invariance_kind)kind));
                between = "; ";
                sign = ", ";
                is_first = 0;
            }
        }
    }
    text_append(out, *between == '\0' ? "nothing could be tried" : "");
}

tapml_status report_invariance_print(const json_t *target)
{
    const json_t *items = list_of(target);
    struct text text;

    text_init(&text);
    if (items != NULL) {
        text_append(&text, "invariance: ");
        print_counts(items, &text);
        text_append(&text, "\n");
    }
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);

        if (has_kind(item, INVARIANCE_WITHIN) || is_wrong(item)) {
            text_append(&text, "  ");
            print_item(item, &text);
            text_append(&text, "\n");
        }
    }
    return text_print(&text);
}

void report_invariance_print_html(const json_t *target, struct text *out)
{
    const json_t *items = list_of(target);

    if (items == NULL) {
        return;
    }
    text_append(out,
                "<h2>Invariance</h2>\n<p class=\"soft\">Whether the bits of a result depend on how "
                "often the operator was called, on other rows, on how tokens are divided among "
                "calls, or on another busy queue. Where bits differ, all that was computed is "
                "judged as any case is: within its limits, or wrong.</p>\n");
    report_list_print_table(&report_invariance_list,
                            &(struct report_list_table){.label = "Invariance", .classes = "wrap"},
                            items, out);
}
