// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The expected frequencies were computed from the formulas in double precision, by another program.
#include "model_fixture.h"

#include <tapml/model/rope.h>

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const struct model_rope_defaults defaults = {.theta = 10000, .positions = 2048};

static struct model_rope read_rope_of(const struct model_rope_defaults *defaults_of,
                                      const char *config,
                                      int64_t width,
                                      tapml_status expected)
{
    struct model_fixture *fixture = model_fixture_open(NULL, config);
    struct model_context context = model_fixture_context(fixture);
    struct model_rope rope;

    model_rope_read(&context, defaults_of, width, &rope);
    cr_assert_eq(context.status, expected, "%s", status_message());
    if (expected == TAPML_OK) {
        model_fixture_ok(model_fixture_check_config(fixture));
    }
    model_fixture_close(fixture);
    return rope;
}

static struct model_rope read_rope(const char *config, int64_t width, tapml_status expected)
{
    return read_rope_of(&defaults, config, width, expected);
}

static void expect_frequencies(const struct model_rope *rope, int64_t length, const float *expected)
{
    float found[MODEL_ROPE_PAIRS_MAX];

    model_rope_frequencies(rope, length, found);
    for (int64_t i = 0; i < rope->pairs; i++) {
        cr_assert_float_eq(found[i], expected[i], 2e-7f * expected[i], "pair %d is %.9g, not %.9g",
                           (int)i, (double)found[i], (double)expected[i]);
    }
}

static void refused(const char *config, int64_t width, tapml_status code, const char *piece)
{
    read_rope(config, width, code);
    model_fixture_expect(code, code, piece);
}

#define EXPECT(rope_, length_, ...)                                                                \
    expect_frequencies(&(rope_), length_, (const float[]){__VA_ARGS__})

Test(model_rope, default_kind_in_both_dialects)
{
    struct model_rope rope = read_rope("{}", 8, TAPML_OK);

    EXPECT(rope, 5, 1, 0.1f, 0.01f, 0.001f);
    rope = read_rope("{\"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": 625}}", 8,
                     TAPML_OK);
    EXPECT(rope, 5, 1, 0.2f, 0.04f, 0.008f);
    rope = read_rope("{\"rope_theta\": 625, \"rope_scaling\": null}", 8, TAPML_OK);
    EXPECT(rope, 5, 1, 0.2f, 0.04f, 0.008f);

    // The section's own base goes before the one beside it.
    rope =
        read_rope("{\"rope_theta\": 4, \"rope_parameters\": {\"rope_theta\": 625}}", 8, TAPML_OK);
    EXPECT(rope, 5, 1, 0.2f, 0.04f, 0.008f);
    cr_assert_float_eq(rope.attenuation, 1, 0);
}

Test(model_rope, linear)
{
    struct model_rope rope = read_rope(
        "{\"rope_theta\": 10000, \"rope_scaling\": {\"type\": \"linear\", \"factor\": 4.0}}", 8,
        TAPML_OK);

    EXPECT(rope, 5, 0.25f, 0.025f, 0.0025f, 0.00025f);
    rope = read_rope("{\"rope_parameters\": {\"rope_type\": \"linear\", \"type\": \"linear\", "
                     "\"factor\": 4, \"rope_theta\": 1e4}}",
                     8, TAPML_OK);
    EXPECT(rope, 5, 0.25f, 0.025f, 0.0025f, 0.00025f);
}

Test(model_rope, dynamic_depends_on_the_length)
{
    const struct model_rope rope =
        read_rope("{\"max_position_embeddings\": 8, \"rope_parameters\": {\"rope_type\": "
                  "\"dynamic\", \"factor\": 2.0, \"rope_theta\": 10000.0}}",
                  8, TAPML_OK);

    EXPECT(rope, 5, 1, 0.1f, 0.01f, 0.001f);
    EXPECT(rope, 8, 1, 0.1f, 0.01f, 0.001f);
    EXPECT(rope, 12, 1, 0.0793700516f, 0.00629960513f, 0.000500000024f);
    EXPECT(rope, 17, 1, 0.0675106347f, 0.00455768639f, 0.000307692302f);
}

