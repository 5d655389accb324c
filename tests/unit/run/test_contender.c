// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// On the embedded model, over its prompts.
#include "config/device_file.h"
#include "contenders.h"

#include <math.h>

static struct arena *arena;

static void begin(void)
{
    arena = arena_create();
    cr_assert_not_null(arena);
    CONTENDER_OPTIONS(NULL);
}

static void end(void)
{
    arena_destroy(arena);
}

TestSuite(contender, .init = begin, .fini = end, .timeout = 60);

static struct contender encoding(const char *word)
{
    return (struct contender){.name = word, .weights = word};
}

static struct contender_look look(const struct contender_options *options, const char *word)
{
    const struct contender contender = encoding(word);
    struct contender_session *session = NULL;
    struct contender_look look;

    MUST(contender_look(options, &contender, &session, arena, &look));
    contender_close(session);
    return look;
}

static struct contender_trial try_chunk(enum contender_measure measure, const char *word)
{
    const struct contender_options options = contender_options_of(measure);
    const struct contender contender = encoding(word);
    struct contender_session *session = NULL;
    struct contender_trial trial;

    MUST(contender_open(&options, &contender, &session));
    MUST(contender_try(session, 1, &trial));
    contender_close(session);
    cr_expect_gt(trial.time_ns, 0);
    return trial;
}

Test(contender, fewer_bits_diverge_more)
{
    const struct contender_trial stored = try_chunk(CONTENDER_KL, "stored");
    const struct contender_trial eight = try_chunk(CONTENDER_KL, "q8_0");
    const struct contender_trial four = try_chunk(CONTENDER_KL, "q4_0");

    cr_expect_lt(stored.value, 1e-9);
    cr_expect_gt(eight.value, 0);
    cr_expect_gt(four.value, eight.value);
    cr_expect_float_eq(stored.beside, try_chunk(CONTENDER_PERPLEXITY, "stored").value, 1e-9);
}

Test(contender, speeds_are_times_of_a_token)
{
    const struct contender_trial trial = try_chunk(CONTENDER_SPEED, "stored");

    cr_expect_gt(trial.value, 0);
    cr_expect_gt(trial.beside, 0);
    cr_expect_lt(16 * (trial.value + trial.beside), 1.01 * (double)trial.time_ns);
}

// The same key for the same thing, another one for each thing that a value depends on.
Test(contender, keys_stand_for_what_a_value_depends_on)
{
    const struct contender_options kl = contender_options_of(CONTENDER_KL);
    const struct contender_options speed = contender_options_of(CONTENDER_SPEED);
    const struct contender_look one = look(&kl, "q8_0"), again = look(&kl, "q8_0");
    const struct contender_look other = look(&kl, "q4_0"), timed = look(&speed, "q8_0");

    cr_assert_eq(one.chunk_count, 4);
    cr_expect_eq(one.context, 32);
    cr_expect_gt(one.bytes_of_token, 1);
    cr_expect_eq(one.bytes, 0);
    for (size_t i = 0; i < one.chunk_count; i++) {
        cr_expect_str_eq(one.keys[i], again.keys[i]);
        cr_expect_str_neq(one.keys[i], other.keys[i]);
        cr_expect_str_neq(one.keys[i], timed.keys[i]);
        cr_expect(i == 0 || strcmp(one.keys[i], one.keys[i - 1]) != 0);
    }
    CONTENDER_OPTIONS("--backend", "cpu");
    cr_expect_str_neq(look(&kl, "q8_0").keys[0], one.keys[0]);
    CONTENDER_OPTIONS("--chunks", "3"); // Less of the text has the same chunks.
    cr_expect_str_eq(look(&kl, "q8_0").keys[0], one.keys[0]);
}

Test(contender, bytes_are_those_of_the_encoding)
{
    static const char figures[] = "[device]\nname = small\nsource = a test\n";
    struct device_file device;
    struct contender_options options = contender_options_of(CONTENDER_PERPLEXITY);

    MUST(device_file_parse("small.ini", figures, sizeof(figures) - 1, &device));
    options.fits = &device;
    const uint64_t stored = look(&options, "stored").bytes, eight = look(&options, "q8_0").bytes;
    const uint64_t four = look(&options, "q4_0").bytes;

    cr_expect_gt(stored, eight);
    cr_expect_gt(eight, four);
    cr_expect_gt(four, 0);
    device_file_release(&device);
}

Test(contender, of_a_plan_what_leaves_the_source_is_counted)
{
    static const char figures[] = "[device]\nname = small\nsource = a test\n";
    struct device_file device;
    struct scratch scratch;
    struct contender_options options = contender_options_of(CONTENDER_PERPLEXITY);
    struct contender whole = {.name = "whole"}, part = {.name = "part"};
    struct contender_look looks[2];
    char paths[2][1024];

    scratch_make(&scratch);
    (void)snprintf(paths[0], sizeof(paths[0]), "%s",
                   scratch_text(&scratch, "whole.txt", "* -> gpu\n"));
    (void)snprintf(paths[1], sizeof(paths[1]), "%s",
                   scratch_text(&scratch, "part.txt", "op=rms_norm -> gpu\n"));
    whole.plan = paths[0];
    part.plan = paths[1];
    MUST(device_file_parse("small.ini", figures, sizeof(figures) - 1, &device));
    options.fits = &device;
    CONTENDER_OPTIONS("--target", "gpu=reference:f64");
    struct contender_session *session = NULL;

    MUST(contender_look(&options, &whole, &session, arena, &looks[0]));
    MUST(contender_look(&options, &part, &session, arena, &looks[1]));
    contender_close(session);
    cr_expect_gt(looks[0].bytes, looks[1].bytes);
    cr_expect_gt(looks[1].bytes, 0);
    cr_expect_str_neq(looks[0].keys[0], looks[1].keys[0]);
    device_file_release(&device);
    scratch_remove(&scratch);
}

Test(contender, what_cannot_be_tried_is_said)
{
    const struct contender_options options = contender_options_of(CONTENDER_KL);
    const struct contender blocks = encoding("q4_k"), none = encoding("q9"),
                           absent = {.name = "x", .model = "/absent"};
    struct contender_session *session = NULL;
    struct contender_look found;

    cr_expect_eq(contender_look(&options, &none, &session, arena, &found), TAPML_INVALID);
    cr_expect_neq(contender_look(&options, &absent, &session, arena, &found), TAPML_OK);
    cr_expect_neq(contender_open(&options, &absent, &session), TAPML_OK);
    cr_expect_null(session);
    if (contender_look(&options, &blocks, &session, arena, &found) != TAPML_OK) {
        cr_expect_not_null(strstr(status_message(), "no weight of the model has rows of whole "
                                                    "blocks of 'q4_k'"));
    }
    cr_expect_str_eq(contender_measure_name(CONTENDER_SPEED), "speed");
}
