// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "selective.h"

enum { TAPS_MAX = 64 };

struct selective {
    const struct stack *stack;
    int64_t inner, columns, rank, taps; // Channels, numbers that each carries, the rank of dt.
    const char *activation;
    int has_conv_bias, has_biases, normalises_parts;
    double part_eps;
};

// A checkpoint shows the rank, which a config may leave to the class.
static int64_t read_rank(struct model_context *context, const struct selective *own)
{
    static const char tensor[] = "backbone.layers.{i}.mixer.dt_proj.weight";
    static const char key[] = "/time_step_rank";
    const int64_t shape[] = {own->inner, 0};

    if (model_has_tensor(context, tensor, shape, 2, 0)) {
        context->config_table->ignore(context->config, key);
        return stack_extent(context, tensor, shape, 2, 1);
    }
    return model_config_count_of(context, key, (own->stack->hidden + 15) / 16, MODEL_WIDTH_MAX);
}

// What the classes of Hugging Face do not read.
static void pass_over(struct model_context *context)
{
    static const char *const keys[] = {"/d_inner",
                                       "/d_model",
                                       "/n_layer",
                                       "/ssm_cfg",
                                       "/dt_rank",
                                       "/fused_add_norm",
                                       "/pad_vocab_size_multiple",
                                       "/use_falcon_mambapy",
                                       "/activation_function",
                                       "/n_positions"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        context->config_table->ignore(context->config, keys[i]);
    }
    context->config_table->expect(context->config, "/rms_norm", "true");
}

static void read_own(struct model_context *context, struct selective *own)
{
    const tapml_host_config *table = context->config_table;
    tapml_object *config = context->config;

    // A config has both, and the class takes the first.
    own->inner = table->has(config, "/intermediate_size")
                     ? model_config_count_of(context, "/intermediate_size", 0, MODEL_WIDTH_MAX)
                     : stack_expanded(context, own->stack);
    table->ignore(config, "/expand");
    own->columns = model_config_count_of(context, "/state_size", 16, MODEL_HEADS_MAX);
    own->taps = model_config_count_of(context, "/conv_kernel", 4, TAPS_MAX);
    own->has_conv_bias = table->boolean(config, "/use_conv_bias", 1);
    own->has_biases = table->boolean(config, "/use_bias", 0);
    own->activation = model_config_activation(context, "/hidden_act", "silu");
    own->rank = context->status == TAPML_OK ? read_rank(context, own) : 1;
    if (own->normalises_parts) {
        own->part_eps = model_config_eps(context, "/mixer_rms_eps", 1e-6);
    }
    pass_over(context);
    if (own->taps < 2) {
        model_fail(context, TAPML_INVALID, "'conv_kernel' is %lld, expected 2 to %d",
                   (long long)own->taps, TAPS_MAX);
    }
}

// What a token selects.
struct parts {
    tapml_graph_value dt, b, c;
};

// x [T, columns begin .. end] of what x_proj gives.
static tapml_graph_value part(struct model_context *context,
                              const struct selective *own,
                              const char *norm_name,
                              const int64_t begin_end[2],
                              tapml_graph_value x)
{
    const struct model_norm norm = {.width = begin_end[1] - begin_end[0], .eps = own->part_eps};

    x = model_slice(context, x, 1, begin_end[0], begin_end[1]);
    return own->normalises_parts ? model_rms_norm(context, norm_name, x, &norm) : x;
}

static struct parts
select_parts(struct model_context *context, const struct selective *own, tapml_graph_value u)
{
    const int64_t rank = own->rank;
    const int64_t ends[] = {0, rank, rank + own->columns, rank + 2 * own->columns};
    const struct model_linear up = {.tensor = "backbone.layers.{i}.mixer.dt_proj",
                                    .in = rank,
                                    .out = own->inner,
                                    .has_bias = 1};
    const tapml_graph_value all = model_linear_of(
        context, "x_proj", "backbone.layers.{i}.mixer.x_proj", u, own->inner, ends[3]);
    struct parts parts;

    parts.dt = part(context, own, "dt_norm", &ends[0], all);
    parts.dt = model_softplus(context, "softplus", model_linear(context, "dt_proj", parts.dt, &up));
    parts.b = part(context, own, "B_norm", &ends[1], all);
    parts.c = part(context, own, "C_norm", &ends[2], all);
    return parts;
}

