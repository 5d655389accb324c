// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "fixture.h"
#include "graph/fake_quantise.h"
#include "model/checkpoint.h"
#include "model/input_scheme.h"
#include "model/safetensors.h"
#include "model/weights.h"

#include <stdio.h>
#include <stdlib.h>

#define LAYER "model.layers.0."

// Three products over an input, one of the first two plain and one over an activation of its own.
struct made {
    struct fixture fixture;
    struct checkpoint *checkpoint;
    struct weights *weights;
    struct graph *graph;
};

static const struct input_scheme scheme = {.block = 16,
                                           .format = QUANT_FORMAT_E2M1,
                                           .scaling = QUANT_FORMAT_DIVIDED,
                                           .high = 8,
                                           .factor = 2};

static void linear(struct made *made,
                   const char *name,
                   const char *weight,
                   int64_t out,
                   tapml_graph_value x,
                   tapml_graph_value *out_y)
{
    const tapml_host_graph *t = made->fixture.table;
    tapml_graph_value w = 0;

    fixture_ok(t->weight(made->fixture.object, NULL, weight, SHAPE(out, 64), NULL, &w));
    tapml_value args[] = {ID(x), ID(w), NONE, I64(0), OUT};
    fixture_ok(t->op(made->fixture.object, NULL, name, "tapml.linear", 1, args, 5));
    *out_y = args[4].u.id;
}

static void make(struct made *made, int quantises)
{
    tapml_graph_value x = 0, q = 0, k = 0, v = 0, gate = 0;
    char folder[512];

    snprintf(folder, sizeof(folder), "%s/models/llama", getenv("TAPML_TEST_DATA"));
    fixture_init(&made->fixture);
    builder_destroy(made->fixture.builder);
    fixture_ok(safetensors_open(folder, &made->checkpoint));
    checkpoint_set_inputs(made->checkpoint, LAYER "self_attn.q_proj.weight", &scheme);
    checkpoint_set_inputs(made->checkpoint, LAYER "self_attn.k_proj.weight", &scheme);
    checkpoint_set_inputs(made->checkpoint, LAYER "mlp.gate_proj.weight", &scheme);
    checkpoint_set_inputs(made->checkpoint, "no such weight", &scheme);
    fixture_ok(weights_create(made->checkpoint, &made->weights));
    fixture_ok(builder_create(made->fixture.catalogue, weights_object(made->weights),
                              &made->fixture.builder));
    if (quantises) {
        builder_quantise_inputs(made->fixture.builder);
    }
    made->fixture.object = builder_object(made->fixture.builder);
    fixture_ok(made->fixture.table->input(made->fixture.object, NULL, "x", TAPML_FROM_USER,
                                          TAPML_F32, SHAPE(TAPML_SYM_TOKENS, 64), NULL, &x));
    fixture_ok(made->fixture.table->scope_begin(made->fixture.object, NULL, "attn"));
    linear(made, "q_proj", LAYER "self_attn.q_proj.weight", 64, x, &q);
    linear(made, "k_proj", LAYER "self_attn.k_proj.weight", 32, x, &k);
    linear(made, "v_proj", LAYER "self_attn.v_proj.weight", 32, x, &v);
    fixture_ok(made->fixture.table->scope_end(made->fixture.object, NULL));
    linear(made, "gate_proj", LAYER "mlp.gate_proj.weight", 80, q, &gate);
    fixture_ok(made->fixture.table->output(made->fixture.object, NULL, "k", k));
    fixture_ok(made->fixture.table->output(made->fixture.object, NULL, "v", v));
    fixture_ok(made->fixture.table->output(made->fixture.object, NULL, "gate", gate));
    fixture_ok(builder_finish(made->fixture.builder, &made->graph));
}

static void release(struct made *made)
{
    graph_destroy(made->graph);
    fixture_release(&made->fixture);
    weights_destroy(made->weights);
    checkpoint_close(made->checkpoint);
}

// The instance that gives a product its input, or "".
static const char *input_of(const struct made *made, const char *instance)
{
    const uint32_t op = graph_find_op(made->graph, instance);

    cr_assert_neq(op, GRAPH_NONE);
    const struct graph_value *x = &made->graph->values[made->graph->ops[op].arguments[0].value];
    return x->kind == GRAPH_COMPUTED ? made->graph->ops[x->producer].instance : "";
}

