// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/text.h"
#include "graph/print.h"
#include "model_fixture.h"

#include <tapml/model/layer.h>

#include <criterion/criterion.h>
#include <string.h>

static tapml_graph_value ids(struct model_context *context)
{
    const int64_t shape = TAPML_SYM_TOKENS;

    return model_input(context, "input_ids", TAPML_FROM_USER, TAPML_I32, &shape, 1);
}

Test(model_layer, each_function_makes_its_op)
{
    struct model_fixture *fixture = model_fixture_open(NULL, "{}");
    struct model_context context = model_fixture_context(fixture);
    const int64_t heads[] = {TAPML_SYM_TOKENS, 2, 4};
    const int64_t table[] = {TAPML_SYM_TOKENS, 2};
    const int64_t wanted = TAPML_SYM_ROWS;
    const struct model_linear out_in = {.tensor = "l.{i}.a", .in = 8, .out = 8, .has_bias = 1};
    const struct model_linear in_out = {.tensor = "b", .in = 8, .out = 12, .is_transposed = 1};
    const struct model_norm norm = {.width = 8, .eps = 0.25, .offset = 1};
    const struct model_attention attention = {.scale = 0.5, .is_causal = 1, .window = 3};
    struct text text;

    context.layer = 7;
    tapml_graph_value h = model_embed(&context, "embed", ids(&context), "table", 10, 8);
    model_scope_begin(&context, "layers.{i}");
    h = model_linear(&context, "a", h, &out_in);
    h = model_rms_norm(&context, "norm", h, &norm);
    h = model_reshape(&context, h, heads, 3);
    const tapml_graph_value c = model_input(&context, "cos", TAPML_FROM_FILL, TAPML_F32, table, 2);
    h = model_rope(&context, "rope", h, c, c, 1);
    const tapml_graph_value k = model_state(&context, "k", 2, 4);
    model_state_append(&context, "append", k, h);
    h = model_attention(&context, "attention", h, k, k, &attention);
    h = model_multiply(&context, "mul", h, h);
    h = model_add(&context, "add", h, h);
    h = model_activation(&context, "swish", h);
    model_scope_end(&context);
    h = model_reshape(&context, h, (const int64_t[]){TAPML_SYM_TOKENS, 8}, 2);
    h = model_gather_rows(&context, "rows", h,
                          model_input(&context, "rows", TAPML_FROM_HOST, TAPML_I32, &wanted, 1));
    h = model_linear(&context, "b", h, &in_out);
    model_output_hidden(&context, 3, h);
    model_fixture_ok(context.status);

    text_init(&text);
    print_graph(model_fixture_finish(fixture), &text);
    cr_assert_str_eq(
        text.data,
        "input input_ids i32 [T] from user\n"
        "input cos f32 [T, 2] from fill\n"
        "state k f32 [C, 2, 4] = 0\n"
        "input rows i32 [R] from host\n"
        "embed = embed(table=table.weight f32 [10, 8], ids=input_ids i32 [T], offset=0) -> y f32 "
        "[T, 8]\n"
        "layers.7/a = linear(x=embed f32 [T, 8], w=l.7.a.weight f32 [8, 8], b=l.7.a.bias f32 [8], "
        "transposed=0) -> y f32 [T, 8]\n"
        "layers.7/norm = rms_norm(x=layers.7/a f32 [T, 8], weight=none, eps=0.25, offset=1) -> y "
        "f32 [T, 8]\n"
        "layers.7/rope = rope(x=layers.7/norm f32 [T, 2, 4] strides [8, 4, 1] at 0, cos=cos f32 "
        "[T, 2], sin=cos f32 [T, 2], interleaved=1) -> y f32 [T, 2, 4]\n"
        "layers.7/append = state_append(state=k f32 [C, 2, 4], rows=layers.7/rope f32 [T, 2, 4], "
        "position=P)\n"
        "layers.7/attention = attention(q=layers.7/rope f32 [T, 2, 4], k_state=k f32 [C, 2, 4], "
        "v_state=k f32 [C, 2, 4], slopes=none, sinks=none, key_mask=none, position=P, scale=0.5, "
        "causal=1, window=3, chunk=0, softcap=0, alibi_bf16=0) -> y f32 [T, 2, 4]\n"
        "layers.7/mul = mul(a=layers.7/attention f32 [T, 2, 4], b=layers.7/attention f32 [T, 2, "
        "4]) -> y f32 [T, 2, 4]\n"
        "layers.7/add = add(a=layers.7/mul f32 [T, 2, 4], b=layers.7/mul f32 [T, 2, 4]) -> y f32 "
        "[T, 2, 4]\n"
        "layers.7/silu = silu(x=layers.7/add f32 [T, 2, 4]) -> y f32 [T, 2, 4]\n"
        "rows = gather_rows(x=layers.7/silu f32 [T, 8] strides [8, 1] at 0, rows=rows i32 [R]) -> "
        "y f32 [R, 8]\n"
        "b = linear(x=rows f32 [R, 8], w=b.weight f32 [8, 12], b=none, transposed=1) -> y f32 [R, "
        "12]\n"
        "output hidden.3 = b f32 [R, 12]\n");
    text_release(&text);
    model_fixture_close(fixture);
}

