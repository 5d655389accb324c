// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "fixture.h"
#include "graph/adapt.h"
#include "model/checkpoint.h"
#include "model/input_scheme.h"
#include "model/weights.h"

// Weights of 6 outputs and 4 inputs, one of them the other way round, and two experts; with
// adapters of rank 2, of which one has another factor. The values are not read.
struct made {
    struct fixture fixture;
    struct checkpoint *checkpoint;
    struct weights *weights;
    tapml_object *object;
    tapml_graph_value x;
};

static const int64_t rows_first[] = {6, 4}, columns_first[] = {4, 6}, down[] = {2, 4},
                     up[] = {6, 2};
static const struct {
    const char *name;
    const int64_t *shape;
} tensors[] = {{"w", rows_first},         {"w.A", down},        {"w.B", up},
               {"turned", columns_first}, {"e.0", rows_first},  {"e.1", rows_first},
               {"e.2", rows_first},       {"plain", rows_first}};
static const struct checkpoint_adapter adapters[] = {{"w", "w", "w.A", "w.B", 3, 2},
                                                     {"turned", "turned", "w.A", "w.B", 1, 2},
                                                     {"e.0", "e.0", "w.A", "w.B", 0.5, 2},
                                                     {"e.1", "e.1", "w.A", "w.B", 0.5, 2},
                                                     {"e.2", "e.2", "w.A", "w.B", 0.25, 2}};

static void make(struct made *made)
{
    static float values[24];

    *made = (struct made){.x = 0};
    fixture_init(&made->fixture);
    builder_destroy(made->fixture.builder);
    fixture_ok(checkpoint_create(&made->checkpoint));
    for (size_t i = 0; i < sizeof(tensors) / sizeof(*tensors); i++) {
        const int64_t *shape = tensors[i].shape;
        fixture_ok(checkpoint_add_tensor(
            made->checkpoint,
            &(struct checkpoint_tensor){.name = tensors[i].name,
                                        .tensor = {.dtype = TAPML_F32, .rank = 2, .shape = shape},
                                        .data = values,
                                        .bytes = (uint64_t)(shape[0] * shape[1]) * sizeof(float),
                                        .file = "f"}));
    }
    fixture_ok(checkpoint_finish(made->checkpoint));
    for (size_t i = 0; i < sizeof(adapters) / sizeof(*adapters); i++) {
        checkpoint_set_adapter(made->checkpoint, &adapters[i]);
    }
    fixture_ok(weights_create(made->checkpoint, &made->weights));
    fixture_ok(builder_create(made->fixture.catalogue, weights_object(made->weights),
                              &made->fixture.builder));
    made->object = builder_object(made->fixture.builder);
    fixture_ok(made->fixture.table->input(made->object, NULL, "x", TAPML_FROM_USER, TAPML_F32,
                                          SHAPE(TAPML_SYM_TOKENS, 4), NULL, &made->x));
}

static void release(struct made *made)
{
    fixture_release(&made->fixture);
    weights_destroy(made->weights);
    checkpoint_close(made->checkpoint);
}

static tapml_graph_value weight(struct made *made, const char *name)
{
    tapml_graph_value w = 0;
    const int is_turned = strcmp(name, "turned") == 0;

    fixture_ok(made->fixture.table->weight(made->object, NULL, name,
                                           SHAPE(is_turned ? 4 : 6, is_turned ? 6 : 4), NULL, &w));
    return w;
}

static tapml_status linear(struct made *made,
                           const char *name,
                           tapml_graph_value w,
                           int is_turned,
                           tapml_graph_value *out_y)
{
    tapml_value args[] = {ID(made->x), ID(w), NONE, I64(is_turned), OUT};

    TAPML_TRY(made->fixture.table->op(made->object, NULL, name, "tapml.linear", 1, args, 5));
    *out_y = args[4].u.id;
    return TAPML_OK;
}

static const struct draft *draft_of(struct made *made)
{
    struct draft *draft = NULL;

    fixture_ok(builder_draft(made->object, &draft));
    return draft;
}

static const struct graph_op *op_of(const struct draft *draft, const char *instance)
{
    uint32_t index = 0;

    cr_assert(draft_find(draft, DRAFT_OP, instance, &index), "no op '%s'", instance);
    return &draft->ops[index];
}

Test(adapt, the_ops_of_an_adapter_follow_a_product_and_give_its_output)
{
    struct made made;
    tapml_graph_value y = 0, plain = 0;

    make(&made);
    fixture_ok(linear(&made, "q", weight(&made, "w"), 0, &y));
    fixture_ok(linear(&made, "p", weight(&made, "plain"), 0, &plain));
    const struct draft *draft = draft_of(&made);
    cr_assert_eq(draft->op_count, 6);
    const struct graph_op *q = op_of(draft, "q"), *a = op_of(draft, "q/lora_a"),
                          *b = op_of(draft, "q/lora_b"), *scale = op_of(draft, "q/lora_scale"),
                          *sum = op_of(draft, "q/lora");
    cr_assert_eq(a->arguments[0].value, made.x - 1);
    cr_assert_str_eq(draft->values[a->arguments[1].value].name, "w.A");
    cr_assert(draft->values[a->arguments[1].value].is_of_adapter);
    cr_assert_eq(b->arguments[0].value, a->arguments[4].value);
    cr_assert_str_eq(draft->values[b->arguments[1].value].name, "w.B");
    cr_assert_eq(scale->arguments[1].d, 3);
    cr_assert_eq(sum->arguments[0].value, q->arguments[4].value);
    cr_assert_eq(sum->arguments[1].value, scale->arguments[2].value);
    cr_assert_eq(sum->arguments[2].value, y - 1);
    release(&made);
}

