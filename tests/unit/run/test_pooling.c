// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/sketch.h"
#include "run/pooling.h"

#include <criterion/criterion.h>
#include <string.h>

static const float rows[] = {3, 4, 1, 0, 5, 2};

// Three rows in two calls.
static void pool(struct pooling *pooling, const int32_t *mask)
{
    pooling_begin(pooling);
    cr_assert_eq(pooling_add(pooling, rows, 1, 2, mask), TAPML_OK);
    cr_assert_eq(pooling_add(pooling, rows + 2, 2, 2, mask != NULL ? mask + 1 : NULL), TAPML_OK);
    cr_assert_eq(pooling_end(pooling), TAPML_OK);
}

static void expect(enum pooling_kind kind, const int32_t *mask, double first, double second)
{
    struct pooling pooling = {.kind = kind};

    pool(&pooling, mask);
    cr_assert(pooling.values[0] == first && pooling.values[1] == second);
    pool(&pooling, mask); // Nothing is left of the text before.
    cr_assert(pooling.values[0] == first && pooling.values[1] == second);
    pooling_release(&pooling);
}

Test(pooling, each_kind_takes_its_rows)
{
    expect(POOLING_CLS, NULL, 3, 4);
    expect(POOLING_LAST, NULL, 5, 2);
    expect(POOLING_MEAN, NULL, 3, 2);
}

Test(pooling, rows_that_a_mask_hides_do_not_count)
{
    expect(POOLING_MEAN, (const int32_t[]){1, 1, 0}, 2, 2);
    expect(POOLING_LAST, (const int32_t[]){1, 1, 0}, 1, 0);
    expect(POOLING_CLS, (const int32_t[]){0, 1, 1}, 1, 0);
}

Test(pooling, a_normalised_vector_has_length_one)
{
    struct pooling pooling = {.kind = POOLING_CLS, .is_normalised = 1};

    pool(&pooling, NULL);
    cr_assert_float_eq(pooling.values[0], 0.6, 1e-15);
    cr_assert_float_eq(pooling.values[1], 0.8, 1e-15);
    pooling_release(&pooling);
}

Test(pooling, rows_of_another_width_and_no_rows_are_refused)
{
    struct pooling pooling = {.kind = POOLING_MEAN};

    pooling_begin(&pooling);
    cr_assert_eq(pooling_add(&pooling, rows, 1, 2, (const int32_t[]){0}), TAPML_OK);
    cr_assert_eq(pooling_end(&pooling), TAPML_INVALID);
    cr_assert_eq(pooling_add(&pooling, rows, 1, 3, NULL), TAPML_INVALID);
    pooling_release(&pooling);
}

Test(pooling, options_are_read)
{
    static const struct options_spec specs[] = {POOLING_OPTIONS, {NULL, NULL, NULL}};
    char *words[] = {(char[]){"--pool"}, (char[]){"last"}, (char[]){"--normalise"}, NULL};
    struct options options;
    struct pooling pooling;

    cr_assert_eq(options_parse(specs, 3, words, &options), TAPML_OK);
    cr_assert_eq(pooling_read(&options, &pooling), TAPML_OK);
    cr_assert(pooling.kind == POOLING_LAST && pooling.is_normalised);
    words[1] = (char[]){"max"};
    cr_assert_eq(options_parse(specs, 2, words, &options), TAPML_OK);
    cr_assert_eq(pooling_read(&options, &pooling), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "'max'"));
    cr_assert_eq(options_parse(specs, 1, words + 2, &options), TAPML_OK);
    cr_assert_eq(pooling_read(&options, &pooling), TAPML_INVALID);
}

Test(pooling, the_last_hidden_state_is_found)
{
    struct sketch sketch;
    const char *output = NULL;

    sketch_init(&sketch);
    const uint32_t x = sketch_value(&sketch, GRAPH_INPUT, "x", sketch_sum(0, 1), 2);

    cr_assert_eq(pooling_find(&sketch.graph, &output), TAPML_INVALID);
    sketch_output(&sketch, "hidden.10", x);
    sketch_output(&sketch, "hidden.9", x);
    sketch_output(&sketch, "logits", x);
    cr_assert_eq(pooling_find(&sketch.graph, &output), TAPML_OK);
    cr_assert_str_eq(output, "hidden.10");
    sketch_output(&sketch, "last_hidden_state", x);
    cr_assert_eq(pooling_find(&sketch.graph, &output), TAPML_OK);
    cr_assert_str_eq(output, "last_hidden_state");
}