Test(fake_quantise, products_with_one_input_share_what_is_rounded)
{
    struct made made;

    make(&made, 1);
    cr_assert_str_eq(input_of(&made, "attn/q_proj"), "attn/q_proj/input");
    cr_assert_str_eq(input_of(&made, "attn/k_proj"), "attn/q_proj/input");
    cr_assert_str_eq(input_of(&made, "attn/v_proj"), "", "its weight is plain");
    cr_assert_str_eq(input_of(&made, "gate_proj"), "gate_proj/input");
    cr_assert_eq(made.graph->op_count, 6);
    const struct graph_op *op = &made.graph->ops[graph_find_op(made.graph, "attn/q_proj/input")];
    cr_assert_str_eq(op->op->name, "tapml.fake_quantise");
    cr_assert_eq(op->arguments[TAPML_FAKE_QUANTISE_BLOCK].i.constant, 16);
    cr_assert_eq(op->arguments[TAPML_FAKE_QUANTISE_FORMAT].i.constant, 2);
    cr_assert_eq(op->arguments[TAPML_FAKE_QUANTISE_SCALING].i.constant, 5);
    cr_assert_eq(op->arguments[TAPML_FAKE_QUANTISE_LOW].d, 0);
    cr_assert_eq(op->arguments[TAPML_FAKE_QUANTISE_HIGH].d, 8);
    cr_assert_eq(op->arguments[TAPML_FAKE_QUANTISE_FACTOR].d, 2);
    release(&made);
}

Test(fake_quantise, a_builder_that_is_not_told_leaves_inputs_plain)
{
    struct made made;

    make(&made, 0);
    cr_assert_str_eq(input_of(&made, "attn/q_proj"), "");
    cr_assert_eq(made.graph->op_count, 4);
    release(&made);
}

// Adds a product of two experts whose inputs are those of `second` beside those of `scheme`.
static tapml_status add_experts(struct made *made, const struct input_scheme *second)
{
    const tapml_host_graph *t = made->fixture.table;
    tapml_object *g = NULL;
    tapml_graph_value x = 0, chosen = 0;
    uint64_t weights[2] = {0, 0};

    builder_destroy(made->fixture.builder);
    checkpoint_set_inputs(made->checkpoint, LAYER "self_attn.o_proj.weight", second);
    fixture_ok(builder_create(made->fixture.catalogue, weights_object(made->weights),
                              &made->fixture.builder));
    builder_quantise_inputs(made->fixture.builder);
    g = builder_object(made->fixture.builder);
    fixture_ok(t->input(g, NULL, "x", TAPML_FROM_USER, TAPML_F32, SHAPE(TAPML_SYM_TOKENS, 1, 64),
                        NULL, &x));
    fixture_ok(t->input(g, NULL, "chosen", TAPML_FROM_USER, TAPML_I32, SHAPE(TAPML_SYM_TOKENS, 1),
                        NULL, &chosen));
    fixture_ok(
        t->weight(g, NULL, LAYER "self_attn.q_proj.weight", SHAPE(64, 64), NULL, &weights[0]));
    fixture_ok(
        t->weight(g, NULL, LAYER "self_attn.o_proj.weight", SHAPE(64, 64), NULL, &weights[1]));
    tapml_value args[] = {ID(x), ID(chosen), {.kind = TAPML_V_IDS, .count = 2, .u.p = weights},
                          NONE,  I64(0),     OUT};
    return t->op(g, NULL, "up", "tapml.linear_experts", 1, args, 6);
}

Test(fake_quantise, experts_of_a_product_share_the_factor_of_the_wider_range)
{
    struct made made;
    struct input_scheme second = scheme;
    struct draft *draft = NULL;

    make(&made, 1);
    second.factor = 3;
    fixture_ok(add_experts(&made, &second));
    fixture_ok(builder_draft(builder_object(made.fixture.builder), &draft));
    cr_assert_str_eq(draft->ops[0].instance, "up/input");
    cr_assert_eq(draft->ops[0].arguments[TAPML_FAKE_QUANTISE_FACTOR].d, 3);
    second.block = 32;
    fixture_expect(
        add_experts(&made, &second), TAPML_INVALID,
        "o_proj.weight': expected inputs that are quantised as those of the other experts");
    fixture_expect(add_experts(&made, NULL), TAPML_INVALID, "found others");
    release(&made);
}
