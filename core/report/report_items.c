// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_items.h"

#include "report/report_cells.h"
#include "report/report_markup.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(table_) (sizeof(table_) / sizeof(*(table_)))

// -- Cases -------------------------------------------------------------------------------------

static int has_result(const void *item)
{
    return ((const struct report_case *)item)->verdict.result != NULL;
}

// Derived cases are timed anew at each start.
static int is_kept(const void *item)
{
    return ((const struct report_case *)item)->verdict.label[0] == '\0';
}

static int is_not_fresh(const void *item)
{
    return ((const struct report_case *)item)->verdict.freshness != VERDICT_FRESH;
}

static int has_elements(const void *item)
{
    return ((const struct report_case *)item)->verdict.elements.total > 0;
}

static int has_origin(const void *item)
{
    return ((const struct report_case *)item)->has_origin;
}

static json_t *make_values(const void *item)
{
    const struct element_list *list = &((const struct report_case *)item)->verdict.elements;
    struct report_maker whole = {.object = json_array()};

    for (size_t i = 0; i < list->count; i++) {
        const struct element *element = &list->items[i];
        struct report_maker part = report_maker_begin();

        report_maker_text(&part, "param", element->param);
        report_maker_text(&part, "place", element->place);
        report_maker_put(&part, "expected", report_maker_number(element->expected));
        report_maker_put(&part, "computed", report_maker_number(element->computed));
        report_maker_put(&part, "difference",
                         report_maker_number(fabs(element->expected - element->computed)));
        report_maker_put(&part, "allowed", report_maker_number(element->allowed));
        report_maker_append(&whole, whole.object, &part);
    }
    if (whole.failed) {
        json_decref(whole.object);
        return NULL;
    }
    return whole.object;
}

static const struct report_member case_members[] = {
    {"id", REPORT_VALUE(struct report_case, verdict.case_id)},
    {"key", REPORT_VALUE(struct report_case, key)},
    {"instance", REPORT_VALUE(struct report_case, verdict.instance)},
    {"op", REPORT_VALUE(struct report_case, verdict.op_name)},
    {"source", REPORT_VALUE(struct report_case, verdict.source)},
    {"label", REPORT_VALUE(struct report_case, verdict.label)},
    {"phase", REPORT_VALUE(struct report_case, verdict.phase)},
    {"shape_class", REPORT_VALUE(struct report_case, verdict.shape_class)},
    {"verdict", REPORT_VALUE(struct report_case, name)},
    {"freshness", REPORT_VALUE(struct report_case, freshness), .is_there = is_not_fresh},
    {"margin", REPORT_VALUE(struct report_case, verdict.margin)},
    {"output", REPORT_VALUE(struct report_case, verdict.output)},
    {"reason", REPORT_VALUE(struct report_case, verdict.reason)},
    {"implementation", REPORT_VALUE(struct report_case, result.maker.implementation),
     .is_there = has_result},
    {"time_ns", REPORT_VALUE(struct report_case, verdict.time_ns), .is_there = is_kept},
    {"beyond", REPORT_VALUE(struct report_case, verdict.elements.beyond), .is_there = has_elements},
    {"elements", REPORT_VALUE(struct report_case, verdict.elements.total),
     .is_there = has_elements},
    {"values", REPORT_MADE, .make = make_values, .is_there = has_elements},
    {"prompt", REPORT_VALUE(struct report_case, origin.prompt), .is_there = has_origin},
    {"step", REPORT_VALUE(struct report_case, origin.step), .is_there = has_origin},
    {"tokens", REPORT_VALUE(struct report_case, origin.tokens), .is_there = has_origin},
};

static void print_prompt(const json_t *item, const char *key, struct text *out)
{
    text_format(out, "prompt %" PRId64, report_markup_count(item, key) + 1);
}

static void print_step(const json_t *item, const char *key, struct text *out)
{
    const int64_t step = report_markup_count(item, key);

    text_format(out, step == 0 ? "prefill" : "step %" PRId64, step);
}

static void print_shapes(const json_t *item, const char *key, struct text *out)
{
    REPORT_MARKUP(out, "shapes <code>{}</code>", report_markup_string(item, key));
}

static const struct report_cell case_cells[] = {
    {.key = "prompt", .print = print_prompt},
    {.key = "step", .print = print_step},
    {.key = "shape_class", .print = print_shapes},
};

const struct report_list report_items_cases = {.members = case_members,
                                               .member_count = COUNT(case_members),
                                               .cells = case_cells,
                                               .cell_count = COUNT(case_cells)};

// -- Ops ---------------------------------------------------------------------------------------

static void put_derived(struct report_maker *part, const struct report_derived *derived)
{
    struct report_maker kind = report_maker_begin();

    report_maker_count(&kind, "cases", derived->cases);
    report_maker_count(&kind, "failed", derived->failed);
    report_maker_count(&kind, "not_judged", derived->not_judged);
    report_maker_put(&kind, "margin", report_maker_margin(derived->margin));
    report_maker_part(part, derived->source, &kind);
}

