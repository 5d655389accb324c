// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/plugin_fixture.h"
#include "run/choices.h"
#include "run/probe.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

enum { EXPERTS = 8, CHOSEN = 3 };

// What a token has in f32, and in f16: experts 1 and 2 are a near tie, which their biases make.
static const float plain[EXPERTS] = {1.694555F,  -1.152916F, -1.581873F, 1.107807F,
                                     -1.768181F, -1.040782F, -1.282241F, 0.9095553F};
static const float halved[EXPERTS] = {1.693359F,  -1.15332F,  -1.581055F, 1.109375F,
                                      -1.769531F, -1.041992F, -1.28125F,  0.9106445F};

static struct plugin_fixture plugins;
static struct model *model;
static struct backend *backend;
static struct choices *choices;
static uint32_t route, logits;

static void begin(void)
{
    plugin_fixture_open(&plugins);
    model = plugin_fixture_model(&plugins, "tests/data/models/deepseek_v3");
    backend = plugin_fixture_backend(&plugins, "reference:f32");
    MUST(choices_create(model_graph(model), model_checkpoint(model), backend, 1e-2, &choices));
    route = graph_find_op(model_graph(model), "layers.1/mlp/route");
    logits = graph_find_output(model_graph(model), "logits");
    cr_assert_neq(route, GRAPH_NONE);
}

static void end(void)
{
    choices_destroy(choices);
    backend_release(backend);
    model_close(model);
    plugin_fixture_close(&plugins);
}

TestSuite(choices, .init = begin, .fini = end, .timeout = 60);

static struct case_argument
tensor(uint32_t param, uint32_t dtype, uint32_t rank, const int64_t *shape, uint64_t bytes)
{
    const tapml_param *of = tapml_route_sigmoid.params[param];
    struct case_argument made = {.name = of->name,
                                 .kind = of->kind,
                                 .effects = of->effects,
                                 .dtype = dtype,
                                 .rank = rank,
                                 .base_bytes = bytes,
                                 .origin = "",
                                 .content_bytes = bytes};
    int64_t stride = 1;

    for (uint32_t axis = rank; axis > 0; axis--) {
        made.shape[axis - 1] = shape[axis - 1];
        made.stride[axis - 1] = stride;
        stride *= shape[axis - 1];
    }
    return made;
}

static struct case_argument number(uint32_t param, int64_t value)
{
    return (struct case_argument){
        .name = tapml_route_sigmoid.params[param]->name, .kind = TAPML_P_I64, .i = value};
}

static void see(const float *scores, int32_t second)
{
    static const int64_t groups[] = {1, 4, 2}, chosen[] = {1, CHOSEN};
    const int32_t ids[CHOSEN] = {3, 0, second};
    const float weights[CHOSEN] = {0};
    struct case_argument arguments[7];

    cr_assert_eq(tapml_route_sigmoid.n_params, 7);
    arguments[0] = tensor(0, TAPML_F32, 3, groups, EXPERTS * sizeof(float));
    arguments[0].before = scores;
    arguments[1] = tensor(1, TAPML_BF16, 2, groups + 1, EXPERTS * 2);
    arguments[1].origin = "model.layers.1.mlp.gate.e_score_correction_bias";
    arguments[2] = number(2, 2);
    arguments[3] = number(3, CHOSEN);
    arguments[4] = number(4, 1);
    arguments[5] = tensor(5, TAPML_I32, 2, chosen, sizeof(ids));
    arguments[5].after = ids;
    arguments[6] = tensor(6, TAPML_F32, 2, chosen, sizeof(weights));
    arguments[6].after = weights;
    MUST(choices_see(choices, route,
                     &(struct probe_call){"layers.1/mlp/route", &tapml_route_sigmoid, arguments}));
}

Test(choices, an_op_that_gives_numbers_for_scores_chooses)
{
    cr_assert(choices_are_there(choices));
    cr_assert(choices_want(choices, route, 0));
    cr_assert(choices_want(choices, route, 5));
    cr_assert_not(choices_want(choices, route, 1), "a bias is no score");
    cr_assert_not(choices_want(choices, route - 1, 0));
}

Test(choices, another_choice_over_scores_that_agree_is_a_near_tie)
{
    choices_begin(choices, 1);
    see(plain, 1);
    choices_begin(choices, 0);
    see(plain, 1);
    cr_assert_not(choices_hide(choices, logits, 0), "the same choice");
    see(halved, 2);
    cr_assert(choices_hide(choices, logits, 0));
    cr_assert_not(choices_hide(choices, logits, 1), "no state is written behind it");
    choices_begin(choices, 0);
    cr_assert_not(choices_hide(choices, logits, 0), "another run");
}

Test(choices, a_choice_that_the_op_would_not_make_is_no_tie)
{
    choices_begin(choices, 1);
    see(plain, 1);
    choices_begin(choices, 0);
    see(halved, 5);
    cr_assert_not(choices_hide(choices, logits, 0), "the op is wrong");
}

Test(choices, scores_that_are_wrong_make_no_tie)
{
    const float wrong[EXPERTS] = {1.7F, -1.15F, 1.5F, 1.1F, -1.77F, -1.04F, -1.28F, 0.91F};

    choices_begin(choices, 1);
    see(plain, 1);
    choices_begin(choices, 0);
    see(wrong, 2);
    cr_assert_not(choices_hide(choices, logits, 0));
}
