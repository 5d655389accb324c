// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Apertus (arXiv 2509.14233): Llama with normalised heads; an MLP without a gate, whose activation
// has numbers of its own in each layer.
#include <tapml/model/block.h>
#include <tapml/model/names.h>
#include <tapml/model/recurrence.h>

#include <math.h>

// What the numbers of a layer make of its activation (arXiv 2411.13010): beta * x + positive * x^2
// above 0, beta * x + negative * (exp(x) - 1 - x) below. Where `eps` is that of the class, which is
// tiny, the bound that it sets to the exponent changes nothing.
struct xielu {
    double positive, negative, beta;
};

static double softplus(double x)
{
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

static struct xielu read_xielu(struct model_context *context)
{
    static const char *const names[] = {"alpha_p", "alpha_n", "beta", "eps"};
    double numbers[] = {0, 0, 0.5, -1e-6};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct model_name name =
            model_name(context, "model.layers.{i}.mlp.act_fn.", context->layer, names[i]);

        model_read_weight(context, name.text, 0, 1, &numbers[i]);
    }
    if (context->status == TAPML_OK && !(fabs(numbers[3]) <= 1e-5)) {
        model_fail(context, TAPML_UNIMPLEMENTED, "'act_fn.eps' is %g, expected -1e-6", numbers[3]);
    }
    return (struct xielu){.positive = softplus(numbers[0]),
                          .negative = numbers[2] + softplus(numbers[1]),
                          .beta = numbers[2]};
}

// negative * (exp(x) - 1 - x), of x [T, width] up to 0.
static tapml_graph_value below(struct model_context *context,
                               const struct model_block *block,
                               tapml_graph_value x,
                               double negative)
{
    static const float one = 1;
    const int64_t shape[] = {1, 1};
    const tapml_graph_value number =
        model_reshape(context, model_constant(context, &one, 1), shape, 2);
    const tapml_graph_value ones = model_repeat(
        context, model_repeat(context, number, 0, TAPML_SYM_TOKENS), 1, block->sizes->mlp_width);
    const tapml_graph_value y =
        model_subtract(context, "exp_less_x", model_exp(context, "exp", x), x);

    return model_scale(context, "below", model_subtract(context, "less_one", y, ones), negative);
}

static tapml_graph_value
act(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    const struct xielu xielu = read_xielu(context);
    const tapml_graph_value high = model_activation(context, "relu", x);
    const tapml_graph_value low = model_subtract(context, "low", x, high);
    const tapml_graph_value above = model_scale(
        context, "above", model_multiply(context, "square", high, high), xielu.positive);
    const tapml_graph_value both =
        model_add(context, "both", above, below(context, block, low, xielu.negative));

    return model_add(context, "act", both, model_scale(context, "beta", x, xielu.beta));
}

static tapml_graph_value
mlp(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    return model_mlp_plain_with(context, block, act, x);
}

const struct model_decoder describe_apertus = {
    .model_type = "apertus",
    .class_name = "ApertusForCausalLM",
    .mlp = mlp,
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/rms_norm_eps",
            .attention_biases = "/attention_bias",
            .mlp_biases = "/mlp_bias",
        },
    .defaults =
        {
            .eps = 1e-5,
            .activation = "silu",
            .rope = {.theta = 12000000,
                     .positions = 65536,
                     .kind = "llama3",
                     .numbers = {{"factor", 8},
                                 {"original_max_position_embeddings", 8192},
                                 {"low_freq_factor", 1},
                                 {"high_freq_factor", 4}}},
        },
    .tensors =
        {
            .embed = "model.embed_tokens",
            .norm = "model.norm",
            .head = "lm_head",
            .attention_norm = "model.layers.{i}.attention_layernorm",
            MODEL_TENSORS_ATTENTION,
            MODEL_TENSORS_HEAD_NORMS,
            .mlp_norm = "model.layers.{i}.feedforward_layernorm",
            .up = "model.layers.{i}.mlp.up_proj",
            .down = "model.layers.{i}.mlp.down_proj",
        },
    .expected = {{"/hidden_act", "\"xielu\""}, {"/qk_norm", "true"}, {"/post_norm", "false"}},
};
