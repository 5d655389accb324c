// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/session.h"
#include "exec/sharding_plan.h"
#include "harness/expected.h"
#include "harness/places.h"
#include "harness/plugin_fixture.h"
#include "harness/scratch.h"

#include <criterion/criterion.h>
#include <string.h>

enum { PLACES = 4, CAPACITY = 128, CHUNK = 32 };

static const char *const names[PLACES] = {"source", "a", "b", "c"};

static struct model *
open_model(struct plugin_fixture *plugins, const char *folder, const struct sharding_options *given)
{
    struct model *model = NULL;
    const struct model_options options = {.folder = scratch_source(folder), .sharding = given};
    cr_assert_eq(model_open(plugins->registry, &options, &model), TAPML_OK, "%s: %s", folder,
                 status_message());
    return model;
}

// A session over four places, each a device of its own.
static struct session *
open_session(struct model *model, struct backend *const *backends, struct places *places)
{
    struct session *session = NULL;
    struct plan *plan = NULL;
    cr_assert_eq(plan_create(&plan), TAPML_OK);
    cr_assert_eq(sharding_plan_add(model, plan), TAPML_OK);
    const struct session_options options = {.model = model,
                                            .places = places_over(places, backends, names, PLACES),
                                            .place_count = PLACES,
                                            .plan = plan,
                                            .capacity = CAPACITY,
                                            .chunk = CHUNK};
    cr_assert_eq(session_create(&options, &session), TAPML_OK, "%s", status_message());
    plan_destroy(plan);
    return session;
}

static const float *step(struct session *session, const struct expected *expected, int64_t count)
{
    const float *values = NULL;
    int64_t shape[TAPML_MAX_RANK];
    uint32_t rank = 0;
    const int64_t at = session_position(session);
    cr_assert_eq(session_step(session, expected->ids + at, count, NULL, 0), TAPML_OK, "%s",
                 status_message());
    cr_assert_eq(session_output(session, "logits", &values, shape, &rank), TAPML_OK);
    return values;
}

static void open_backends(struct plugin_fixture *plugins, struct backend **out_backends)
{
    plugin_fixture_open(plugins);
    for (uint32_t i = 0; i < PLACES; i++) {
        out_backends[i] = plugin_fixture_backend(plugins, "reference:f32");
    }
}

static void close_backends(struct plugin_fixture *plugins, struct backend **backends)
{
    for (uint32_t i = 0; i < PLACES; i++) {
        backend_release(backends[i]);
    }
    plugin_fixture_close(plugins);
}

#define DENSE "*/q_proj */k_proj */v_proj */gate_proj */up_proj"

static const struct annotated {
    const char *folder, *mesh, *column, *row;
} models[] = {
    {"models/tiny", "a b", DENSE, "*/o_proj */down_proj"},
    {"models/tiny", "source a", DENSE " lm_head*", "*/o_proj */down_proj"},
    {"models/tiny", "a b c", DENSE,
     "*/down_proj"},                          // Heads of 2 in 3 parts: the attention is whole.
    {"models/tiny", "a b", "*/q_proj", NULL}, // The states are split, keys are sliced.
    {"models/tiny", "a b", "*/k_proj", NULL},
    {"models/tiny", "a b", "*/o_proj */down_proj", "*/gate_proj"},
    {"tests/data/models/llama_bias_llama3", "a b", DENSE, "*/o_proj */down_proj"}, // With biases.
    {"tests/data/models/gemma2", "b a", DENSE, "*/o_proj */down_proj"},
    {"tests/data/models/mixtral", "a b c", DENSE, "*/o_proj */down_proj"},
    {"tests/data/models/qwen3", "a b", DENSE, "*/o_proj */down_proj"}, // Norms of heads.
    {"tests/data/models/qwen3_next", "a b", DENSE " */in_proj_qkvz */in_proj_ba",
     "*/o_proj */down_proj"},
};

