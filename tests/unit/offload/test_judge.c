// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/run.h"
#include "harness/spoil.h"
#include "harness/tiny.h"
#include "offload/judge.h"

#include <criterion/criterion.h>
#include <string.h>

enum { DECODE = 4 };

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

// "One day, Tom" and "The fox", as the model's ids of letters and words; any ids would do.
static const int32_t prompts_ids[2][5] = {{0, 352, 528, 13, 419}, {0, 53, 258, 594, 291}};

struct bench {
    struct tiny tiny;
    struct backend *source_backend, *backend;
    struct session *source;
    struct judge *judge;
    int32_t greedy[2][DECODE];
    struct judge_prompt prompts[2];
};

static void bench_open(struct bench *bench, const char *other)
{
    tiny_open(&bench->tiny);
    bench->source_backend = tiny_backend(&bench->tiny, "reference:f32");
    bench->backend = tiny_backend(&bench->tiny, other);
    bench->source = tiny_session(&bench->tiny, bench->source_backend, NULL, "* -> source");
    for (int i = 0; i < 2; i++) {
        bench->prompts[i] = (struct judge_prompt){
            .ids = prompts_ids[i], .count = 5, .greedy = bench->greedy[i], .text = "a prompt"};
        MUST(run_greedy(bench->source,
                        &(struct run_options){.ids = prompts_ids[i], .count = 5, .decode = DECODE},
                        bench->greedy[i], &bench->prompts[i].greedy_count));
    }
    MUST(judge_create(&(struct judge_options){.source = bench->source,
                                              .graph = model_graph(bench->tiny.model),
                                              .prompts = bench->prompts,
                                              .prompt_count = 2,
                                              .kept_count = 1},
                      &bench->judge));
}

static void bench_close(struct bench *bench)
{
    judge_destroy(bench->judge);
    session_destroy(bench->source);
    backend_release(bench->backend);
    backend_release(bench->source_backend);
    tiny_close(&bench->tiny);
}

static struct judge_result judge_session(struct bench *bench, struct backend *backend)
{
    struct session *session =
        tiny_session(&bench->tiny, bench->source_backend, backend, "* -> target");
    struct judge_result result;

    MUST(judge_run(bench->judge, session, 2, NULL, NULL, &result));
    session_destroy(session);
    return result;
}

Test(judge, the_source_agrees_with_itself_in_every_bit)
{
    struct bench bench;

    bench_open(&bench, "reference:f32");
    const struct judge_result result = judge_session(&bench, bench.backend);

    cr_assert(result.agrees, "%s", result.sentence);
    cr_assert_eq(result.distance, 0.0);
    cr_assert_eq(result.divergences, 0);
    cr_assert_not_null(strstr(result.sentence, "equal top-1 at every step"));
    bench_close(&bench);
}

Test(judge, calibration_widens_the_limit_to_honest_noise)
{
    struct bench bench;

    bench_open(&bench, "reference:f64");
    struct session *variant =
        tiny_session(&bench.tiny, bench.source_backend, bench.backend, "* -> target");
    const double before = judge_distance_limit(bench.judge);
    struct judge_limits limits;

    MUST(judge_calibrate(bench.judge, variant, 2, &limits));
    session_destroy(variant);
    cr_assert_eq(judge_distance_limit(bench.judge), before, "measuring alone widens nothing");
    cr_assert_gt(limits.distance, 0.0);
    cr_assert_gt(limits.tie, 0.0);
    judge_set_limits(bench.judge, &(struct judge_limits){.distance = 1}, 1);
    cr_assert_eq(judge_distance_limit(bench.judge), 1.0);
    judge_set_limits(bench.judge, &limits, 1);
    cr_assert_geq(judge_distance_limit(bench.judge), before);
    cr_assert_lt(judge_distance_limit(bench.judge), 1e-8, "noise of f32 is far below that");
    const struct judge_result result = judge_session(&bench, bench.backend);

    cr_assert(result.agrees, "%s", result.sentence);
    cr_assert_gt(result.distance, 0.0, "f64 is not f32 in every bit");
    bench_close(&bench);
}

Test(judge, a_corrupted_op_diverges_with_prompt_and_step)
{
    struct bench bench;

    bench_open(&bench, "reference:f32");
    struct backend *spoilt = spoil_create(&(struct spoil_options){
        .inner = bench.backend, .instances = {"layers.2/mlp/down_proj"}, .factor = 1.01});
    const struct judge_result result = judge_session(&bench, spoilt);

    cr_assert_not(result.agrees);
    cr_assert_gt(result.margin, 1.0);
    cr_assert_not_null(strstr(result.sentence, "prompt 1, step 0: KL divergence"));
    spoil_destroy(spoilt);
    bench_close(&bench);
}

Test(judge, not_a_number_diverges)
{
    struct bench bench;

    bench_open(&bench, "reference:f32");
    struct backend *spoilt = spoil_create(&(struct spoil_options){
        .inner = bench.backend, .instances = {"layers.0/mlp/silu"}, .factor = 0.0 / 0.0});
    const struct judge_result result = judge_session(&bench, spoilt);

    cr_assert_not(result.agrees);
    cr_assert_not_null(strstr(result.sentence, "NaN"));
    spoil_destroy(spoilt);
    bench_close(&bench);
}