Test(model_rope, what_classes_have_of_their_own)
{
    static const struct model_rope_defaults doubling = {
        .theta = 10000, .positions = 8, .doubles = "/doubles", .length = "/length"};
    static const struct model_rope_defaults alpha = {
        .theta = 10000, .positions = 8, .takes_alpha = 1, .factor = 2};
    static const struct model_rope_defaults absent = {
        .theta = 10000, .positions = 8, .kind = "linear", .numbers = {{"factor", 4}}};
    struct model_rope rope = read_rope_of(&doubling, "{\"doubles\": true}", 8, TAPML_OK);

    EXPECT(rope, 8, 1, 0.1f, 0.01f, 0.001f);
    EXPECT(rope, 12, 1, 0.0693361274f, 0.00480749857f, 0.000333333333f);
    EXPECT(rope, 17, 1, 0.0522757959f, 0.00273275884f, 0.000142857143f);
    rope = read_rope_of(&doubling, "{\"doubles\": false, \"length\": 4}", 8, TAPML_OK);
    EXPECT(rope, 17, 1, 0.1f, 0.01f, 0.001f);
    rope = read_rope_of(&alpha,
                        "{\"rope_scaling\": {\"type\": \"dynamic\", \"alpha\": 16, \"factor\": 1, "
                        "\"mscale\": 1, \"beta_fast\": 32}}",
                        8, TAPML_OK);
    EXPECT(rope, 17, 1, 0.0396850263f, 0.00157490131f, 6.25e-05f);
    rope = read_rope_of(&alpha, "{\"rope_scaling\": {\"type\": \"dynamic\"}}", 8, TAPML_OK);
    EXPECT(rope, 12, 1, 0.0793700516f, 0.00629960513f, 0.000500000024f);
    rope = read_rope_of(&absent, "{}", 8, TAPML_OK);
    EXPECT(rope, 12, 0.25f, 0.025f, 0.0025f, 0.00025f);
    rope = read_rope_of(&absent, "{\"rope_scaling\": null}", 8, TAPML_OK);
    EXPECT(rope, 12, 0.25f, 0.025f, 0.0025f, 0.00025f);
    rope = read_rope_of(&absent, "{\"rope_parameters\": {\"rope_theta\": 10000}}", 8, TAPML_OK);
    EXPECT(rope, 12, 1, 0.1f, 0.01f, 0.001f);
}

// A class may have yarn of which the ramp is not rounded.
Test(model_rope, the_ramp_of_a_class)
{
    static const struct model_rope_defaults exact = {
        .theta = 10000,
        .positions = 4096,
        .kind = "yarn",
        .numbers = {{"factor", 4},
                    {"original_max_position_embeddings", 1024},
                    {"beta_fast", 16},
                    {"beta_slow", 2}},
        .is_ramp_exact = 1,
    };
    const struct model_rope rope = read_rope_of(&exact, "{\"rope_scaling\": null}", 16, TAPML_OK);

    EXPECT(rope, 5, 1, 0.316227764f, 0.100000001f, 0.0187018029f, 0.00249999994f, 0.000790569407f,
           0.000250000012f, 7.90569393e-05f);
    cr_assert_float_eq(rope.original, 1024, 0);
}

static double number_of(const char *config, const char *key)
{
    static const struct model_rope_defaults own = {
        .positions = 8, .kind = "yarn", .numbers = {{"beta", 0.5}}};
    struct model_fixture *fixture = model_fixture_open(NULL, config);
    struct model_context context = model_fixture_context(fixture);
    const double number = model_rope_number(&context, &own, key, 3);

    model_fixture_ok(context.status);
    model_fixture_close(fixture);
    return number;
}

Test(model_rope, numbers_of_the_section_that_is_read)
{
    cr_assert_float_eq(number_of("{}", "beta"), 0.5, 0);
    cr_assert_float_eq(number_of("{\"rope_scaling\": null}", "beta"), 0.5, 0);
    cr_assert_float_eq(number_of("{\"rope_scaling\": {\"type\": \"yarn\"}}", "beta"), 3, 0);
    cr_assert_float_eq(number_of("{\"rope_scaling\": {\"type\": \"yarn\", \"beta\": 2}}", "beta"),
                       2, 0);
    cr_assert_float_eq(
        number_of("{\"rope_parameters\": {\"rope_type\": \"yarn\", \"beta\": 4}}", "beta"), 4, 0);
}

Test(model_rope, llama3)
{
    const struct model_rope rope = read_rope(
        "{\"max_position_embeddings\": 512, \"rope_parameters\": {\"rope_type\": \"llama3\", "
        "\"factor\": 8.0, \"high_freq_factor\": 4.0, \"low_freq_factor\": 1.0, "
        "\"original_max_position_embeddings\": 64, \"rope_theta\": 500000.0}}",
        16, TAPML_OK);

    EXPECT(rope, 5, 1, 0.0794030055f, 0.00470075384f, 0.000911583076f, 0.000176776695f,
           3.42810235e-05f, 6.64786967e-06f, 1.28917316e-06f);
    cr_assert_float_eq(rope.attenuation, 1, 0);
}

