// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "fixture.h"
#include "graph/builder.h"

static struct fixture f;
static const tapml_host_graph *t;
static tapml_object *g;

static void setup(void)
{
    fixture_init(&f);
    t = f.table;
    g = f.object;
}

static void teardown(void)
{
    fixture_release(&f);
}

TestSuite(builder, .init = setup, .fini = teardown);

static tapml_graph_value input(const char *name, const int64_t *shape, size_t rank)
{
    tapml_graph_value value = 0;

    fixture_ok(
        t->input(g, NULL, name, TAPML_FROM_USER, TAPML_F32, shape, (uint32_t)rank, NULL, &value));
    return value;
}

// silu takes any strides, rms_norm contiguous rows.
static tapml_graph_value apply(const char *name, const char *op, tapml_graph_value x)
{
    tapml_value silu[] = {ID(x), OUT};
    tapml_value norm[] = {ID(x), NONE, F64(1e-5), F64(0), OUT};
    const int is_silu = strcmp(op, "tapml.silu") == 0;

    fixture_ok(is_silu ? t->op(g, NULL, name, op, 1, silu, 2)
                       : t->op(g, NULL, name, op, 1, norm, 5));
    return is_silu ? silu[1].u.id : norm[4].u.id;
}

static struct graph *finish(void)
{
    struct graph *graph = NULL;

    fixture_ok(builder_finish(f.builder, &graph));
    return graph;
}

Test(builder, a_small_graph)
{
    struct graph *graph = NULL;

    fixture_small_graph(&f);
    graph = finish();
    cr_assert_eq(graph->op_count, 3);
    cr_assert_str_eq(graph->ops[0].instance, "embed");
    cr_assert_str_eq(graph->ops[1].instance, "layers.0/k");
    cr_assert_str_eq(graph->ops[2].instance, "layers.0/append");

    const struct graph_value *embedded = &graph->values[graph->outputs[0].value];
    const struct affine tokens = {0, {1, 0, 0, 0}};
    cr_assert_str_eq(embedded->name, "embed");
    cr_assert_eq(embedded->kind, GRAPH_COMPUTED);
    cr_assert_eq(embedded->producer, 0);
    cr_assert(affine_equal(&embedded->shape[0], &tokens));
    cr_assert_eq(embedded->stride[0].constant, 8);

    const struct graph_argument *append = graph->ops[2].arguments;
    cr_assert_eq(graph->values[append[0].value].kind, GRAPH_STATE);
    cr_assert_eq(append[2].i.factor[AFFINE_POSITION], 1);
    cr_assert_eq(graph->values[append[1].value].kind, GRAPH_VIEW);
    cr_assert_str_eq(graph->values[graph->values[append[1].value].base].name, "layers.0/k");
    graph_destroy(graph);
}

Test(builder, the_graph_is_gone_once_finished)
{
    tapml_graph_value value = 0;

    fixture_small_graph(&f);
    graph_destroy(finish());
    cr_assert_eq(t->scope_begin(g, NULL, "late"), TAPML_PRECONDITION);
    cr_assert_eq(t->input(g, NULL, "late", 0, TAPML_F32, SHAPE(1), NULL, &value),
                 TAPML_PRECONDITION);
    cr_assert_null(t->describe(g, 1));
    cr_assert_eq(t->scope_end(NULL, NULL), TAPML_PRECONDITION);
}

Test(builder, sums_have_codes)
{
    int64_t codes[6];

    fixture_ok(t->affine(g, NULL, 7, NULL, 0, &codes[0]));
    cr_assert_eq(codes[0], 7);
    fixture_ok(t->affine(g, NULL, 0, (int64_t[]){0, 1}, 2, &codes[1]));
    cr_assert_eq(codes[1], TAPML_SYM_POSITION);
    fixture_ok(t->affine(g, NULL, 0, (int64_t[]){1, 1}, 2, &codes[2]));
    fixture_ok(t->affine(g, NULL, -1, (int64_t[]){1}, 1, &codes[3]));
    fixture_ok(t->affine(g, NULL, 0, (int64_t[]){1, 1, 0, 0}, 4, &codes[4]));
    cr_assert_lt(codes[2], TAPML_SYM_CAPACITY);
    cr_assert_lt(codes[3], TAPML_SYM_CAPACITY);
    cr_assert_neq(codes[2], codes[3]);
    cr_assert_eq(codes[2], codes[4], "the same sum has the same code");

    // As an extent, and seen again through `describe`.
    const tapml_graph_value x = input("x", SHAPE(codes[2], 4));
    const tapml_tensor *tensor = t->describe(g, x);
    cr_assert_eq(tensor->dtype, TAPML_F32);
    cr_assert_eq(tensor->rank, 2);
    cr_assert_eq(tensor->shape[0], codes[2]);
    cr_assert_eq(tensor->shape[1], 4);

    cr_assert_eq(t->affine(g, NULL, 0, (int64_t[]){1, 1, 1, 1, 1}, 5, &codes[5]), TAPML_INVALID);
    cr_assert_eq(t->affine(g, NULL, 0, NULL, 2, &codes[5]), TAPML_INVALID);
    cr_assert_eq(t->affine(g, NULL, INT64_MIN, NULL, 0, &codes[5]), TAPML_INVALID);
    cr_assert_eq(t->affine(g, NULL, 0, NULL, 0, NULL), TAPML_INVALID);
}