// exp(dt A), with A = -exp(A_log): [T, inner, columns].
static tapml_graph_value
decays(struct model_context *context, const struct selective *own, tapml_graph_value dt)
{
    const int64_t shape[] = {own->inner, own->columns}, count = shape[0] * shape[1];
    const tapml_graph_value logs =
        model_operand(context, "A_log", "backbone.layers.{i}.mixer.A_log", shape, 2);
    const tapml_graph_value a = model_scale(context, "minus", model_exp(context, "A", logs), -1);
    const tapml_graph_value rates =
        model_in_heads(context, model_every_token(context, a, count), shape[0], shape[1]);
    const tapml_graph_value steps = model_widen(context, dt, shape[0], shape[1]);

    return model_exp(context, "decay", model_multiply(context, "dt_A", steps, rates));
}

// Every channel is a head: y = S C + D u.
static tapml_graph_value
scan(struct model_context *context, const struct selective *own, tapml_graph_value u)
{
    const int64_t inner = own->inner, state[] = {inner, 1, own->columns};
    const struct parts parts = select_parts(context, own, u);
    const tapml_graph_value d =
        model_operand(context, "D", "backbone.layers.{i}.mixer.D", &inner, 1);
    const struct model_scan recurrence = {
        .r = model_in_heads(context, parts.c, 1, own->columns),
        .w = decays(context, own, parts.dt),
        .k = model_in_heads(context, parts.b, 1, own->columns),
        .v = model_in_heads(context, model_multiply(context, "dt_u", parts.dt, u), inner, 1),
        .state = model_fixed_state(context, "layers.{i}/state", state, 3),
    };
    const tapml_graph_value y =
        model_in_rows(context, model_linear_scan(context, "scan", &recurrence), inner);

    return model_add(context, "skip_add", y,
                     model_multiply(context, "skip", u, model_every_token(context, d, inner)));
}

static tapml_graph_value
mixer(struct model_context *context, const void *description, tapml_graph_value x)
{
    const struct selective *own = description;
    const int64_t inner = own->inner;
    const struct model_linear in = {.tensor = "backbone.layers.{i}.mixer.in_proj",
                                    .in = own->stack->hidden,
                                    .out = 2 * inner,
                                    .has_bias = own->has_biases};
    const struct model_linear out = {.tensor = "backbone.layers.{i}.mixer.out_proj",
                                     .in = inner,
                                     .out = own->stack->hidden,
                                     .has_bias = own->has_biases};
    const tapml_graph_value both = model_linear(context, "in_proj", x, &in);
    const tapml_graph_value u = model_conv1d_of(context, "backbone.layers.{i}.mixer.conv1d",
                                                model_slice(context, both, 1, 0, inner), inner,
                                                own->taps, own->has_conv_bias);
    tapml_graph_value y = scan(context, own, model_activation(context, own->activation, u));

    model_scope_begin(context, "gate");
    y = model_multiply(context, "mul", y,
                       model_activation(context, own->activation,
                                        model_slice(context, both, 1, inner, 2 * inner)));
    model_scope_end(context);
    return model_linear(context, "out_proj", y, &out);
}

tapml_graph_value selective_layers(struct model_context *context,
                                   const struct stack *stack,
                                   int normalises_parts,
                                   tapml_graph_value h)
{
    struct selective own = {.stack = stack, .normalises_parts = normalises_parts};

    context->layer = 0;
    read_own(context, &own);
    if (context->status != TAPML_OK) {
        return 0; // Sizes that are refused may be 0.
    }
    return stack_mixers(context, stack, mixer, &own, h);
}