static void compare_bits(struct plugin_fixture *plugins,
                         struct backend *const *backends,
                         const struct annotated *given)
{
    struct expected expected;
    struct places over_whole, over_split;
    const struct sharding_options options = {.mesh = given->mesh, .column = given->column};
    struct model *whole = open_model(plugins, given->folder, NULL);
    struct model *split = open_model(plugins, given->folder, &options);
    struct session *one = open_session(whole, backends, &over_whole);
    struct session *several = open_session(split, backends, &over_split);
    expected_open(&expected, given->folder);
    cr_assert_eq(session_begin(one, expected.count), TAPML_OK);
    cr_assert_eq(session_begin(several, expected.count), TAPML_OK);
    const size_t vocabulary = (size_t)model_graph(whole)
                                  ->values[graph_find_output(model_graph(whole), "logits")]
                                  .shape[1]
                                  .constant;
    for (int64_t count = 3; session_position(one) + count <= expected.count; count = 1) {
        const float *a = step(one, &expected, count), *b = step(several, &expected, count);
        cr_assert_eq(memcmp(a, b, (size_t)count * vocabulary * sizeof(*a)), 0, "%s, '%s' at %lld",
                     given->folder, given->column, (long long)session_position(one));
    }
    expected_close(&expected);
    session_destroy(one);
    session_destroy(several);
    model_close(whole);
    model_close(split);
}

Test(sharding_plan, what_is_split_by_columns_has_the_same_bits, .timeout = 120)
{
    struct plugin_fixture plugins;
    struct backend *backends[PLACES];
    open_backends(&plugins, backends);
    for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++) {
        compare_bits(&plugins, backends, &models[i]);
    }
    close_backends(&plugins, backends);
}

Test(sharding_plan, what_is_split_by_rows_agrees_with_what_is_expected, .timeout = 120)
{
    struct plugin_fixture plugins;
    struct backend *backends[PLACES];
    open_backends(&plugins, backends);
    for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++) {
        struct expected expected;
        struct places places;
        const struct sharding_options options = {
            .mesh = models[i].mesh, .column = models[i].column, .row = models[i].row};
        if (!models[i].row) {
            continue;
        }
        struct model *model = open_model(&plugins, models[i].folder, &options);
        struct session *session = open_session(model, backends, &places);
        expected_open(&expected, models[i].folder);
        expected_compare(&expected, session, 5);
        expected_close(&expected);
        session_destroy(session);
        model_close(model);
    }
    close_backends(&plugins, backends);
}

Test(sharding_plan, parts_run_at_their_places)
{
    struct plugin_fixture plugins;
    struct backend *backends[PLACES];
    struct places places;
    const struct sharding_options options = {.mesh = "c a", .column = "*/gate_proj"};
    open_backends(&plugins, backends);
    struct model *model = open_model(&plugins, "models/tiny", &options);
    struct session *session = open_session(model, backends, &places);
    const struct graph *graph = model_graph(model);
    const uint32_t first = graph_find_op(graph, "layers.0/mlp/silu@c");
    const uint32_t second = graph_find_op(graph, "layers.0/mlp/silu@a");
    const uint32_t gather = graph_find_op(graph, "layers.0/mlp/silu/gather");
    cr_assert(first != GRAPH_NONE && second != GRAPH_NONE && gather == GRAPH_NONE);
    cr_assert_eq(session_begin(session, 2), TAPML_OK);
    cr_assert_eq(session_step(session, (const int32_t[]){1, 2}, 2, NULL, 0), TAPML_OK);
    cr_expect_eq(session_calls(session, first, 3), 1);
    cr_expect_eq(session_calls(session, second, 1), 1);
    cr_expect_eq(session_calls(session, graph_find_op(graph, "layers.0/mlp/norm"), 0), 1);
    session_destroy(session);
    model_close(model);
    close_backends(&plugins, backends);
}
