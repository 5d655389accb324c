// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "model/input_scheme.h"

#include <criterion/criterion.h>
#include <stddef.h>
#include <string.h>

// What compressed-tensors says, and what it comes to.
static const struct {
    struct input_scheme_words words;
    enum quant_format_name format;
    enum quant_format_scaling scaling;
    int64_t block;
    const char *factors;
} known[] = {
    {{"float", "token", 8, 0, 0, 0, 0}, QUANT_FORMAT_E4M3, QUANT_FORMAT_QUOTIENT, 0, NULL},
    {{"float", "group", 8, 128, 0, 0, 0}, QUANT_FORMAT_E4M3, QUANT_FORMAT_QUOTIENT, 128, NULL},
    {{"float", "group", 8, 32, 0, 1, 0}, QUANT_FORMAT_E4M3, QUANT_FORMAT_POWER_OF, 32, NULL},
    {{"float", "tensor", 8, 0, 1, 0, 0},
     QUANT_FORMAT_E4M3,
     QUANT_FORMAT_GIVEN,
     0,
     ".input_scale .activation_scale"},
    {{"int", "token", 8, 0, 0, 0, 0}, QUANT_FORMAT_I8, QUANT_FORMAT_QUOTIENT, 0, NULL},
    {{"int", "tensor", 8, 0, 1, 0, 0},
     QUANT_FORMAT_I8,
     QUANT_FORMAT_GIVEN,
     0,
     ".input_scale .activation_scale"},
    {{"float", "tensor_group", 4, 16, 0, 0, 0},
     QUANT_FORMAT_E2M1,
     QUANT_FORMAT_SCALED,
     16,
     ".input_global_scale"},
    {{"float", "group", 4, 32, 0, 0, 0}, QUANT_FORMAT_E2M1, QUANT_FORMAT_POWER_OF, 32, NULL},
};

Test(input_scheme, words_of_compressed_tensors)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i) {
        struct input_scheme scheme;
        const char *factors = "";
        cr_assert(input_scheme_find(&known[i].words, &scheme, &factors), "%zu", i);
        cr_assert_eq(scheme.format, known[i].format, "%zu", i);
        cr_assert_eq(scheme.scaling, known[i].scaling, "%zu", i);
        cr_assert_eq(scheme.block, known[i].block, "%zu", i);
        cr_assert_eq(factors == NULL, known[i].factors == NULL, "%zu", i);
        cr_assert(!factors || strcmp(factors, known[i].factors) == 0, "%zu", i);
    }
}

Test(input_scheme, other_words_are_not_known)
{
    static const struct input_scheme_words unknown[] = {
        {"float", "tensor", 8, 0, 0, 0, 0}, // A scale of all tokens of a call.
        {"int", "token", 8, 0, 0, 0, 1},    {"int", "token", 4, 0, 0, 0, 0},
        {"float", "group", 8, 0, 0, 0, 0},  {NULL, "token", 8, 0, 0, 0, 0},
        {"float", NULL, 8, 0, 0, 0, 0},     {"float", "token", 8, 0, 1, 0, 0},
    };
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); ++i) {
        struct input_scheme scheme;
        const char *factors = NULL;
        cr_assert_not(input_scheme_find(&unknown[i], &scheme, &factors), "%zu", i);
    }
}

Test(input_scheme, joined_schemes_have_the_factor_of_the_wider_range)
{
    const char *factors = NULL;
    struct input_scheme divided = input_scheme_get(INPUT_SCHEME_NV4, &factors);
    struct input_scheme scaled = divided;
    struct input_scheme more = divided;
    more.factor = 4;
    cr_assert(input_scheme_join(&divided, &more));
    cr_assert_eq(divided.factor, 4);
    scaled.scaling = more.scaling = QUANT_FORMAT_SCALED;
    cr_assert(input_scheme_join(&scaled, &more));
    cr_assert_eq(scaled.factor, 1, "it is what values are multiplied with");
    more.block = 32;
    cr_assert_not(input_scheme_join(&scaled, &more));
}
