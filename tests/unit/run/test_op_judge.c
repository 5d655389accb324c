// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/sketch.h"
#include "harness/tensor_file.h"
#include "run/op_judge.h"
#include "store/case.h"

#include <tapml/ops.h>

enum { ROWS = 2, WIDTH = 2, CELLS = ROWS * WIDTH };

#define ENTRY(name_, begin_, end_)                                                                 \
    "'" name_ "':{'dtype':'F32','shape':[2,2],'data_offsets':[" #begin_ "," #end_ "]}"

// x -> first (a.weight) -> act -> second (b.weight)
struct judged {
    struct scratch scratch;
    struct sketch sketch;
    struct checkpoint *file;
    struct op_judge *judge;
    uint32_t first, act, second; // Ops.
    uint32_t x, y, z, end;       // Values.
};

static void open_judged(struct judged *judged, const char *header)
{
    static const float values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    struct sketch *sketch = &judged->sketch;
    const struct affine rows = sketch_sum(0, 1), width = sketch_sum(WIDTH, 0);

    scratch_make(&judged->scratch);
    sketch_init(sketch);
    const uint32_t a = sketch_value(sketch, GRAPH_WEIGHT, "a.weight", width, WIDTH);
    const uint32_t b = sketch_value(sketch, GRAPH_WEIGHT, "b.weight", width, WIDTH);

    judged->x = sketch_value(sketch, GRAPH_INPUT, "x", rows, WIDTH);
    judged->y = sketch_value(sketch, GRAPH_COMPUTED, "first", rows, WIDTH);
    judged->z = sketch_value(sketch, GRAPH_COMPUTED, "act", rows, WIDTH);
    judged->end = sketch_value(sketch, GRAPH_COMPUTED, "second", rows, WIDTH);
    judged->first = sketch_op(sketch, &tapml_linear, "first",
                              (const uint32_t[]){judged->x, a, GRAPH_NONE, judged->y});
    judged->act = sketch_op(sketch, &tapml_silu, "act", (const uint32_t[]){judged->y, judged->z});
    judged->second = sketch_op(sketch, &tapml_linear, "second",
                               (const uint32_t[]){judged->z, b, GRAPH_NONE, judged->end});
    judged->file = tensor_file_open(&judged->scratch, header, values, 12);
    cr_assert_eq(op_judge_create(&(struct op_judge_options){.graph = &sketch->graph,
                                                            .expected = judged->file,
                                                            .tokens = ROWS,
                                                            .tolerance = 1e-4},
                                 &judged->judge),
                 TAPML_OK, "%s", status_message());
    op_judge_begin(judged->judge);
}

static void close_judged(struct judged *judged)
{
    op_judge_destroy(judged->judge);
    checkpoint_close(judged->file);
    scratch_remove(&judged->scratch);
}

// A call of which one argument was read: `rows` rows that begin with `value`, counted up by one.
static void see(struct judged *judged, uint32_t op, int is_output, float value, int64_t rows)
{
    struct case_argument arguments[SKETCH_PARAMS_MAX] = {{0}};
    const tapml_op *schema = judged->sketch.ops[op].op;
    float cells[CELLS];
    uint32_t param = 0;

    for (size_t i = 0; i < CELLS; i++) {
        cells[i] = value + (float)i;
    }
    while (is_output && schema->params[param]->kind != TAPML_P_TENSOR_OUT) {
        param++;
    }
    arguments[param] =
        (struct case_argument){.dtype = TAPML_F32, .rank = 2, .shape = {rows, WIDTH}};
    *(is_output ? &arguments[param].after : &arguments[param].before) = cells;
    cr_assert(op_judge_wants(judged->judge, op, param));
    cr_assert_eq(op_judge_see(judged->judge, op, arguments), TAPML_OK);
}

static void expect(const struct judged *judged, const char *sentence)
{
    struct text text;

    text_init(&text);
    cr_assert_eq(op_judge_print(judged->judge, &text), TAPML_OK);
    cr_assert_str_eq(text.data, sentence);
    text_release(&text);
}

