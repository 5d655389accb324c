// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "exec/plan.h"
#include "harness/scratch.h"
#include "harness/sketch.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

static struct plan *make_plan(const char *const *rules)
{
    struct plan *plan = NULL;
    cr_assert_eq(plan_create(&plan), TAPML_OK);
    for (; *rules; rules++) {
        cr_assert_eq(plan_add(plan, *rules, "here"), TAPML_OK, "%s: %s", *rules, status_message());
    }
    return plan;
}

static void expect_place(const struct plan *plan,
                         const char *op,
                         const char *instance,
                         enum plan_phase phase,
                         const char *place)
{
    const char *found = plan_place(plan, op, instance, phase);
    cr_expect_str_eq(found, place, "%s at %s runs on %s, not %s", op, instance, found, place);
}

Test(plan, is_all_on_the_source_at_first)
{
    struct plan *plan = make_plan((const char *const[]){NULL});
    expect_place(plan, "tapml.silu", "layers.0/mlp/act", PLAN_PREFILL, "source");
    expect_place(plan, "tapml.silu", "layers.0/mlp/act", PLAN_DECODE, "source");
    plan_destroy(plan);
    plan_destroy(NULL);
}

Test(plan, names_what_has_no_blanks_and_no_globs)
{
    cr_expect(plan_can_name("layers.0/attn/q_proj"));
    cr_expect_not(plan_can_name(""));
    cr_expect_not(plan_can_name("a b"));
    cr_expect_not(plan_can_name("layers[0]"));
    cr_expect_not(plan_can_name("a*"));
}

Test(plan, lets_the_last_match_win)
{
    struct plan *plan = make_plan((const char *const[]){
        "* -> gpu",
        "op=silu -> source",
        "  instance=layers.[1-2]/*\tphase=decode   ->  npu ",
        NULL,
    });
    expect_place(plan, "tapml.add", "layers.0/add", PLAN_PREFILL, "gpu");
    expect_place(plan, "tapml.silu", "layers.0/act", PLAN_DECODE, "source");
    expect_place(plan, "tapml.silu", "layers.1/act", PLAN_DECODE, "npu");
    expect_place(plan, "tapml.silu", "layers.1/act", PLAN_PREFILL, "source");
    expect_place(plan, "tapml.add", "layers.3/add", PLAN_DECODE, "gpu");
    plan_destroy(plan);
}

Test(plan, matches_ops_by_short_and_by_full_name)
{
    struct plan *plan = make_plan((const char *const[]){
        "op=tapml.rms_norm -> a",
        "op=si* -> b",
        "op=scale -> c",
        "op=org.example.* -> d",
        NULL,
    });
    expect_place(plan, "tapml.rms_norm", "x", PLAN_PREFILL, "a");
    expect_place(plan, "tapml.silu", "x", PLAN_PREFILL, "b");
    expect_place(plan, "org.example.scale", "x", PLAN_PREFILL, "d");
    expect_place(plan, "tapml.add", "x", PLAN_PREFILL, "source");
    plan_destroy(plan);
}

Test(plan, needs_all_selectors_of_a_rule)
{
    struct plan *plan =
        make_plan((const char *const[]){"op=silu instance=layers.0/* phase=prefill -> gpu", NULL});
    expect_place(plan, "tapml.silu", "layers.0/act", PLAN_PREFILL, "gpu");
    expect_place(plan, "tapml.silu", "layers.1/act", PLAN_PREFILL, "source");
    expect_place(plan, "tapml.add", "layers.0/act", PLAN_PREFILL, "source");
    expect_place(plan, "tapml.silu", "layers.0/act", PLAN_DECODE, "source");
    plan_destroy(plan);
}