static json_t *make_derived(const void *item)
{
    const struct report_op *op = item;
    const struct verdict_list *list = op->verdicts;
    struct report_maker part = report_maker_begin();

    for (size_t i = 0; i < list->derived_count; i++) {
        struct report_derived derived;

        if (strcmp(list->derived[i].op_name, op->line.op_name) == 0 &&
            report_lines_derived(list, i, &derived)) {
            put_derived(&part, &derived);
        }
    }
    if (part.failed) {
        json_decref(part.object);
        return NULL;
    }
    return part.object;
}

static const struct report_member op_members[] = {
    {"op", REPORT_VALUE(struct report_op, line.op_name)},
    {"class", REPORT_VALUE(struct report_op, line.class_)},
    {"instances", REPORT_VALUE(struct report_op, line.instances)},
    {"moved", REPORT_VALUE(struct report_op, line.moved)},
    {"cases", REPORT_VALUE(struct report_op, line.cases)},
    {"passed", REPORT_VALUE(struct report_op, line.passed)},
    {"failed", REPORT_VALUE(struct report_op, line.failed)},
    {"unsupported", REPORT_VALUE(struct report_op, line.unsupported)},
    {"skipped", REPORT_VALUE(struct report_op, line.skipped)},
    {"stale", REPORT_VALUE(struct report_op, line.stale)},
    {"margin", REPORT_VALUE(struct report_op, margin)},
    {"derived", REPORT_MADE, .make = make_derived},
    {"source_ns", REPORT_VALUE(struct report_op, line.source_ns)},
    {"source_calls", REPORT_VALUE(struct report_op, line.source_calls)},
    {"cases_source_ns", REPORT_VALUE(struct report_op, cases_source_ns)},
    {"cases_target_ns", REPORT_VALUE(struct report_op, line.target_ns)},
    {"run_ns", REPORT_VALUE(struct report_op, timed.time_ns)},
    {"run_calls", REPORT_VALUE(struct report_op, timed.calls)},
    {"run_launches", REPORT_VALUE(struct report_op, timed.launches)},
};

static int has_run(const json_t *op)
{
    return report_markup_count(op, "run_calls") > 0;
}

static double launches_of_a_call(const json_t *op)
{
    return (double)report_markup_count(op, "run_launches") /
           (double)report_markup_count(op, "run_calls");
}

// A time that is "-" unless something took it.
static void print_time_of(const json_t *op, const char *key, int has_any, struct text *out)
{
    const int64_t time_ns = report_markup_count(op, key);
    struct report_markup_shorts s;

    REPORT_MARKUP(out, "<td data-n=\"{}\">{}</td>", report_cells_sort_key(time_ns, s.a),
                  has_any ? report_markup_time(time_ns, s.b) : "-");
}

static void print_source_time(const json_t *op, const char *key, struct text *out)
{
    print_time_of(op, key, 1, out);
}

static void print_target_time(const json_t *op, const char *key, struct text *out)
{
    print_time_of(op, key, report_markup_count(op, key) > 0, out);
}

static void print_run_time(const json_t *op, const char *key, struct text *out)
{
    print_time_of(op, key, has_run(op), out);
}

static void print_launches(const json_t *op, const char *key, struct text *out)
{
    struct report_markup_shorts s;

    (void)key;
    (void)snprintf(s.a, sizeof(s.a), "%.1f", has_run(op) ? launches_of_a_call(op) : 0);
    REPORT_MARKUP(out, "<td data-n=\"{}\">{}</td>", has_run(op) ? s.a : "0",
                  has_run(op) ? s.a : "-");
}

static void print_op_cases(const json_t *op, const char *key, struct text *out)
{
    struct report_markup_shorts s;

    REPORT_MARKUP(out, "<td>{}</td>", report_markup_thousands_of(op, key, s.a));
}

static const struct report_cell op_cells[] = {
    {"operator", 0, "op", report_cells_op_code},
    {"calls on the source", 1, "cases_source_ns", print_source_time},
    {"same on <bdi>{}</bdi>", 1, "cases_target_ns", print_target_time},
    {"one prompt", 1, "run_ns", print_run_time},
    {"kernel starts a call", 1, NULL, print_launches},
    {"recorded calls", 1, "cases", print_op_cases},
};

// Unsupported, skipped or stale.
static const char *word_of_rest(const json_t *op, const char *key, char *out)
{
    (void)key;
    return report_cells_sort_key(report_markup_count(op, "unsupported") +
                                     report_markup_count(op, "skipped") +
                                     report_markup_count(op, "stale"),
                                 out);
}

static const char *
word_of_average_us(const json_t *op, const char *time, const char *count, char *out)
{
    const int64_t calls = report_markup_count(op, count);

    (void)snprintf(out, REPORT_MARKUP_SHORT, "%.1f",
                   calls > 0 ? (double)report_markup_count(op, time) / (double)calls * 1e-3 : 0);
    return out;
}

