// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Mamba-2 (arXiv 2405.21060): h = h + mixer(norm(h)), and nothing else. A head of the mixer carries
// a matrix from token to token, which decays by exp(dt A) and takes up dt u B; groups of heads
// share B and C.
#include "stack.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { TAPS_MAX = 64 };

struct mamba2 {
    const struct stack *stack;
    int64_t inner, heads, head_width, groups, columns, taps; // `columns` of a head's state.
    int64_t convolved;                                       // Channels: u, B, C.
    int has_conv_bias, has_biases;
    double low, high; // Limits of dt.
};

static void check(struct model_context *context, const struct mamba2 *own)
{
    static const char *const acts[] = {"silu", "swish", NULL};
    const long long heads_width = own->heads * own->head_width;

    if (heads_width != own->inner) {
        model_fail(context, TAPML_INVALID,
                   "'num_heads' times 'head_dim' is %lld, 'expand' times 'hidden_size' is %lld",
                   heads_width, (long long)own->inner);
    }
    if (own->groups < 1 || own->heads % own->groups != 0) {
        model_fail(context, TAPML_INVALID, "'num_heads' is %lld, no multiple of 'n_groups', %lld",
                   (long long)own->heads, (long long)own->groups);
    }
    if (own->taps < 2) {
        model_fail(context, TAPML_INVALID, "'conv_kernel' is %lld, expected 2 to %d",
                   (long long)own->taps, TAPS_MAX);
    }
    if (!(own->low <= own->high)) {
        model_fail(context, TAPML_INVALID, "'time_step_limit' is %g to %g, expected a range",
                   own->low, own->high);
    }
    (void)model_config_choice(context, "/hidden_act", acts[0], acts); // They are the same.
}

static void read_own(struct model_context *context, struct mamba2 *own)
{
    const tapml_host_config *table = context->config_table;
    tapml_object *config = context->config;

    own->inner = stack_expanded(context, own->stack);
    own->heads = model_config_count_of(context, "/num_heads", 128, MODEL_HEADS_MAX);
    own->head_width = model_config_count_of(context, "/head_dim", 64, MODEL_HEADS_MAX);
    own->groups = model_config_count_of(context, "/n_groups", 8, MODEL_HEADS_MAX);
    own->columns = model_config_count_of(context, "/state_size", 128, MODEL_HEADS_MAX);
    own->taps = model_config_count_of(context, "/conv_kernel", 4, TAPS_MAX);
    own->convolved = own->inner + 2 * own->groups * own->columns;
    own->has_conv_bias = table->boolean(config, "/use_conv_bias", 1);
    own->has_biases = table->boolean(config, "/use_bias", 0);
    own->low = model_config_between(context, "/time_step_limit/0", 0, -FLT_MAX, 1e15);
    own->high = model_config_between(context, "/time_step_limit/1", INFINITY, -FLT_MAX, INFINITY);
    table->ignore(config, "/chunk_size");     // How it is computed.
    table->ignore(config, "/time_step_rank"); // Of Mamba.
    table->ignore(config, "/fused_add_norm");
    table->ignore(config, "/norm_before_gate");  // The class gates first whatever it says,
    table->ignore(config, "/intermediate_size"); // and computes the width.
    table->expect(config, "/rms_norm", "true");
    check(context, own);
}

static tapml_graph_value project(struct model_context *context,
                                 const struct mamba2 *own,
                                 const char *name,
                                 const char *tensor,
                                 tapml_graph_value x,
                                 const int64_t in_out[2])
{
    return model_linear(
        context, name, x,
        &(struct model_linear){
            .tensor = tensor, .in = in_out[0], .out = in_out[1], .has_bias = own->has_biases});
}

static tapml_graph_value
operand(struct model_context *context, const char *name, const char *tensor, int64_t width)
{
    return model_operand(context, name, tensor, &width, 1);
}

// softplus(dt + bias) within its limits: [T, heads].
static tapml_graph_value
time_steps(struct model_context *context, const struct mamba2 *own, tapml_graph_value dt)
{
    const tapml_graph_value bias =
        operand(context, "dt_bias", "backbone.layers.{i}.mixer.dt_bias", own->heads);

    dt = model_add(context, "dt", dt, model_every_token(context, bias, own->heads));
    dt = model_softplus(context, "softplus", dt);
    if (own->low > 0 || own->high <= FLT_MAX) {
        dt = model_clip(context, "dt_clip", dt, fmax(own->low, -FLT_MAX), fmin(own->high, FLT_MAX));
    }
    return dt;
}