Test(plan, refuses_wrong_rules_with_a_sentence)
{
    static const struct {
        const char *rule;
        const char *message;
    } cases[] = {
        {"op=silu gpu", "run.ini:7: expected '*', 'op=', 'instance=' or 'phase=', found 'gpu'"},
        {"op=silu", "run.ini:7: expected '-> PLACE', found the end of the rule"},
        {"op=silu ->", "run.ini:7: expected a place behind '->', found nothing"},
        {"-> gpu", "run.ini:7: expected '*', 'op=', 'instance=' or 'phase=' before '->'"},
        {"", "run.ini:7: expected '-> PLACE', found the end of the rule"},
        {"ops=silu -> gpu", "run.ini:7: expected 'op=', 'instance=' or 'phase=', found 'ops=', did "
                            "you mean 'op'?"},
        {"zzz=silu -> gpu", "run.ini:7: expected 'op=', 'instance=' or 'phase=', found 'zzz='"},
        {"op= -> gpu", "run.ini:7: expected a glob behind 'op=', found nothing"},
        {"op=a op=b -> gpu", "run.ini:7: 'op=' is given twice"},
        {"phase=decode phase=decode -> gpu", "run.ini:7: 'phase=' is given twice"},
        {"phase=decod -> gpu",
         "run.ini:7: expected the phase 'prefill' or 'decode', found 'decod', "
         "did you mean 'decode'?"},
        {"* op=a -> gpu", "run.ini:7: '*' stands alone before '->'"},
        {"* -> gpu npu", "run.ini:7: expected one place behind '->', found also 'npu'"},
        {"* -> gpu,npu", "run.ini:7: expected a place of letters, digits, '_', '.' and '-', found "
                         "'gpu,npu'"},
    };
    struct plan *plan = make_plan((const char *const[]){"* -> gpu", NULL});
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        cr_expect_eq(plan_add(plan, cases[i].rule, "run.ini:7"), TAPML_INVALID, "%s",
                     cases[i].rule);
        cr_expect_str_eq(status_message(), cases[i].message, "%s", status_message());
    }
    expect_place(plan, "tapml.silu", "x", PLAN_DECODE, "gpu");
    plan_destroy(plan);
}

Test(plan, parses_rules_of_any_length)
{
    static const char tail[] = " -> gpu\nop=silu -> source\n";
    const size_t glob = 5000;
    char *text = alloc_array(glob + 64, 1);
    struct plan *plan = NULL;
    cr_assert_not_null(text);
    memcpy(text, "instance=", 9);
    memset(text + 9, 'a', glob);
    text[9] = '*';
    memcpy(text + 9 + glob, tail, sizeof(tail));
    cr_assert_eq(plan_parse(text, "plan", &plan), TAPML_OK, "%s", status_message());
    text[9 + glob] = '\0';
    expect_place(plan, "tapml.add", text + 9, PLAN_DECODE, "gpu");
    text[9 + glob - 1] = 'b';
    expect_place(plan, "tapml.add", text + 9, PLAN_DECODE, "source");
    plan_destroy(plan);
    alloc_free(text);
}

Test(plan, names_the_line_of_a_text_that_is_wrong)
{
    struct plan *plan = NULL;
    cr_expect_eq(plan_parse("* -> gpu # all\n\nnonsense\n", "plan", &plan), TAPML_INVALID);
    cr_expect_str_eq(status_message(),
                     "plan:3: expected '*', 'op=', 'instance=' or 'phase=', found "
                     "'nonsense'");
    cr_expect_null(plan);
}

static void expect_text(const struct plan *plan, const char *expected)
{
    struct text text;
    text_init(&text);
    plan_print(plan, &text);
    cr_expect_str_eq(text.data, expected, "%s", text.data);
    text_release(&text);
}

Test(plan, prints_what_a_file_has)
{
    static const char file[] = "# All but two.\n"
                               "* -> gpu   # the target\r\n"
                               "\n"
                               "   \t\n"
                               "op=silu -> source\n"
                               "phase=decode instance=a#b/* -> source";
    static const char printed[] = "* -> gpu\n"
                                  "op=silu -> source\n"
                                  "instance=a#b/* phase=decode -> source\n";
    struct scratch scratch;
    struct plan *plan = NULL, *again = NULL, *copy = NULL;
    scratch_make(&scratch);
    cr_assert_eq(plan_load(scratch_text(&scratch, "plan", file), &plan), TAPML_OK, "%s",
                 status_message());
    expect_text(plan, printed);
    cr_assert_eq(plan_load(scratch_text(&scratch, "plan", printed), &again), TAPML_OK);
    expect_text(again, printed);
    cr_assert_eq(plan_copy(plan, &copy), TAPML_OK);
    plan_destroy(plan);
    expect_text(copy, printed);
    plan_destroy(again);
    plan_destroy(copy);
    scratch_remove(&scratch);
}

