// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// On the embedded model, from the reference in f32 to that in f64.
#include "harness/short_setup.h"
#include "run/perplexity.h"

#include <math.h>

enum { CONTEXT = 12, CALL = 4, VOCABULARY = 619 };

struct fixture {
    struct short_setup run;
    struct plan *plans[2];
    struct session *sessions[2]; // On the second place, and on the first.
    struct text_chunks chunks;
};

static const char text[] = "One morning, Ada went to the river with her big kite. Ada had 3 coins "
                           "and a kite. The goat was tired, so Ada gave it the kite.";

static void open_fixture(struct fixture *fixture)
{
    short_setup_open(&fixture->run);
    const char *path = scratch_text(&fixture->run.scratch, "text", text);

    SHORT_MUST(text_chunks_read(fixture->run.setup.tokenizer, path, CONTEXT, 2, &fixture->chunks));
    SHORT_MUST(setup_plan(&fixture->run.setup, &fixture->plans[0]));
    SHORT_MUST(plan_create(&fixture->plans[1]));
    for (int i = 0; i < 2; i++) {
        SHORT_MUST(session_create(&(struct session_options){.model = fixture->run.setup.model,
                                                            .places = fixture->run.setup.places,
                                                            .place_count = 2,
                                                            .plan = fixture->plans[i],
                                                            .capacity = CONTEXT,
                                                            .chunk = CONTEXT},
                                  &fixture->sessions[i]));
    }
}

static void close_fixture(struct fixture *fixture)
{
    for (int i = 0; i < 2; i++) {
        session_destroy(fixture->sessions[i]);
        plan_destroy(fixture->plans[i]);
    }
    text_chunks_release(&fixture->chunks);
    short_setup_close(&fixture->run);
}

static struct perplexity_options options_of(const struct fixture *fixture)
{
    return (struct perplexity_options){
        .session = fixture->sessions[0], .chunks = &fixture->chunks, .call = CALL};
}

// The same by the formula, of whole chunks at once: softmax without a largest logit taken out.
static double expected_surprise(struct fixture *fixture)
{
    double sum = 0;
    int count = 0;

    for (int64_t chunk = 0; chunk < fixture->chunks.chunk_count; chunk++) {
        const float *logits = NULL;
        int64_t shape[TAPML_MAX_RANK];
        uint32_t rank = 0;
        int32_t ids[CONTEXT];

        text_chunks_copy(&fixture->chunks, chunk, ids);
        SHORT_MUST(session_begin(fixture->sessions[1], CONTEXT));
        SHORT_MUST(session_step(fixture->sessions[1], ids, CONTEXT, NULL, 0));
        SHORT_MUST(session_output(fixture->sessions[1], "logits", &logits, shape, &rank));
        for (int at = CONTEXT / 2; at + 1 < CONTEXT; at++, count++) {
            double powers = 0;

            for (int i = 0; i < VOCABULARY; i++) {
                powers += exp((double)logits[at * VOCABULARY + i]);
            }
            sum -= log(exp((double)logits[at * VOCABULARY + ids[at + 1]]) / powers);
        }
    }
    return sum / count;
}

static void count_chunk(void *user, const struct perplexity *perplexity)
{
    int *count = user;

    cr_assert_eq(perplexity->chunk, ++*count);
    cr_assert_eq(perplexity->surprise.count, (uint64_t)*count * 5);
}

Test(perplexity, the_second_half_of_each_chunk_counts)
{
    struct fixture fixture;
    struct perplexity perplexity;
    int count = 0;

    open_fixture(&fixture);
    struct perplexity_options options = options_of(&fixture);

    options.after_chunk = count_chunk;
    options.user = &count;
    SHORT_MUST(perplexity_run(&options, &perplexity));
    cr_assert_eq(count, 2);
    cr_assert_eq(perplexity.divergence.divergences.count, 0);
    const double expected = expected_surprise(&fixture);

    cr_assert_float_eq(perplexity.surprise.mean, expected, 1e-4 * expected);
    cr_assert_float_eq(perplexity_value(&perplexity.surprise), exp(expected), 1e-3 * exp(expected));
    perplexity_release(&perplexity);
    close_fixture(&fixture);
}

Test(perplexity, a_base_is_compared_with)
{
    struct fixture fixture;
    struct perplexity perplexity;

    open_fixture(&fixture);
    struct perplexity_options options = options_of(&fixture);

    options.base = fixture.sessions[1];
    SHORT_MUST(perplexity_run(&options, &perplexity));
    const struct kl_divergence *divergence = &perplexity.divergence;

    cr_assert_eq(divergence->divergences.count, 10);
    cr_assert_eq(divergence->same_top, 10);
    cr_assert_lt(divergence->divergences.mean, 1e-8);
    cr_assert_eq(divergence->surprise.second.mean, perplexity.surprise.mean);
    cr_assert_neq(divergence->surprise.first.mean, perplexity.surprise.mean); // f32 is rounded.
    perplexity_release(&perplexity);
    close_fixture(&fixture);
}

Test(perplexity, a_token_without_logits_is_refused)
{
    struct fixture fixture;
    struct perplexity perplexity;

    open_fixture(&fixture);
    const struct perplexity_options options = options_of(&fixture);

    fixture.chunks.ids[CONTEXT - 1] = VOCABULARY; // It is never fed.
    cr_assert_eq(perplexity_run(&options, &perplexity), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "chunk 1, position 10: "), "%s", status_message());
    cr_assert_not_null(strstr(status_message(), "logits of 619 tokens"), "%s", status_message());
    perplexity_release(&perplexity);
    close_fixture(&fixture);
}

Test(perplexity, the_error_is_that_of_the_mean_times_the_value)
{
    struct running_mean surprise = {.count = 0};

    running_mean_add(&surprise, 1);
    running_mean_add(&surprise, 3);
    cr_assert_float_eq(perplexity_value(&surprise), exp(2), 1e-12);
    cr_assert_float_eq(perplexity_error(&surprise), exp(2), 1e-12); // sqrt((1 + 1) / 2 / 1) is 1.
}
