// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_declared.h"

#include "report/report_cells.h"
#include "report/report_markup.h"
#include "store/declaration.h"

#include <string.h>

// An op that the target declares something of.
struct declared_op {
    const char *op, *form, *verdict;
    double margin, cost;
};

static const struct report_member members[] = {
    {"op", REPORT_VALUE(struct declared_op, op)},
    {"form", REPORT_VALUE(struct declared_op, form)},
    {"verdict", REPORT_VALUE(struct declared_op, verdict)},
    {"margin", REPORT_VALUE(struct declared_op, margin)},
    {"cost", REPORT_VALUE(struct declared_op, cost)},
};

static const struct report_cell cells[] = {
    {"operator", 0, "op", report_cells_op_code},
    {"declared arithmetic", 0, "form", report_cells_text},
    {"as declared", 0, "verdict", report_cells_text},
    {"margin", 1, "margin", report_cells_number},
    {"error against f32", 1, "cost", report_cells_number},
};

static const struct report_word words[] = {
    {"op", -24, "op", report_cells_word_text},
    {"declared arithmetic", -40, "form", report_cells_word_text},
    {"as declared", -11, "verdict", report_cells_word_text},
    {"margin", 9, "margin", report_cells_word_number},
    {"error to f32", 12, "cost", report_cells_word_number},
};

static int is_wrong(const json_t *item)
{
    return strcmp(report_markup_string(item, "verdict"), "wrong") == 0;
}

const struct report_list report_declared_list = {.members = members,
                                                 .member_count =
                                                     sizeof(members) / sizeof(members[0]),
                                                 .cells = cells,
                                                 .cell_count = sizeof(cells) / sizeof(cells[0]),
                                                 .words = words,
                                                 .word_count = sizeof(words) / sizeof(words[0]),
                                                 .is_wrong = is_wrong};

static uint32_t version_of(const struct report_rows *rows, const char *op)
{
    const struct verdict_list *list = &rows->verdicts;

    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].op_name, op) == 0) {
            return list->items[i].op_version;
        }
    }
    return 0; // Of no op.
}

void report_declared_put(const struct report_rows *rows,
                         const struct report_lines *lines,
                         struct report_maker *target)
{
    json_t *array = json_array();
    size_t count = 0;

    for (size_t i = 0; i < lines->count; i++) {
        const struct report_line *line = &lines->items[i];
        struct declaration found = {.target = rows->target.name,
                                    .op = line->op_name,
                                    .version = version_of(rows, line->op_name)};

        if (!declaration_find(rows->store, &found)) {
            continue;
        }
        const struct declared_op item = {
            .op = line->op_name,
            .form = found.form,
            .verdict = line->failed + line->derived_failed > 0 ? "wrong" : "right",
            .margin = line->margin,
            .cost = found.cost};
        const struct report_maker part = report_list_make(&report_declared_list, &item);

        report_maker_append(target, array, &part);
        count++;
    }
    if (count > 0) {
        report_maker_put(target, "declared", array);
    } else {
        json_decref(array);
    }
}

void report_declared_print(const json_t *target, int is_coloured)
{
    const json_t *items = json_object_get(target, "declared");

    if (items != NULL) {
        report_list_print_lines(&report_declared_list, items, is_coloured);
    }
}

void report_declared_print_html(const json_t *target, struct text *out)
{
    const json_t *items = json_object_get(target, "declared");

    if (items == NULL) {
        return;
    }
    text_append(out,
                "<h2>Declared arithmetic</h2>\n<p class=\"soft\">The target says that it computes "
                "these operators with fewer digits. They were judged by that; the last column says "
                "what it costs, as a relative error of what is right with these digits.</p>\n");
    report_list_print_table(
        &report_declared_list,
        &(struct report_list_table){.label = "Declared arithmetic", .classes = "wrap"}, items, out);
}