// exp(dt A), with A = -exp(A_log): [T, heads, 1].
static tapml_graph_value
decays(struct model_context *context, const struct mamba2 *own, tapml_graph_value dt)
{
    const tapml_graph_value logs =
        operand(context, "A_log", "backbone.layers.{i}.mixer.A_log", own->heads);
    const tapml_graph_value a = model_scale(context, "minus", model_exp(context, "A", logs), -1);
    const tapml_graph_value exponents =
        model_multiply(context, "dt_A", dt, model_every_token(context, a, own->heads));

    return model_in_heads(context, model_exp(context, "decay", exponents), own->heads, 1);
}

// The heads' part, between the projections: y = S C + D u.
static tapml_graph_value scan(struct model_context *context,
                              const struct mamba2 *own,
                              tapml_graph_value convolved,
                              tapml_graph_value dt)
{
    const int64_t heads = own->heads, width = own->head_width, columns = own->columns;
    const int64_t state[] = {heads, width, columns};
    const int64_t b = own->inner, c = b + own->groups * columns;
    const tapml_graph_value skip = operand(context, "D", "backbone.layers.{i}.mixer.D", heads);
    const tapml_graph_value u =
        model_in_heads(context, model_slice(context, convolved, 1, 0, b), heads, width);
    const struct model_scan recurrence = {
        .r = model_in_heads(context, model_slice(context, convolved, 1, c, own->convolved),
                            own->groups, columns),
        .w = decays(context, own, dt),
        .k =
            model_in_heads(context, model_slice(context, convolved, 1, b, c), own->groups, columns),
        .v = model_multiply(context, "dt_u", u, model_widen(context, dt, heads, width)),
        .state = model_fixed_state(context, "layers.{i}/state", state, 3),
    };
    const tapml_graph_value y = model_linear_scan(context, "scan", &recurrence);
    const tapml_graph_value d = model_every_token(context, skip, heads);

    return model_add(context, "skip_add", y,
                     model_multiply(context, "skip", u, model_widen(context, d, heads, width)));
}

static tapml_graph_value
mixer(struct model_context *context, const void *description, tapml_graph_value x)
{
    const struct mamba2 *own = description;
    const int64_t inner = own->inner, after = inner + own->convolved;
    const int64_t in[] = {own->stack->hidden, after + own->heads};
    const int64_t out[] = {inner, own->stack->hidden};
    const struct model_norm norm = {
        .tensor = "backbone.layers.{i}.mixer.norm", .width = inner, .eps = own->stack->eps};
    const tapml_graph_value all =
        project(context, own, "in_proj", "backbone.layers.{i}.mixer.in_proj", x, in);
    const tapml_graph_value convolved =
        model_activation(context, "silu",
                         model_conv1d_of(context, "backbone.layers.{i}.mixer.conv1d",
                                         model_slice(context, all, 1, inner, after), own->convolved,
                                         own->taps, own->has_conv_bias));
    const tapml_graph_value dt =
        time_steps(context, own, model_slice(context, all, 1, after, in[1]));
    tapml_graph_value y = model_in_rows(context, scan(context, own, convolved, dt), inner);

    model_scope_begin(context, "gate");
    y = model_multiply(context, "mul", y,
                       model_activation(context, "silu", model_slice(context, all, 1, 0, inner)));
    model_scope_end(context);
    y = model_rms_norm(context, "gated_norm", y, &norm);
    return project(context, own, "out_proj", "backbone.layers.{i}.mixer.out_proj", y, out);
}

static tapml_graph_value
layers(struct model_context *context, const struct stack *stack, tapml_graph_value h)
{
    struct mamba2 own = {.stack = stack};

    read_own(context, &own);
    if (context->status != TAPML_OK) {
        return 0; // Sizes that are refused may be 0.
    }
    return stack_mixers(context, stack, mixer, &own, h);
}

static const struct stack_description description = {
    .embed = "backbone.embeddings",
    .older_embed = "backbone.embedding",
    .norm = "backbone.norm_f",
    .head = "lm_head",
    .eps = "/layer_norm_epsilon",
    .eps_fallback = 1e-5,
    .sizes = {.hidden = 4096, .layers = 64, .vocabulary = 32768},
    .layers = layers,
};

const struct model_architecture describe_mamba2 = {
    .model_type = "mamba2",
    .class_name = "Mamba2ForCausalLM",
    .description = &description,
    .build = stack_build,
    .fill = stack_fill,
};
