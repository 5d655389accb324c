// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "fixture.h"
#include "graph/draft.h"
#include "graph/source.h"
#include "harness/schemas.h"

static const tapml_param stack_parts = {.hdr = TAPML_HDR(tapml_param),
                                        .name = "parts",
                                        .kind = TAPML_P_TENSORS_IN,
                                        .dtype = "f32",
                                        .shape = "T, width",
                                        .layout = "rows"};
static const tapml_param stack_least = {.hdr = TAPML_HDR(tapml_param),
                                        .name = "least",
                                        .kind = TAPML_P_TENSOR_OUT,
                                        .dtype = "f32",
                                        .shape = "T",
                                        .layout = "rows"};
static const tapml_param stack_place = {.hdr = TAPML_HDR(tapml_param),
                                        .name = "place",
                                        .kind = TAPML_P_TENSOR_OUT,
                                        .dtype = "i32 i64",
                                        .shape = "width, T",
                                        .layout = "rows"};
static const tapml_op stack = {
    .hdr = TAPML_HDR(tapml_op),
    .name = "org.example.stack",
    .version = 1,
    .n_params = 3,
    .params = (const tapml_param *const[]){&stack_parts, &stack_least, &stack_place},
    .tolerance = "exact"};

static uint32_t add_input(struct draft *draft, const char *name, int64_t width)
{
    const struct graph_value value = {.kind = GRAPH_INPUT, .name = name, .dtype = TAPML_F32};
    const struct view view = {.rank = 2, .shape = {{0, {1, 0, 0, 0}}, affine_constant(width)}};
    uint32_t index = 0;

    fixture_ok(source_add(draft, NULL, &value, &view, &index));
    return index;
}

Test(draft, names_are_unique_in_their_class)
{
    struct draft draft;
    const char *copy = NULL;
    uint32_t index = 0;
    char name[300];

    fixture_ok(draft_init(&draft, NULL));
    fixture_ok(draft_take(&draft, DRAFT_STATE, "k", 7, &copy));
    cr_assert_str_eq(copy, "k");
    cr_assert(draft_find(&draft, DRAFT_STATE, "k", &index));
    cr_assert_eq(index, 7);
    cr_assert_not(draft_find(&draft, DRAFT_INPUT, "k", &index));
    fixture_ok(draft_take(&draft, DRAFT_INPUT, "k", 8, &copy));
    fixture_expect(draft_take(&draft, DRAFT_STATE, "k", 9, &copy), TAPML_INVALID,
                   "two states are named 'k'");
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    cr_assert_eq(draft_take(&draft, DRAFT_STATE, name, 9, &copy), TAPML_INVALID);
    cr_assert_eq(draft_take(&draft, DRAFT_STATE, "", 9, &copy), TAPML_INVALID);
    cr_assert_not(draft_find(&draft, DRAFT_STATE, name, &index));
    draft_release(&draft);
    draft_release(&draft);
}

Test(draft, several_tensors_and_several_outputs)
{
    struct fixture fixture;
    struct draft draft;
    struct graph *graph = NULL;
    uint32_t parts[2];
    struct graph_argument arguments[3] = {{.kind = TAPML_P_TENSORS_IN, .count = 2, .values = parts},
                                          {.kind = TAPML_P_TENSOR_OUT},
                                          {.kind = TAPML_P_TENSOR_OUT}};

    fixture_init(&fixture);
    fixture_ok(catalogue_add(fixture.catalogue, &stack, "org.example", NULL));
    fixture_ok(draft_init(&draft, fixture.catalogue));
    parts[0] = add_input(&draft, "a", 8);
    parts[1] = add_input(&draft, "b", 8);

    // The second comes from a value that lies the other way round: it alone is copied.
    const struct graph_value wide = {.kind = GRAPH_INPUT, .name = "wide", .dtype = TAPML_F32};
    struct view view = {.rank = 2, .shape = {affine_constant(8), {0, {1, 0, 0, 0}}}};
    fixture_ok(source_add(&draft, NULL, &wide, &view, &parts[1]));
    view = draft_view(&draft.values[parts[1]]);
    fixture_ok(view_transpose(&view, (uint32_t[]){1, 0}, 2));
    fixture_ok(draft_add_view(&draft, parts[1], &view, &parts[1]));

    fixture_ok(draft_add_op(&draft, "s", schema_of(&stack), arguments));
    fixture_ok(draft_add_output(&draft, "least", arguments[1].value));
    fixture_ok(draft_finish(&draft, &graph));
    cr_assert_eq(graph->op_count, 2);
    cr_assert_str_eq(graph->ops[0].instance, "s/copy.parts.1");
    cr_assert_eq(graph->ops[1].arguments[0].values[0], parts[0]);
    cr_assert_eq(graph->ops[1].arguments[0].values[1], graph->ops[0].arguments[1].value);
    cr_assert_str_eq(graph->values[arguments[1].value].name, "s:least");
    cr_assert_str_eq(graph->values[arguments[2].value].name, "s:place");
    cr_assert_eq(graph->values[arguments[2].value].dtype, TAPML_I32);
    cr_assert_eq(graph->values[arguments[2].value].rank, 2);
    graph_destroy(graph);
    draft_release(&draft);
    fixture_release(&fixture);
}

Test(draft, several_tensors_are_alike)
{
    struct fixture fixture;
    struct draft draft;
    uint32_t parts[2];
    struct graph_argument arguments[3] = {{.kind = TAPML_P_TENSORS_IN, .count = 2, .values = parts},
                                          {.kind = TAPML_P_TENSOR_OUT},
                                          {.kind = TAPML_P_TENSOR_OUT}};

    fixture_init(&fixture);
    fixture_ok(draft_init(&draft, fixture.catalogue));
    parts[0] = add_input(&draft, "a", 8);
    parts[1] = add_input(&draft, "b", 9);
    fixture_expect(draft_add_op(&draft, "s", schema_of(&stack), arguments), TAPML_INVALID,
                   "'a' and 'b' differ in type or shape");
    draft_release(&draft);
    fixture_release(&fixture);
}
