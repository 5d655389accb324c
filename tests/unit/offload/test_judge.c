// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/run.h"
#include "harness/corruptor.h"
#include "harness/tiny.h"
#include "offload/judge.h"

#include <criterion/criterion.h>
#include <string.h>

enum { DECODE = 4 };

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

// "One day, Tom" and "The fox", as the model's ids of letters and words; any ids would do.
static const int32_t prompts_ids[2][5] = {{0, 352, 528, 13, 419}, {0, 53, 258, 594, 291}};

struct offload_fixture {
    struct tiny tiny;
    struct backend *source_backend, *backend;
    struct session *source;
    struct judge *judge;
    int32_t greedy[2][DECODE];
    struct judge_prompt prompts[2];
};

static void offload_fixture_open(struct offload_fixture *fixture, const char *other)
{
    tiny_open(&fixture->tiny);
    fixture->source_backend = tiny_backend(&fixture->tiny, "reference:f32");
    fixture->backend = tiny_backend(&fixture->tiny, other);
    fixture->source = tiny_session(&fixture->tiny, fixture->source_backend, NULL, "* -> source");
    for (int i = 0; i < 2; i++) {
        fixture->prompts[i] = (struct judge_prompt){
            .ids = prompts_ids[i], .count = 5, .greedy = fixture->greedy[i], .text = "a prompt"};
        MUST(run_greedy(fixture->source,
                        &(struct run_options){.ids = prompts_ids[i], .count = 5, .decode = DECODE},
                        fixture->greedy[i], &fixture->prompts[i].greedy_count));
    }
    MUST(judge_create(&(struct judge_options){.source = fixture->source,
                                              .graph = model_graph(fixture->tiny.model),
                                              .prompts = fixture->prompts,
                                              .prompt_count = 2,
                                              .kept_count = 1},
                      &fixture->judge));
}

static void offload_fixture_close(struct offload_fixture *fixture)
{
    judge_destroy(fixture->judge);
    session_destroy(fixture->source);
    backend_release(fixture->backend);
    backend_release(fixture->source_backend);
    tiny_close(&fixture->tiny);
}

static struct judge_result judge_session(struct offload_fixture *fixture, struct backend *backend)
{
    struct session *session =
        tiny_session(&fixture->tiny, fixture->source_backend, backend, "* -> target");
    struct judge_result result;

    MUST(judge_run(fixture->judge, session, 2, NULL, NULL, &result));
    session_destroy(session);
    return result;
}

Test(judge, the_source_agrees_with_itself_in_every_bit)
{
    struct offload_fixture fixture;

    offload_fixture_open(&fixture, "reference:f32");
    const struct judge_result result = judge_session(&fixture, fixture.backend);

    cr_assert(result.agrees, "%s", result.sentence);
    cr_assert_eq(result.distance, 0.0);
    cr_assert_eq(result.divergences, 0);
    cr_assert_not_null(strstr(result.sentence, "equal top-1 at every step"));
    offload_fixture_close(&fixture);
}

Test(judge, calibration_widens_the_limit_to_honest_noise)
{
    struct offload_fixture fixture;

    offload_fixture_open(&fixture, "reference:f64");
    struct session *variant =
        tiny_session(&fixture.tiny, fixture.source_backend, fixture.backend, "* -> target");
    const double before = judge_distance_limit(fixture.judge);
    struct judge_limits limits;

    MUST(judge_calibrate(fixture.judge, variant, 2, &limits));
    session_destroy(variant);
    cr_assert_eq(judge_distance_limit(fixture.judge), before, "measuring alone widens nothing");
    cr_assert_gt(limits.distance, 0.0);
    cr_assert_gt(limits.tie, 0.0);
    judge_set_limits(fixture.judge, &(struct judge_limits){.distance = 1}, 1);
    cr_assert_eq(judge_distance_limit(fixture.judge), 1.0);
    judge_set_limits(fixture.judge, &limits, 1);
    cr_assert_geq(judge_distance_limit(fixture.judge), before);
    cr_assert_lt(judge_distance_limit(fixture.judge), 1e-8, "noise of f32 is far below that");
    const struct judge_result result = judge_session(&fixture, fixture.backend);

    cr_assert(result.agrees, "%s", result.sentence);
    cr_assert_gt(result.distance, 0.0, "f64 is not f32 in every bit");
    offload_fixture_close(&fixture);
}

Test(judge, a_corrupted_op_diverges_with_prompt_and_step)
{
    struct offload_fixture fixture;

    offload_fixture_open(&fixture, "reference:f32");
    struct backend *corrupted = corruptor_create(&(struct corruptor_options){
        .inner = fixture.backend, .instances = {"layers.2/mlp/down_proj"}, .factor = 1.01});
    const struct judge_result result = judge_session(&fixture, corrupted);

    cr_assert_not(result.agrees);
    cr_assert_gt(result.margin, 1.0);
    cr_assert_not_null(strstr(result.sentence, "prompt 1, step 0: KL divergence"));
    corruptor_destroy(corrupted);
    offload_fixture_close(&fixture);
}

Test(judge, not_a_number_diverges)
{
    struct offload_fixture fixture;

    offload_fixture_open(&fixture, "reference:f32");
    struct backend *corrupted = corruptor_create(&(struct corruptor_options){
        .inner = fixture.backend, .instances = {"layers.0/mlp/silu"}, .factor = 0.0 / 0.0});
    const struct judge_result result = judge_session(&fixture, corrupted);

    cr_assert_not(result.agrees);
    cr_assert_not_null(strstr(result.sentence, "NaN"));
    corruptor_destroy(corrupted);
    offload_fixture_close(&fixture);
}