Test(builder, scopes)
{
    char deep[200];

    memset(deep, 'a', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    cr_assert_eq(t->scope_end(g, NULL), TAPML_PRECONDITION);
    fixture_expect(t->scope_begin(g, NULL, "a/b"), TAPML_INVALID, "scope 'a/b'");
    fixture_expect(t->scope_begin(g, NULL, NULL), TAPML_INVALID, "a name is of letters");
    fixture_expect(t->scope_begin(g, NULL, ""), TAPML_INVALID, "a name is of letters");
    fixture_expect(t->scope_begin(g, NULL, "a b"), TAPML_INVALID, "a name is of letters");
    fixture_ok(t->scope_begin(g, NULL, deep));
    fixture_expect(t->scope_begin(g, NULL, deep), TAPML_INVALID, "at most 255 bytes");
    for (unsigned i = 1; i < 16; i++) {
        fixture_ok(t->scope_begin(g, NULL, "s"));
    }
    fixture_expect(t->scope_begin(g, NULL, "s"), TAPML_INVALID, "more than 16 scopes");
    for (unsigned i = 0; i < 16; i++) {
        fixture_ok(t->scope_end(g, NULL));
    }
    cr_assert_eq(t->scope_end(g, NULL), TAPML_PRECONDITION);
}

Test(builder, errors_name_the_scope)
{
    const tapml_graph_value x = input("x", SHAPE(TAPML_SYM_TOKENS, 8));
    tapml_graph_value w = 0;

    fixture_ok(t->weight(g, NULL, "w", SHAPE(4, 9), NULL, &w));
    fixture_ok(t->scope_begin(g, NULL, "layers.3"));
    fixture_ok(t->scope_begin(g, NULL, "attn"));
    fixture_expect(
        t->op(g, NULL, "q", "tapml.linear", 1, ARGS(ID(x), ID(w), NONE, I64(0), OUT)),
        TAPML_INVALID,
        "in 'layers.3/attn': op 'q': tapml.linear: parameter 'w' ('w'): axis 1 is 9, 'in' is 8");
}

Test(builder, views_that_do_not_fit_are_copied)
{
    const tapml_graph_value x = input("x", SHAPE(TAPML_SYM_TOKENS, 4, 8));
    tapml_graph_value turned = 0;

    fixture_ok(t->transpose(g, NULL, x, (uint32_t[]){0, 2, 1}, 3, &turned));
    apply("silu", "tapml.silu", turned);
    fixture_ok(t->scope_begin(g, NULL, "s"));
    fixture_ok(t->output(g, NULL, "y", apply("norm", "tapml.rms_norm", turned)));
    fixture_ok(t->scope_end(g, NULL));

    struct graph *graph = finish();
    cr_assert_eq(graph->op_count, 3);
    cr_assert_str_eq(graph->ops[0].instance, "silu");
    cr_assert_str_eq(graph->ops[1].instance, "s/norm/copy.x");
    cr_assert_eq(graph->ops[1].op, &tapml_copy);
    cr_assert_str_eq(graph->ops[2].instance, "s/norm");
    cr_assert_eq(graph->ops[2].arguments[0].value, graph->ops[1].arguments[1].value);
    graph_destroy(graph);
}

Test(builder, slices_of_a_fused_row_need_no_copy)
{
    const tapml_graph_value x = input("x", SHAPE(TAPML_SYM_TOKENS, 24));
    tapml_graph_value part = 0;
    tapml_graph_value heads = 0;

    fixture_ok(t->slice(g, NULL, x, 1, 8, 16, &part));
    fixture_ok(t->reshape(g, NULL, part, SHAPE(TAPML_SYM_TOKENS, 2, 4), &heads));
    fixture_ok(t->output(g, NULL, "y", apply("norm", "tapml.rms_norm", heads)));

    struct graph *graph = finish();
    cr_assert_eq(graph->op_count, 1);

    const struct graph_value *view = &graph->values[graph->ops[0].arguments[0].value];
    cr_assert_eq(view->kind, GRAPH_VIEW);
    cr_assert_eq(view->offset.constant, 8);
    cr_assert_eq(view->stride[0].constant, 24);
    cr_assert_eq(view->stride[1].constant, 4);
    cr_assert_eq(view->base, graph_find_value(graph, GRAPH_INPUT, "x"));
    graph_destroy(graph);
}

Test(builder, a_reshape_copies_where_it_must)
{
    const tapml_graph_value x = input("x", SHAPE(6, 4));
    tapml_graph_value turned = 0;
    tapml_graph_value flat = 0;

    fixture_ok(t->transpose(g, NULL, x, (uint32_t[]){1, 0}, 2, &turned));
    fixture_ok(t->reshape(g, NULL, turned, SHAPE(24), &flat));
    fixture_ok(t->reshape(g, NULL, turned, SHAPE(3, 8), &flat));
    fixture_ok(t->output(g, NULL, "y", flat));
    fixture_expect(t->reshape(g, NULL, turned, SHAPE(23), &flat), TAPML_INVALID,
                   "view of 'x': the numbers of elements differ");

    struct graph *graph = finish();
    cr_assert_eq(graph->op_count, 2);
    cr_assert_str_eq(graph->ops[0].instance, "x/copy");
    cr_assert_str_eq(graph->ops[1].instance, "x/copy.2");
    graph_destroy(graph);
}

Test(builder, repeats)
{
    const tapml_graph_value x = input("x", SHAPE(TAPML_SYM_TOKENS, 1));
    const tapml_graph_value y = input("y", SHAPE(TAPML_SYM_TOKENS, 8));
    tapml_graph_value wide = 0;

    fixture_ok(t->repeat(g, NULL, x, 1, 8, &wide));
    fixture_ok(t->op(g, NULL, "mul", "tapml.mul", 1, ARGS(ID(y), ID(wide), OUT)));
    fixture_expect(t->repeat(g, NULL, y, 1, 8, &wide), TAPML_INVALID, "axis 1 is 8 long");
    fixture_ok(t->output(g, NULL, "z", wide));
    graph_destroy(finish());
}

Test(builder, states_are_written_themselves_and_weights_stay_constant)
{
    const tapml_graph_value x = input("x", SHAPE(TAPML_SYM_TOKENS, 2, 8));
    tapml_graph_value state = 0, half = 0, mean = 0;

    fixture_ok(t->state(g, NULL, "k", TAPML_F32, SHAPE(TAPML_SYM_CAPACITY, 4, 8), 0, &state));
    fixture_ok(t->slice(g, NULL, state, 1, 0, 2, &half));
    fixture_expect(t->op(g, NULL, "a", "tapml.state_append", 1,
                         ARGS(ID(half), ID(x), SYM(TAPML_SYM_POSITION))),
                   TAPML_INVALID, "only a state itself is written in place, 'k' is a view");
    fixture_expect(
        t->op(g, NULL, "a", "tapml.state_append", 1, ARGS(ID(x), ID(x), SYM(TAPML_SYM_POSITION))),
        TAPML_INVALID, "'x' is an input");
    mean = input("mean", SHAPE(8));
    fixture_expect(
        t->op(g, NULL, "n", "tapml.rms_norm", 1, ARGS(ID(x), ID(mean), F64(0.1), F64(0), OUT)),
        TAPML_INVALID, "parameter 'weight': a weight or a constant is expected");
}

Test(builder, wrong_arguments_of_ops)
{
    const tapml_graph_value x = input("x", SHAPE(TAPML_SYM_TOKENS, 8));

    fixture_expect(t->op(g, NULL, "a", "tapml.none", 1, ARGS(ID(x), OUT)), TAPML_NOT_FOUND,
                   "op 'a': op 'tapml.none' version 1 is unknown");
    fixture_expect(t->op(g, NULL, "a", "tapml.silu", 2, ARGS(ID(x), OUT)), TAPML_NOT_FOUND,
                   "version 2");
    fixture_expect(t->op(g, NULL, "a", NULL, 1, ARGS(ID(x), OUT)), TAPML_NOT_FOUND, "op ''");
    fixture_expect(t->op(g, NULL, NULL, "tapml.silu", 1, ARGS(ID(x), OUT)), TAPML_INVALID,
                   "a name");
    fixture_expect(t->op(g, NULL, "a/b", "tapml.silu", 1, ARGS(ID(x), OUT)), TAPML_INVALID,
                   "a name");
    fixture_expect(t->op(g, NULL, "a", "tapml.silu", 1, NULL, 2), TAPML_INVALID, "arguments");
    fixture_expect(t->op(g, NULL, "a", "tapml.silu", 1, ARGS(OUT)), TAPML_INVALID,
                   "1 arguments, expected 2");
    fixture_expect(t->op(g, NULL, "a", "tapml.silu", 1, ARGS(ID(99), OUT)), TAPML_INVALID,
                   "the graph has no value 99");
    fixture_expect(t->op(g, NULL, "a", "tapml.silu", 1, ARGS(ID(0), OUT)), TAPML_INVALID,
                   "the graph has no value 0");
    fixture_expect(t->op(g, NULL, "a", "tapml.silu", 1, ARGS(NONE, OUT)), TAPML_INVALID,
                   "parameter 'x': is left out");
    fixture_expect(t->op(g, NULL, "a", "tapml.silu", 1, ARGS(ID(x), ID(x))), TAPML_INVALID,
                   "does not fit");
    fixture_expect(t->op(g, NULL, "a", "tapml.silu", 1, ARGS(F64(1), OUT)), TAPML_INVALID,
                   "does not fit");
    fixture_expect(t->op(g, NULL, "a", "tapml.gather_rows", 1, ARGS(ID(x), SYM(-77), OUT)),
                   TAPML_INVALID, "does not fit");
    apply("a", "tapml.silu", x);
    fixture_expect(t->op(g, NULL, "a", "tapml.silu", 1, ARGS(ID(x), OUT)), TAPML_INVALID,
                   "two instances are named 'a'");
}

Test(builder, wrong_values)
{
    tapml_graph_value v = 0;

    fixture_expect(t->input(g, NULL, NULL, 0, TAPML_F32, SHAPE(1), NULL, &v), TAPML_INVALID,
                   "a name");
    fixture_expect(t->input(g, NULL, "x", 9, TAPML_F32, SHAPE(1), NULL, &v), TAPML_INVALID,
                   "source 9");
    fixture_expect(t->input(g, NULL, "x", 0, 77, SHAPE(1), NULL, &v), TAPML_INVALID, "dtype 0x4d");
    fixture_expect(t->input(g, NULL, "x", 0, TAPML_F32, NULL, 2, NULL, &v), TAPML_INVALID,
                   "a shape");
    fixture_expect(t->input(g, NULL, "x", 0, TAPML_F32, SHAPE(1, 1, 1, 1, 1, 1, 1), NULL, &v),
                   TAPML_INVALID, "found 7");
    fixture_expect(t->input(g, NULL, "x", 0, TAPML_F32, SHAPE(0), NULL, &v), TAPML_INVALID,
                   "at least 1");
    fixture_expect(t->input(g, NULL, "x", 0, TAPML_F32, SHAPE(-5), NULL, &v), TAPML_INVALID,
                   "code -5");
    fixture_expect(t->input(g, NULL, "x", 0, TAPML_F32, SHAPE(INT64_MIN), NULL, &v), TAPML_INVALID,
                   "no sum of symbols");
    fixture_expect(t->input(g, NULL, "x", 0, TAPML_F32, SHAPE(1), NULL, NULL), TAPML_INVALID,
                   "no place");
    fixture_expect(
        t->input(g, NULL, "rows", TAPML_FROM_HOST, TAPML_F32, SHAPE(TAPML_SYM_ROWS), NULL, &v),
        TAPML_INVALID, "i32 [R]");
    fixture_expect(t->state(g, NULL, "s", TAPML_F32, SHAPE(TAPML_SYM_TOKENS), 0, &v), TAPML_INVALID,
                   "numbers and C only");
    input("x", SHAPE(1));
    fixture_expect(t->input(g, NULL, "x", 0, TAPML_F32, SHAPE(1), NULL, &v), TAPML_INVALID,
                   "two inputs are named 'x'");
    fixture_expect(t->slice(g, NULL, 0, 0, 0, 1, &v), TAPML_INVALID, "no value 0");
    fixture_expect(t->slice(g, NULL, 1, 3, 0, 1, &v), TAPML_INVALID, "axis 3");
    fixture_expect(t->transpose(g, NULL, 1, NULL, 1, &v), TAPML_INVALID, "no axes");
    fixture_expect(t->reshape(g, NULL, 1, SHAPE(1), NULL), TAPML_INVALID, "no place");
    fixture_expect(t->output(g, NULL, NULL, 1), TAPML_INVALID, "a name");
    fixture_expect(t->output(g, NULL, "y", 7), TAPML_INVALID, "no value 7");
    cr_assert_null(t->describe(g, 7));
    fixture_ok(t->output(g, NULL, "y", 1));
    fixture_expect(t->output(g, NULL, "y", 1), TAPML_INVALID, "two outputs are named 'y'");
}

Test(builder, constants_are_known_by_their_content)
{
    const float slopes[] = {0.5f, 0.25f};
    const float others[] = {0.5f, 0.125f};
    tapml_graph_value a = 0, b = 0, c = 0, d = 0;

    fixture_ok(t->constant(g, NULL, TAPML_F32, SHAPE(2), slopes, &a));
    fixture_ok(t->constant(g, NULL, TAPML_F32, SHAPE(2), slopes, &b));
    fixture_ok(t->constant(g, NULL, TAPML_F32, SHAPE(2), others, &c));
    fixture_ok(t->constant(g, NULL, TAPML_F32, SHAPE(1, 2), slopes, &d));
    cr_assert_eq(a, b);
    cr_assert_neq(a, c);
    cr_assert_neq(a, d);
    cr_assert_eq(t->constant(g, NULL, TAPML_F32, SHAPE(2), NULL, &a), TAPML_INVALID);
    cr_assert_eq(t->constant(g, NULL, TAPML_F32, SHAPE(TAPML_SYM_TOKENS), slopes, &a),
                 TAPML_INVALID);
    fixture_ok(t->output(g, NULL, "y", c));

    struct graph *graph = finish();
    const struct graph_value *value = &graph->values[graph->outputs[0].value];
    cr_assert_eq(value->data_bytes, sizeof(others));
    cr_assert_eq(memcmp(value->data, others, sizeof(others)), 0);
    graph_destroy(graph);
}

Test(builder, finishing_asks_for_a_whole_graph)
{
    struct graph *graph = NULL;
    const tapml_graph_value x = input("x", SHAPE(TAPML_SYM_TOKENS, 8));

    fixture_expect(builder_finish(f.builder, &graph), TAPML_INVALID, "has no output");
    fixture_ok(t->output(g, NULL, "y", apply("a", "tapml.silu", x)));
    fixture_ok(t->scope_begin(g, NULL, "open"));
    fixture_expect(builder_finish(f.builder, &graph), TAPML_INVALID, "scope 'open' is still open");
    fixture_ok(t->scope_end(g, NULL));
    input("unused", SHAPE(1));
    fixture_expect(builder_finish(f.builder, &graph), TAPML_INVALID,
                   "input 'unused' is never used");
}

Test(builder, the_object_knows_its_interface)
{
    cr_assert_eq(g->vt->interface_of(g, TAPML_HOST_GRAPH), t);
    cr_assert_null(g->vt->interface_of(g, TAPML_HOST_CONFIG));
    g->vt->release(g);
}

// Every failing allocation on the way through ends in TAPML_NO_MEMORY, and nothing is left behind.
static tapml_status build_small(const struct catalogue *catalogue)
{
    struct builder *builder = NULL;
    struct graph *graph = NULL;
    tapml_graph_value x = 0;
    tapml_value silu[] = {NONE, OUT};
    tapml_status status = builder_create(catalogue, NULL, &builder);

    if (status == TAPML_OK) {
        tapml_object *object = builder_object(builder);

        status = t->input(object, NULL, "x", 0, TAPML_F32, SHAPE(TAPML_SYM_TOKENS, 8), NULL, &x);
        silu[0] = ID(x);
        status = status == TAPML_OK ? t->op(object, NULL, "a", "tapml.silu", 1, silu, 2) : status;
        status = status == TAPML_OK ? t->output(object, NULL, "y", silu[1].u.id) : status;
        status = status == TAPML_OK ? builder_finish(builder, &graph) : status;
    }
    graph_destroy(graph);
    builder_destroy(builder);
    return status;
}

Test(builder, memory_may_run_out_anywhere)
{
    const size_t live = alloc_live();
    tapml_status status = TAPML_NO_MEMORY;

    for (size_t n = 1; status != TAPML_OK; n++) {
        cr_assert_lt(n, 200);
        alloc_fail_at(n);
        status = build_small(f.catalogue);
        alloc_fail_at(0);
        cr_assert(status == TAPML_OK || status == TAPML_NO_MEMORY, "%s", status_message());
        cr_assert_eq(alloc_live(), live);
    }
}
