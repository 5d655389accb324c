// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "contenders.h"
#include "exec/plan.h"

static struct setup setup;
static struct plan *plan;

static void begin(void)
{
    struct model_options model = {.folder = contender_model};

    CONTENDER_OPTIONS(NULL);
    MUST(setup_open(contender_program, &contender_given, NULL, &setup));
    MUST(setup_model(&setup, &model));
    MUST(setup_place(&setup, "source", "reference"));
    MUST(plan_create(&plan));
}

static void end(void)
{
    plan_destroy(plan);
    setup_close(&setup);
}

TestSuite(text_setup, .init = begin, .fini = end, .timeout = 60);

Test(text_setup, options_say_how_a_text_is_cut)
{
    struct text_chunks chunks;

    MUST(text_setup_chunks(&setup, &contender_given, contender_model, 0, &chunks));
    cr_expect_eq(chunks.context, 32);
    cr_expect_eq(chunks.chunk_count, 4);
    const struct session_options session = text_setup_session(&setup, plan, &chunks);

    cr_expect_eq(session.capacity, 32);
    cr_expect_eq(session.chunk, 32);
    cr_expect_eq(session.place_count, 1);
    text_chunks_release(&chunks);
    contender_given.given_count = 2; // --model and --text.
    MUST(text_setup_chunks(&setup, &contender_given, contender_model, 256, &chunks));
    cr_expect_eq(chunks.context, 256);
    cr_expect_eq(text_setup_session(&setup, plan, &chunks).chunk, 128);
    text_chunks_release(&chunks);
    contender_given.given_count = 1;
    cr_expect_eq(text_setup_chunks(&setup, &contender_given, contender_model, 0, &chunks),
                 TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "no text"));
}

Test(text_setup, a_base_is_the_model_itself_or_another_one)
{
    struct text_chunks chunks;
    struct text_setup_base base;
    char llama[1024];

    MUST(text_setup_chunks(&setup, &contender_given, contender_model, 0, &chunks));
    const struct session_options session = text_setup_session(&setup, plan, &chunks);

    MUST(text_setup_open_base(&setup, &contender_given, NULL, &session, &base));
    cr_expect_null(base.model);
    cr_expect_not_null(base.session);
    text_setup_close_base(&setup, &base);
    cr_expect_eq(setup.place_count, 1);
    MUST(text_setup_open_base(&setup, &contender_given, contender_model, &session, &base));
    cr_expect_not_null(base.model);
    cr_expect_eq(setup.place_count, 2);
    MUST(text_setup_check_base(&setup, base.model, contender_model));
    text_setup_close_base(&setup, &base);
    cr_expect_eq(setup.place_count, 0);
    MUST(setup_place(&setup, "source", "reference"));
    (void)snprintf(llama, sizeof(llama), "%s", scratch_data("models/llama"));
    cr_expect_eq(text_setup_open_base(&setup, &contender_given, llama, &session, &base),
                 TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "has logits of 96 tokens, expected 619"));
    text_setup_close_base(&setup, &base);
    text_chunks_release(&chunks);
}