Test(plan, names_file_and_line_of_a_wrong_rule)
{
    struct scratch scratch;
    struct plan *plan = NULL;
    char expected[SCRATCH_PATH * 3];
    scratch_make(&scratch);
    const char *path = scratch_text(&scratch, "plan", "* -> gpu\n\n# that is\nop=silu\n");
    cr_assert_eq(plan_load(path, &plan), TAPML_INVALID);
    snprintf(expected, sizeof(expected), "%s:4: expected '-> PLACE', found the end of the rule",
             path);
    cr_expect_str_eq(status_message(), expected, "%s", status_message());

    cr_expect_eq(plan_load(scratch_write(&scratch, "plan", "* -> a\n\0x", 9), &plan),
                 TAPML_INVALID);
    cr_expect(strstr(status_message(), "zero byte at 7"), "%s", status_message());
    cr_expect_neq(plan_load(scratch_path(&scratch, "absent"), &plan), TAPML_OK);
    cr_expect_null(plan);
    scratch_remove(&scratch);
}

static void make_graph(struct sketch *sketch)
{
    sketch_init(sketch);
    const struct affine rows = sketch_sum(0, 1);
    const uint32_t x = sketch_value(sketch, GRAPH_INPUT, "x", rows, 4);
    const uint32_t h = sketch_value(sketch, GRAPH_COMPUTED, "layers.0/act", rows, 4);
    const uint32_t y = sketch_value(sketch, GRAPH_COMPUTED, "layers.1/act", rows, 4);
    sketch_op(sketch, &tapml_silu, "layers.0/act", (const uint32_t[]){x, h});
    sketch_op(sketch, &tapml_silu, "layers.1/act", (const uint32_t[]){h, y});
}

Test(plan, resolves_over_a_graph)
{
    static const char *const places[] = {"source", "gpu"};
    struct sketch sketch;
    uint8_t resolved[2 * PLAN_PHASES];
    make_graph(&sketch);
    struct plan *plan = make_plan(
        (const char *const[]){"* -> gpu", "instance=layers.1/* phase=decode -> source", NULL});
    cr_assert_eq(plan_resolve(plan, &sketch.graph, places, 2, resolved), TAPML_OK, "%s",
                 status_message());
    cr_expect_arr_eq(resolved, ((const uint8_t[]){1, 1, 1, 0}), sizeof(resolved));
    plan_destroy(plan);
}

Test(plan, refuses_places_and_rules_that_a_graph_lacks)
{
    static const struct {
        const char *rule;
        const char *message;
    } cases[] = {
        {"* -> gpo", "here: there is no place 'gpo', did you mean 'gpu'?"},
        {"* -> elsewhere", "here: there is no place 'elsewhere'"},
        {"op=sulu -> gpu",
         "here: the rule 'op=sulu -> gpu' matches no op of the model, did you mean 'silu'?"},
        {"instance=layer.1/act phase=decode -> gpu",
         "here: the rule 'instance=layer.1/act phase=decode -> gpu' matches no op of the model, "
         "did "
         "you mean 'layers.1/act'?"},
        {"op=add instance=layers.* -> gpu",
         "here: the rule 'op=add instance=layers.* -> gpu' matches no op of the model"},
    };
    static const char *const places[] = {"source", "gpu"};
    struct sketch sketch;
    uint8_t resolved[2 * PLAN_PHASES] = {7, 7, 7, 7};
    make_graph(&sketch);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct plan *plan = make_plan((const char *const[]){cases[i].rule, NULL});
        cr_expect_eq(plan_resolve(plan, &sketch.graph, places, 2, resolved), TAPML_NOT_FOUND);
        cr_expect_str_eq(status_message(), cases[i].message, "%s", status_message());
        plan_destroy(plan);
    }
    cr_expect_eq(resolved[0], 7);
}

static tapml_status make_and_copy(void)
{
    struct plan *plan = NULL, *copy = NULL;
    TAPML_TRY(plan_create(&plan));
    tapml_status status = plan_add(plan, "op=silu instance=* phase=decode -> gpu", "here");
    if (status == TAPML_OK) {
        status = plan_copy(plan, &copy);
    }
    plan_destroy(copy);
    plan_destroy(plan);
    return status;
}

Test(plan, survives_a_lack_of_memory)
{
    SCRATCH_SWEEP(make_and_copy());
}
