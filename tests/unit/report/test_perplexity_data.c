// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/perplexity_data.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const struct text_chunks chunks = {.count = 11, .context = 4, .chunk_count = 2};
static const double running[] = {2, 4};

static json_t *make(struct perplexity *perplexity)
{
    json_t *document = NULL;

    running_mean_add(&perplexity->surprise, log(2));
    running_mean_add(&perplexity->surprise, log(8));
    perplexity->chunk = 2;
    cr_assert_eq(perplexity_data_create(&(struct perplexity_data){.model = "m",
                                                                  .text = "t",
                                                                  .source = "reference:f32",
                                                                  .activations = "f32",
                                                                  .chunks = &chunks,
                                                                  .perplexity = perplexity,
                                                                  .running = running},
                                        &document),
                 TAPML_OK);
    return document;
}

static double number(const json_t *object, const char *first, const char *second)
{
    return json_number_value(json_object_get(json_object_get(object, first), second));
}

static void prints(const json_t *document, const char *piece)
{
    struct text text;

    text_init(&text);
    perplexity_data_print(document, &text);
    cr_assert_eq(text_status(&text), TAPML_OK);
    cr_assert_not_null(strstr(text.data, piece), "'%s' is not in '%s'", piece, text.data);
    text_release(&text);
}

Test(perplexity_data, one_model_has_its_perplexity_alone)
{
    struct perplexity perplexity = {.chunk = 0};
    json_t *document = make(&perplexity);

    cr_assert_str_eq(json_string_value(json_object_get(document, "format")), "tapml-perplexity/1");
    cr_assert_float_eq(number(document, "perplexity", "value"), 4, 1e-12);
    cr_assert_float_eq(number(document, "perplexity", "error"), 4 * log(2), 1e-12);
    cr_assert_eq(json_integer_value(json_object_get(document, "text_tokens")), 11);
    cr_assert_eq(json_array_size(json_object_get(document, "running")), 2);
    cr_assert(json_is_null(json_object_get(document, "comparison")));
    prints(document, "perplexity 4.00000 +/- 2.77259 over 2 tokens\n");
    json_decref(document);
    perplexity_release(&perplexity);
}

// Two positions of which the base gives both tokens a half, and the model a quarter and three.
static void compare(struct perplexity *perplexity)
{
    const float three = (float)log(3);
    const float base[] = {0, 0}, computed[] = {0, three};
    struct log_softmax rows[2];

    cr_assert_eq(log_softmax_make(base, 2, &rows[0]), TAPML_OK);
    cr_assert_eq(log_softmax_make(computed, 2, &rows[1]), TAPML_OK);
    cr_assert_eq(kl_divergence_add(&perplexity->divergence, &rows[0], &rows[1], 0), TAPML_OK);
    cr_assert_eq(kl_divergence_add(&perplexity->divergence, &rows[0], &rows[1], 1), TAPML_OK);
}

Test(perplexity_data, a_comparison_has_all_numbers)
{
    struct perplexity perplexity = {.chunk = 0};

    compare(&perplexity);
    json_t *document = make(&perplexity);
    const json_t *comparison = json_object_get(document, "comparison");

    cr_assert_float_eq(number(comparison, "base", "value"), 2, 1e-12);
    cr_assert_float_eq(number(comparison, "ratio", "value"), 2 / sqrt(3), 1e-6);
    cr_assert_float_eq(number(comparison, "log_ratio", "value"), log(2 / sqrt(3)), 1e-6);
    cr_assert_float_eq(number(comparison, "difference", "value"), 4 / sqrt(3) - 2, 1e-6);
    cr_assert_float_eq(number(comparison, "divergence", "value"), 0.5 * log(4.0 / 3), 1e-6);
    cr_assert_float_eq(number(comparison, "probability_difference", "least"), -0.25, 1e-6);
    cr_assert_float_eq(number(comparison, "probability_difference", "largest"), 0.25, 1e-6);
    cr_assert_float_eq(number(comparison, "probability_difference_rms", "value"), 0.25, 1e-6);
    cr_assert_eq(number(comparison, "same_top", "value"), 0);
    const json_t *parts =
        json_object_get(json_object_get(comparison, "probability_difference"), "quantiles");

    cr_assert_float_eq(json_number_value(json_object_get(parts, "75")), 0.125, 1e-6);
    cr_assert_eq(json_object_size(parts), 11);
    // The base is equally sure of both: of a correlation nothing can be told.
    cr_assert_str_eq(json_string_value(json_object_get(comparison, "correlation")), "NaN");
    json_decref(document);
    perplexity_release(&perplexity);
}

Test(perplexity_data, a_comparison_is_printed)
{
    struct perplexity perplexity = {.chunk = 0};

    compare(&perplexity);
    json_t *document = make(&perplexity);

    prints(document, "perplexity 4.00000 +/- 2.77259 over 2 tokens\n");
    prints(document, "perplexity of the base 2.00000 +/- 0.00000: ratio 1.154701 +/- 0.634284, its "
                     "logarithm 0.143841 +/- 0.549306, difference 0.309401 +/- 1.268568, ");
    prints(document, "KL divergence: mean 0.143841 +/- 0, median 0.143841, 90 % 0.143841, 99 % ");
    prints(document, " +/- 25 %, root mean square 25 +/- ");
    prints(document, "1 % -24.5, 99 % 24.5, least -25, largest 25 %\n");
    prints(document, "same likeliest token: 0 +/- 0 %\n");
    json_decref(document);
    perplexity_release(&perplexity);
}