Test(model_rope, yarn)
{
    struct model_rope rope = read_rope(
        "{\"max_position_embeddings\": 4096, \"rope_parameters\": {\"rope_type\": \"yarn\", "
        "\"factor\": 4.0, \"original_max_position_embeddings\": 1024, \"rope_theta\": 10000.0}}",
        16, TAPML_OK);

    EXPECT(rope, 5, 1, 0.316227764f, 0.081249997f, 0.0197642352f, 0.00437500002f, 0.000790569407f,
           0.000250000012f, 7.90569393e-05f);
    cr_assert_float_eq(rope.attenuation, 1.13862944, 1e-8);

    // No rounding of the ramp, other ends of it, and the pair of scales.
    rope = read_rope(
        "{\"max_position_embeddings\": 4096, \"rope_theta\": 10000.0, \"rope_scaling\": {\"type\": "
        "\"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 1024, \"truncate\": "
        "false, \"beta_fast\": 16, \"beta_slow\": 2, \"mscale\": 0.7, \"mscale_all_dim\": 0.3}}",
        16, TAPML_OK);
    EXPECT(rope, 5, 1, 0.316227764f, 0.100000001f, 0.0187018029f, 0.00249999994f, 0.000790569407f,
           0.000250000012f, 7.90569393e-05f);
    cr_assert_float_eq(rope.attenuation, 1.05323768, 1e-8);

    // The factor follows from the two lengths; the attenuation is given.
    rope = read_rope(
        "{\"max_position_embeddings\": 4096, \"rope_parameters\": {\"rope_type\": \"yarn\", "
        "\"factor\": null, \"original_max_position_embeddings\": 1024, \"attention_factor\": 1.3, "
        "\"mscale\": 0.7, \"mscale_all_dim\": 0}}",
        16, TAPML_OK);
    EXPECT(rope, 5, 1, 0.316227764f, 0.081249997f, 0.0197642352f, 0.00437500002f, 0.000790569407f,
           0.000250000012f, 7.90569393e-05f);
    cr_assert_float_eq(rope.attenuation, 1.3, 1e-12);
}

Test(model_rope, longrope)
{
    const struct model_rope rope = read_rope(
        "{\"max_position_embeddings\": 64, \"original_max_position_embeddings\": 16, "
        "\"rope_scaling\": {\"type\": \"su\", \"short_factor\": [1, 1.5, 2, 3], \"long_factor\": "
        "[2, 4, 8, 16]}}",
        8, TAPML_OK);

    EXPECT(rope, 16, 1, 0.0666666701f, 0.00499999989f, 0.00033333333f);
    EXPECT(rope, 17, 0.5f, 0.025f, 0.00125f, 6.25e-05f);
    cr_assert_float_eq(rope.attenuation, 1.22474487, 1e-8);
    cr_assert_float_eq(rope.long_attenuation, 1.22474487, 1e-8);
}

// Phi-3.5-MoE gives the factors itself; one alone is not enough.
Test(model_rope, longrope_with_factors)
{
    const struct model_rope rope = read_rope(
        "{\"rope_scaling\": {\"type\": \"longrope\", \"short_factor\": [1, 2], \"long_factor\": "
        "[2, 4], \"factor\": 8, \"short_mscale\": 1.1, \"long_mscale\": 1.3}}",
        4, TAPML_OK);

    cr_assert_float_eq(rope.attenuation, 1.1, 1e-12);
    cr_assert_float_eq(rope.long_attenuation, 1.3, 1e-12);
    read_rope("{\"rope_scaling\": {\"type\": \"longrope\", \"short_factor\": [1, 2], "
              "\"long_factor\": [2, 4], \"factor\": 8, \"short_mscale\": 1.1}}",
              4, TAPML_INVALID);
}