// What comes out is 1 .. 4, then 5 .. 8, then 9 .. 12.
static const char all[] = "{" ENTRY("op.a.weight", 0, 16) "," ENTRY(
    "after.a.weight", 16, 32) "," ENTRY("op.b.weight", 32, 48) "}";

Test(op_judge, a_run_that_agrees_has_no_sentence)
{
    struct judged judged;

    open_judged(&judged, all);
    see(&judged, judged.first, 1, 1, ROWS);
    see(&judged, judged.act, 1, 5, ROWS);
    see(&judged, judged.second, 1, 9.00001f, ROWS);
    const struct op_judge_counts counts = op_judge_counts(judged.judge);

    cr_assert(counts.entries == 3 && counts.unused == 0);
    cr_assert(counts.worst > 0 && counts.worst < 1e-5);
    cr_assert_str_eq(counts.worst_name, "op.b.weight");
    expect(&judged, "");
    close_judged(&judged);
}

Test(op_judge, the_first_op_that_diverges_is_named_alone_if_all_before_it_is_known)
{
    struct judged judged;

    open_judged(&judged, all);
    see(&judged, judged.first, 1, 1, ROWS);
    see(&judged, judged.act, 1, 6, ROWS);
    see(&judged, judged.second, 1, 10, ROWS);
    expect(&judged, "the first op that diverges: act (tapml.silu); what it reads is right");
    op_judge_begin(judged.judge);
    expect(&judged, "");
    close_judged(&judged);
}

Test(op_judge, ops_of_which_nothing_is_known_are_named_too)
{
    static const char some[] = "{" ENTRY("op.a.weight", 0, 16) "," ENTRY(
        "op.b.weight", 32, 48) "," ENTRY("op.other", 16, 32) "}";
    struct judged judged;

    open_judged(&judged, some);
    see(&judged, judged.first, 1, 1, ROWS);
    see(&judged, judged.second, 1, 10, ROWS);
    expect(&judged, "one of 2 ops diverges first: act (tapml.silu), second (tapml.linear); what "
                    "they read is right, what the last one gives is not");
    cr_assert_eq(op_judge_counts(judged.judge).unused, 1u);
    close_judged(&judged);
}

Test(op_judge, an_input_that_is_wrong_is_the_fault_of_the_op_before)
{
    static const char inputs[] = "{" ENTRY("in.a.weight", 0, 16) "," ENTRY(
        "in.b.weight", 16, 32) "," ENTRY("op.a.weight", 32, 48) "}";
    struct judged judged;

    open_judged(&judged, inputs);
    see(&judged, judged.first, 0, 1, ROWS);
    see(&judged, judged.first, 1, 9, ROWS);
    see(&judged, judged.second, 0, 7, ROWS);
    expect(&judged, "the first op that diverges: act (tapml.silu); what it reads is right");
    close_judged(&judged);
}

Test(op_judge, rows_of_later_calls_are_those_at_their_position)
{
    struct judged judged;

    open_judged(&judged, all);
    see(&judged, judged.first, 1, 1, 1);
    op_judge_set_position(judged.judge, 1);
    see(&judged, judged.first, 1, 3, 1);
    expect(&judged, "");
    op_judge_set_position(judged.judge, ROWS); // Behind the prompt nothing is expected.
    see(&judged, judged.first, 1, 50, 1);
    expect(&judged, "");
    close_judged(&judged);
}

Test(op_judge, what_else_is_known_counts)
{
    struct judged judged;

    open_judged(&judged, all);
    op_judge_note(judged.judge, judged.y, 1);
    op_judge_note(judged.judge, judged.end, 0);
    expect(&judged, "one of 2 ops diverges first: act (tapml.silu), second (tapml.linear); what "
                    "they read is right, what the last one gives is not");
    op_judge_note(judged.judge, judged.z, 0);
    expect(&judged, "the first op that diverges: act (tapml.silu); what it reads is right");
    close_judged(&judged);
}