Test(model_layer, after_a_failure_nothing_happens)
{
    struct model_fixture *fixture = model_fixture_open(NULL, "{}");
    struct model_context context = model_fixture_context(fixture);
    const tapml_graph_value x = ids(&context);

    cr_assert_eq(model_activation(&context, "mish", x), 0);
    model_fixture_expect(context.status, TAPML_UNIMPLEMENTED,
                         "'activation' is 'mish', expected 'silu', ");
    cr_assert_eq(model_add(&context, "add", x, x), 0);
    cr_assert_eq(model_state(&context, "k", 2, 4), 0);
    cr_assert_eq(model_embed(&context, "e", x, "table", 10, 8), 0);
    model_scope_begin(&context, "layers.{i}");
    model_scope_end(&context);
    model_fixture_expect(context.status, TAPML_UNIMPLEMENTED, "'activation' is 'mish'");

    // The host's own failures stay too.
    context.status = TAPML_OK;
    cr_assert_eq(model_gather_rows(&context, "rows", x, x), 0);
    model_fixture_expect(context.status, TAPML_INVALID,
                         "op 'rows': tapml.gather_rows: parameter 'x'");
    model_fixture_close(fixture);
}

// Each name that Hugging Face has for an activation, and the ops that it becomes.
Test(model_layer, activations)
{
    static const struct {
        const char *kind, *last;
    } known[] = {{"silu", "silu = silu("},
                 {"swish", "silu = silu("},
                 {"gelu", "gelu = gelu("},
                 {"gelu_new", "gelu_tanh = gelu_tanh("},
                 {"gelu_pytorch_tanh", "gelu_tanh = gelu_tanh("},
                 {"gelu_fast", "gelu_tanh = gelu_tanh("},
                 {"quick_gelu", "quick_gelu/gate = mul(a=table f32 [T, 8], b=quick_gelu/sigmoid"},
                 {"relu", "relu = relu("},
                 {"relu2", "square = mul(a=relu f32 [T, 8], b=relu f32 [T, 8])"},
                 {"sigmoid", "sigmoid = sigmoid("}};
    const int64_t shape[] = {TAPML_SYM_TOKENS, 8};

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        struct model_fixture *fixture = model_fixture_open(NULL, "{}");
        struct model_context context = model_fixture_context(fixture);
        struct text text;

        model_output(
            &context, "y",
            model_activation(&context, known[i].kind,
                             model_input(&context, "table", TAPML_FROM_FILL, TAPML_F32, shape, 2)));
        model_fixture_ok(context.status);
        text_init(&text);
        print_graph(model_fixture_finish(fixture), &text);
        cr_assert_not_null(strstr(text.data, known[i].last), "%s: %s", known[i].kind, text.data);
        text_release(&text);
        model_fixture_close(fixture);
    }
}

Test(model_layer, keys_with_several_names)
{
    struct model_fixture *fixture = model_fixture_open(NULL, "{\"b\": 2, \"c\": 3}");
    struct model_context context = model_fixture_context(fixture);

    cr_assert_str_eq(model_config_key(&context, "/a").text, "/a");
    cr_assert_str_eq(model_config_key(&context, "/a|/x").text, "/a");
    cr_assert_str_eq(model_config_key(&context, "/a|/b|/c").text, "/b");
    cr_assert_str_eq(model_config_key(&context, NULL).text, "");
    model_fixture_ok(model_fixture_check_config(fixture)); // Both were read.
    model_fixture_close(fixture);
}
