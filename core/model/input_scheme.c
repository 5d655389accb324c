// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/input_scheme.h"

#include <float.h>
#include <string.h>

// Where the scales of the file are, as modelopt and transformers name them.
static const char file_scales[] = ".input_scale .activation_scale";

struct input_scheme input_scheme_get(enum input_scheme_name name, const char **out_factors)
{
    // Least magnitudes are those of the publishers' kernels: DeepSeek's for blocks, FBGEMM's and
    // vLLM's for rows.
    static const struct {
        int64_t block;
        enum quant_format_name format;
        enum quant_format_scaling scaling;
        double low;
        const char *factors;
    } schemes[] = {
        [INPUT_SCHEME_F8_GIVEN] = {0, QUANT_FORMAT_E4M3, QUANT_FORMAT_GIVEN, 0, file_scales},
        [INPUT_SCHEME_F8_ROW] = {0, QUANT_FORMAT_E4M3, QUANT_FORMAT_QUOTIENT, 0x1p-9, NULL},
        [INPUT_SCHEME_F8_BLOCKS] = {128, QUANT_FORMAT_E4M3, QUANT_FORMAT_QUOTIENT, 1e-4, NULL},
        [INPUT_SCHEME_F8_POWERS] = {128, QUANT_FORMAT_E4M3, QUANT_FORMAT_POWER_ABOVE, 1e-4, NULL},
        [INPUT_SCHEME_MX8] = {32, QUANT_FORMAT_E4M3, QUANT_FORMAT_POWER_ABOVE, 0, NULL},
        [INPUT_SCHEME_NV4] = {16, QUANT_FORMAT_E2M1, QUANT_FORMAT_DIVIDED, 0, file_scales},
    };
    *out_factors = schemes[name].factors;
    return (struct input_scheme){.block = schemes[name].block,
                                 .format = schemes[name].format,
                                 .scaling = schemes[name].scaling,
                                 .low = schemes[name].low,
                                 .high = FLT_MAX,
                                 .factor = 1};
}

// A scale of all tokens of a call is none of them: it would depend on how a prompt is cut into
// calls.
static const struct kind {
    const char *type, *strategy;
    int64_t bits;
    int is_given, has_groups;
    enum quant_format_name format;
    enum quant_format_scaling scaling;
    const char *factors;
} kinds[] = {
    {"float", "tensor", 8, 1, 0, QUANT_FORMAT_E4M3, QUANT_FORMAT_GIVEN, file_scales},
    {"float", "token", 8, 0, 0, QUANT_FORMAT_E4M3, QUANT_FORMAT_QUOTIENT, NULL},
    {"float", "group", 8, 0, 1, QUANT_FORMAT_E4M3, QUANT_FORMAT_QUOTIENT, NULL},
    {"int", "tensor", 8, 1, 0, QUANT_FORMAT_I8, QUANT_FORMAT_GIVEN, file_scales},
    {"int", "token", 8, 0, 0, QUANT_FORMAT_I8, QUANT_FORMAT_QUOTIENT, NULL},
    {"int", "group", 8, 0, 1, QUANT_FORMAT_I8, QUANT_FORMAT_QUOTIENT, NULL},
    {"float", "tensor_group", 4, 0, 1, QUANT_FORMAT_E2M1, QUANT_FORMAT_SCALED,
     ".input_global_scale"},
    {"float", "group", 4, 0, 1, QUANT_FORMAT_E2M1, QUANT_FORMAT_POWER_OF, NULL},
};

static int fits(const struct kind *kind, const struct input_scheme_words *words)
{
    return words->type && strcmp(kind->type, words->type) == 0 && words->strategy &&
           strcmp(kind->strategy, words->strategy) == 0 && kind->bits == words->bits &&
           kind->is_given == words->is_given && (!kind->has_groups || words->block > 0) &&
           !words->has_zeros;
}

int input_scheme_find(const struct input_scheme_words *words,
                      struct input_scheme *out_scheme,
                      const char **out_factors)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
        const struct kind *kind = &kinds[i];
        const int is_power = words->is_power && kind->scaling == QUANT_FORMAT_QUOTIENT;
        if (fits(kind, words)) {
            *out_scheme = (struct input_scheme){
                .block = kind->has_groups ? words->block : 0,
                .format = kind->format,
                .scaling = is_power ? QUANT_FORMAT_POWER_OF : kind->scaling,
                .high = FLT_MAX,
                .factor = 1,
            };
            *out_factors = kind->factors;
            return 1;
        }
    }
    return 0;
}

int input_scheme_join(struct input_scheme *scheme, const struct input_scheme *more)
{
    const int takes_less = scheme->scaling == QUANT_FORMAT_SCALED;
    if (scheme->block != more->block || scheme->format != more->format ||
        scheme->scaling != more->scaling || scheme->low != more->low ||
        scheme->high != more->high) {
        return 0;
    }
    if (takes_less ? more->factor < scheme->factor : more->factor > scheme->factor) {
        scheme->factor = more->factor;
    }
    return 1;
}
