// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_lines.h"

#include "base/alloc.h"
#include "store/call_line.h"

#include <math.h>
#include <string.h>

void report_lines_init(struct report_lines *lines)
{
    *lines = (struct report_lines){.items = NULL};
    table_init(&lines->index_of);
    table_init(&lines->instance_of);
}

void report_lines_release(struct report_lines *lines)
{
    table_release(&lines->index_of);
    table_release(&lines->instance_of);
    alloc_free(lines->items);
}

static tapml_status find_line(struct report_lines *lines, const char *op_name, size_t *out_index)
{
    void *items = lines->items;

    if (table_find(&lines->index_of, op_name, out_index)) {
        return TAPML_OK;
    }
    if (!alloc_grow(&items, &lines->capacity, lines->count, sizeof(*lines->items))) {
        return status_no_memory();
    }
    lines->items = items;
    lines->items[lines->count] = (struct report_line){.op_name = op_name, .class_ = ""};
    *out_index = lines->count;
    return table_set(&lines->index_of, op_name, lines->count++);
}

tapml_status report_lines_add_verdicts(struct report_lines *lines,
                                       const struct verdict_list *verdicts)
{
    for (size_t i = 0; i < verdicts->count; i++) {
        const struct verdict *verdict = &verdicts->items[i];
        size_t index = 0;

        TAPML_TRY(find_line(lines, verdict->op_name, &index));
        struct report_line *line = &lines->items[index];

        line->cases++;
        line->target_ns += verdict->time_ns;
        line->passed += verdict->kind == VERDICT_PASS;
        line->failed += verdict->kind == VERDICT_FAIL || verdict->kind == VERDICT_ERROR;
        line->unsupported += verdict->kind == VERDICT_UNSUPPORTED;
        line->skipped += verdict->kind == VERDICT_SKIPPED;
        line->stale += verdict->kind == VERDICT_STALE;
        if (!isnan(verdict->margin) && verdict->kind != VERDICT_STALE) {
            line->margin = fmax(line->margin, verdict->margin);
        }
    }
    for (size_t i = 0; i < verdicts->derived_count; i++) {
        size_t index = 0;

        TAPML_TRY(find_line(lines, verdicts->derived[i].op_name, &index));
        lines->items[index].derived_failed += verdict_count_failed(&verdicts->derived[i], 1);
    }
    return TAPML_OK;
}

static void add_source_call(void *user, const struct call_line *call)
{
    struct report_lines *lines = user;
    size_t index = 0;

    if (table_find(&lines->instance_of, call->instance, &index)) {
        lines->items[index].source_ns += call->time_ns;
        lines->items[index].source_calls++;
    }
}

tapml_status report_lines_add_run(struct report_lines *lines, const struct report_rows *rows)
{
    for (size_t i = 0; i < rows->instance_count; i++) {
        const struct instance_row *row = &rows->instances[i];
        size_t index = 0;

        TAPML_TRY(find_line(lines, row->op, &index));
        lines->items[index].class_ = row->class_;
        lines->items[index].instances++;
        lines->items[index].moved += rows->places[i] == REPORT_ON_TARGET;
        TAPML_TRY(table_set(&lines->instance_of, row->instance, index));
    }
    return call_line_visit(rows->store, add_source_call, lines);
}

static void count_derived(const struct verdict_list *list,
                          const struct verdict *like,
                          struct report_derived *out)
{
    *out = (struct report_derived){.op_name = like->op_name, .source = like->source};
    for (size_t i = 0; i < list->derived_count; i++) {
        const struct verdict *verdict = &list->derived[i];

        if (strcmp(verdict->op_name, like->op_name) != 0 ||
            strcmp(verdict->source, like->source) != 0) {
            continue;
        }
        out->cases++;
        out->margin =
            fmax(out->margin, verdict->kind == VERDICT_ERROR ? INFINITY : verdict->margin);
        if (verdict->kind == VERDICT_FAIL || verdict->kind == VERDICT_ERROR) {
            out->first_failed = out->failed++ == 0 ? verdict : out->first_failed;
        } else if (verdict->kind != VERDICT_PASS) {
            out->first_not_judged = out->not_judged++ == 0 ? verdict : out->first_not_judged;
        }
    }
}

static int is_first_of_kind(const struct verdict_list *list, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (strcmp(list->derived[i].op_name, list->derived[index].op_name) == 0 &&
            strcmp(list->derived[i].source, list->derived[index].source) == 0) {
            return 0;
        }
    }
    return 1;
}

int report_lines_derived(const struct verdict_list *list,
                         size_t index,
                         struct report_derived *out_derived)
{
    if (!is_first_of_kind(list, index)) {
        return 0;
    }
    count_derived(list, &list->derived[index], out_derived);
    return 1;
}