// Rows 2 to 4 of the outputs, of a weight that lies either way.
Test(adapt, a_part_of_a_weight_has_its_rows_of_b)
{
    static const char *const names[] = {"w", "turned"};

    for (int is_turned = 0; is_turned < 2; is_turned++) {
        struct made made;
        tapml_graph_value y = 0, part = 0;

        make(&made);
        const tapml_graph_value w = weight(&made, names[is_turned]);
        fixture_ok(made.fixture.table->slice(made.object, NULL, w, is_turned ? 1 : 0, 2, 5, &part));
        fixture_ok(linear(&made, "k", part, is_turned, &y));
        const struct draft *draft = draft_of(&made);
        const struct graph_value *b = &draft->values[op_of(draft, "k/lora_b")->arguments[1].value];
        cr_assert_eq(b->kind, GRAPH_VIEW);
        cr_assert_eq(b->shape[0].constant, 3);
        cr_assert_eq(b->shape[1].constant, 2);
        cr_assert_eq(b->stride[0].constant, 2);
        cr_assert_eq(b->offset.constant, 4);
        cr_assert_eq(draft->values[y - 1].shape[1].constant, 3);
        cr_assert_eq(draft->op_count, is_turned ? 4 : 5, "a factor of 1 needs no op");
        release(&made);
    }
}

Test(adapt, a_part_by_inputs_is_refused)
{
    struct made made;
    tapml_graph_value x = 0, part = 0;

    make(&made);
    const tapml_host_graph *t = made.fixture.table;
    fixture_ok(t->slice(made.object, NULL, weight(&made, "w"), 1, 0, 2, &part));
    fixture_ok(t->slice(made.object, NULL, made.x, 1, 0, 2, &x));
    made.x = x;
    fixture_expect(linear(&made, "k", part, 0, &x), TAPML_UNIMPLEMENTED,
                   "tensor 'w': its adapter cannot follow the part");
    release(&made);
}

static tapml_status experts(struct made *made, const char *second)
{
    const tapml_host_graph *t = made->fixture.table;
    tapml_graph_value chosen = 0, x = 0;
    uint64_t list[] = {weight(made, "e.0"), weight(made, second)};

    fixture_ok(t->input(made->object, NULL, "chosen", TAPML_FROM_USER, TAPML_I32,
                        SHAPE(TAPML_SYM_TOKENS, 2), NULL, &chosen));
    fixture_ok(t->reshape(made->object, NULL, made->x, SHAPE(TAPML_SYM_TOKENS, 1, 4), &x));
    tapml_value args[] = {ID(x), ID(chosen), {.kind = TAPML_V_IDS, .count = 2, .u.p = list},
                          NONE,  I64(0),     OUT};
    return t->op(made->object, NULL, "up", "tapml.linear_experts", 1, args, 6);
}

Test(adapt, experts_have_adapters_of_their_own)
{
    struct made made;

    make(&made);
    fixture_ok(experts(&made, "e.1"));
    const struct draft *draft = draft_of(&made);
    cr_assert_eq(op_of(draft, "up/lora_a")->arguments[2].count, 2);
    cr_assert_eq(op_of(draft, "up/lora_b")->arguments[2].count, 2);
    cr_assert_eq(op_of(draft, "up/lora_scale")->arguments[1].d, 0.5);
    release(&made);
}

Test(adapt, experts_that_differ_are_refused)
{
    struct made made;

    make(&made);
    fixture_expect(experts(&made, "e.2"), TAPML_INVALID, "'e.2': expected an adapter as the other");
    release(&made);
    make(&made);
    fixture_expect(experts(&made, "plain"), TAPML_INVALID, "have, found none");
    release(&made);
}

Test(adapt, an_adapter_reads_what_was_not_rounded)
{
    static const struct input_scheme scheme = {.block = 2,
                                               .format = QUANT_FORMAT_E2M1,
                                               .scaling = QUANT_FORMAT_DIVIDED,
                                               .high = 8,
                                               .factor = 2};
    struct made made;
    tapml_graph_value y = 0;

    make(&made);
    checkpoint_set_inputs(made.checkpoint, "w", &scheme);
    builder_quantise_inputs(made.fixture.builder);
    fixture_ok(linear(&made, "q", weight(&made, "w"), 0, &y));
    const struct draft *draft = draft_of(&made);
    cr_assert_neq(op_of(draft, "q")->arguments[0].value, made.x - 1);
    cr_assert_eq(op_of(draft, "q/lora_a")->arguments[0].value, made.x - 1);
    release(&made);
}

Test(adapt, a_module_that_no_product_reads_is_refused)
{
    struct made made;
    struct graph *graph = NULL;
    tapml_graph_value y = 0;

    make(&made);
    fixture_ok(linear(&made, "p", weight(&made, "plain"), 0, &y));
    fixture_ok(made.fixture.table->output(made.object, NULL, "y", y));
    fixture_ok(builder_finish(made.fixture.builder, &graph));
    fixture_expect(adapt_check_used(graph, made.checkpoint), TAPML_INVALID, "module 'e.0'");
    graph_destroy(graph);
    release(&made);
}