Test(model_rope, what_is_refused)
{
    refused("{\"rope_parameters\": {\"rope_type\": \"spiral\"}}", 8, TAPML_UNIMPLEMENTED,
            "'rope_parameters/rope_type' is 'spiral', expected 'default', 'linear', 'dynamic', "
            "'llama3', 'yarn', 'longrope' or 'su'");
    refused("{\"rope_scaling\": {\"type\": \"spiral\"}}", 8, TAPML_UNIMPLEMENTED,
            "'rope_scaling/type' is 'spiral', expected 'default', ");
    refused("{\"rope_scaling\": {\"type\": \"linear\"}}", 8, TAPML_INVALID,
            "the config lacks 'rope_scaling/factor'");
    refused("{\"rope_scaling\": {\"type\": \"linear\", \"factor\": 0}}", 8, TAPML_INVALID,
            "'rope_scaling/factor' is 0");
    refused("{\"rope_scaling\": {\"type\": \"dynamic\", \"factor\": 2}}", 2, TAPML_INVALID,
            "heads of 4 values");
    refused("{\"rope_scaling\": {\"type\": \"llama3\", \"factor\": 2, \"low_freq_factor\": 4, "
            "\"high_freq_factor\": 3}}",
            8, TAPML_INVALID, "expected no less than the low one");
    refused(
        "{\"rope_scaling\": {\"type\": \"longrope\", \"short_factor\": [1, 1], \"long_factor\": "
        "[1, 1, 1, 1]}}",
        8, TAPML_INVALID, "'rope_scaling/short_factor' has 2 numbers, expected 4");
    refused("{\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 2, "
            "\"original_max_position_embeddings\": -1}}",
            8, TAPML_INVALID, "is -1, expected a number above 0");
    refused("{\"rope_theta\": -1}", 8, TAPML_INVALID,
            "'rope_theta' makes the base of the rotation -1");
    refused("{\"rope_theta\": 0}", 8, TAPML_INVALID,
            "'rope_theta' makes the base of the rotation 0, expected a number from ");
    refused("{\"rope_theta\": 1e39}", 8, TAPML_INVALID, "makes the base of the rotation 1e+39");
    refused("{\"rope_scaling\": {\"type\": \"linear\", \"factor\": 1e-37}}", 8, TAPML_INVALID,
            "'rope_scaling/factor' makes frequency 0 of the rotation 1e+37, expected at most ");
    refused("{\"rope_scaling\": {\"type\": \"dynamic\", \"factor\": 1e30}}", 8, TAPML_INVALID,
            "'rope_scaling/factor' makes frequency 1 of the rotation inf");
    refused("{\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 2, \"attention_factor\": 1e30}}",
            8, TAPML_INVALID, "the numbers in 'rope_scaling' make a factor of heads 1e+30");
    refused("{\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 2, \"mscale\": 1e-40}}", 8,
            TAPML_INVALID, "'rope_scaling/mscale' is 1e-40, expected a number of f32");
    refused("{}", 7, TAPML_INVALID, "heads of 7 values");
    refused("{}", 1026, TAPML_INVALID, "heads of 1026 values");
}

// Keys that would change the numbers and are not read are left to the host's check.
static void left_unread(const char *config, const char *key)
{
    struct model_fixture *fixture = model_fixture_open(NULL, config);
    struct model_context context = model_fixture_context(fixture);
    struct model_rope rope;

    model_rope_read(&context, &defaults, 8, &rope);
    model_fixture_expect(model_fixture_check_config(fixture), TAPML_INVALID, key);
    model_fixture_close(fixture);
}

Test(model_rope, unknown_keys_stay_unread)
{
    left_unread("{\"rope_parameters\": {\"rope_type\": \"linear\", \"factor\": 2, \"alpha\": 3}}",
                "alpha");
    left_unread("{\"rope_parameters\": 3}", "rope_parameters");
    left_unread("{\"rope_parameters\": {\"rope_theta\": 9}, \"rope_scaling\": {\"type\": "
                "\"linear\"}}",
                "rope_scaling");
    left_unread("{\"partial_rotary_factor\": 0.5}", "partial_rotary_factor");
    left_unread("{\"rope_parameters\": {\"rope_theta\": 9, \"partial_rotary_factor\": 0.5}}",
                "partial_rotary_factor");
}

// Rows of a table, up to the last token of a text of 1003.
static void fill(const struct model_rope *rope,
                 int is_sine,
                 int64_t first,
                 void *table,
                 size_t bytes,
                 tapml_status expected)
{
    struct model_fixture *fixture = model_fixture_open(NULL, "{}");
    struct model_context context = model_fixture_context(fixture);

    model_rope_fill(&context, rope, is_sine,
                    &(struct model_fill){.name = "rope",
                                         .first = first,
                                         .count = 1003 - first,
                                         .length = 1003,
                                         .target = table,
                                         .target_bytes = bytes});
    cr_assert_eq(context.status, expected);
    model_fixture_close(fixture);
}

Test(model_rope, tables)
{
    const struct model_rope rope = read_rope(
        "{\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 1, \"attention_factor\": 2}}", 4,
        TAPML_OK);
    float cosines[6];
    float sines[6];
    float one[2];

    fill(&rope, 0, 1000, cosines, sizeof(cosines), TAPML_OK);
    fill(&rope, 1, 1000, sines, sizeof(sines), TAPML_OK);
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < 2; i++) {
            const float angle = (float)(1000 + t) * (i == 0 ? 1.0f : 0.01f);

            cr_assert_float_eq(cosines[2 * t + i], 2 * (float)cos((double)angle), 1e-9f);
            cr_assert_float_eq(sines[2 * t + i], 2 * (float)sin((double)angle), 1e-9f);
        }
    }

    // Token by token gives the same bits as all at once.
    fill(&rope, 1, 1002, one, sizeof(one), TAPML_OK);
    cr_assert_eq(memcmp(one, sines + 4, sizeof(one)), 0);
    fill(&rope, 1, 1002, one, sizeof(one) - 4, TAPML_INVALID);
}