static const char *word_of_source_us(const json_t *op, const char *key, char *out)
{
    return word_of_average_us(op, key, "source_calls", out);
}

static const char *word_of_replay_us(const json_t *op, const char *key, char *out)
{
    return word_of_average_us(op, key, "cases", out);
}

static const char *word_of_launches(const json_t *op, const char *key, char *out)
{
    (void)key;
    (void)snprintf(out, REPORT_MARKUP_SHORT, "%.2f", has_run(op) ? launches_of_a_call(op) : 0);
    return has_run(op) ? out : "-";
}

static const char *word_of_run_us(const json_t *op, const char *key, char *out)
{
    return has_run(op) ? word_of_average_us(op, key, "run_calls", out) : "-";
}

// Some case of it fails, recorded or derived.
static int is_wrong_op(const json_t *op)
{
    int64_t failed = report_markup_count(op, "failed");
    const char *key = NULL;
    json_t *kind = NULL;

    json_object_foreach(json_object_get(op, "derived"), key, kind)
    {
        failed += report_markup_count(kind, "failed");
    }
    return failed > 0;
}

static const struct report_word op_words[] = {
    {"operator", -23, "op", report_cells_word_text},
    {"instances", 9, "instances", report_cells_word_count},
    {"moved", 6, "moved", report_cells_word_count},
    {"cases", 6, "cases", report_cells_word_count},
    {"right", 6, "passed", report_cells_word_count},
    {"wrong", 6, "failed", report_cells_word_count},
    {"not compared", 12, NULL, word_of_rest},
    {"margin (wrong above 1)", 22, "margin", report_cells_word_number},
};

const struct report_list report_items_ops = {.members = op_members,
                                             .member_count = COUNT(op_members),
                                             .cells = op_cells,
                                             .cell_count = COUNT(op_cells),
                                             .words = op_words,
                                             .word_count = COUNT(op_words),
                                             .is_wrong = is_wrong_op};

static const struct report_word time_words[] = {
    {"operator", -23, "op", report_cells_word_text},
    {"on the source", 13, "source_ns", word_of_source_us},
    {"in a replay", 13, "cases_target_ns", word_of_replay_us},
    {"in a prompt", 13, "run_ns", word_of_run_us},
    {"kernel starts a call", 20, NULL, word_of_launches},
};

const struct report_list report_items_times = {.words = time_words,
                                               .word_count = COUNT(time_words)};

// -- Instances ---------------------------------------------------------------------------------

static int has_reason(const void *item)
{
    return ((const struct report_instance *)item)->reason != NULL;
}

static const struct report_member instance_members[] = {
    {"instance", REPORT_VALUE(struct report_instance, instance)},
    {"op", REPORT_VALUE(struct report_instance, op)},
    {"state", REPORT_VALUE(struct report_instance, state)},
    {"margin", REPORT_VALUE(struct report_instance, margin)},
    {"cases", REPORT_VALUE(struct report_instance, cases)},
    {"failed", REPORT_VALUE(struct report_instance, failed)},
    {"not_compared", REPORT_VALUE(struct report_instance, not_compared)},
    {"replay_ns", REPORT_VALUE(struct report_instance, replay_ns)},
    {"reason", REPORT_VALUE(struct report_instance, reason), .is_there = has_reason},
};

static const struct report_cell instance_cells[] = {
    {"where in the model", 0, "instance", report_cells_code},
    {"operator", 0, "op", report_cells_op},
    {"verdict", 0, "state", report_cells_text},
    {"margin", 1, "margin", report_cells_margin},
    {"cases", 1, "cases", report_cells_count},
    {"time", 1, "replay_ns", report_cells_time},
};

const struct report_list report_items_instances = {.members = instance_members,
                                                   .member_count = COUNT(instance_members),
                                                   .cells = instance_cells,
                                                   .cell_count = COUNT(instance_cells)};

// -- What was not compared ---------------------------------------------------------------------

static const struct report_member uncovered_members[] = {
    {"what", REPORT_VALUE(struct report_uncovered, what)},
    {"op", REPORT_VALUE(struct report_uncovered, op)},
    {"count", REPORT_VALUE(struct report_uncovered, count)},
    {"reason", REPORT_VALUE(struct report_uncovered, reason)},
    {"first", REPORT_VALUE(struct report_uncovered, first)},
};

static const struct report_cell uncovered_cells[] = {
    {"what", 0, "what", report_cells_text},        {"operator", 0, "op", report_cells_op_code},
    {"how often", 1, "count", report_cells_count}, {"reason", 0, "reason", report_cells_text},
    {"the first", 0, "first", report_cells_code},
};

const struct report_list report_items_uncovered = {.members = uncovered_members,
                                                   .member_count = COUNT(uncovered_members),
                                                   .cells = uncovered_cells,
                                                   .cell_count = COUNT(uncovered_cells)};
