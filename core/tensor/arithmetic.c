// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/arithmetic.h"

#include "base/assert.h"
#include "tensor/convert.h"
#include "tensor/quant_format.h"

#include <tapml/backend.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const struct arithmetic arithmetic_f32 = {.inputs = TAPML_FORMAT_F32};

// What values are rounded by: one by one, or in blocks to the numbers of `quants`.
struct format {
    const char *name;
    float (*round)(float value); // NULL: in blocks.
    enum quant_format_name quants;
    double divisor;             // The largest magnitude becomes this number.
    int has_half_scale;         // The scale is rounded to f16.
    int is_sum;                 // Sums may have it.
    enum activation activation; // Whose roundings are as large.
};

enum { TF32_DROPPED = 13 }; // Digits of f32 that it lacks.

static float as_it_is(float value)
{
    return value;
}

static float drop_digits(float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof(bits));
    bits = bits >> TF32_DROPPED << TF32_DROPPED;
    memcpy(&value, &bits, sizeof(bits));
    return value;
}

static float to_tf32(float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof(bits));
    bits += (1U << (TF32_DROPPED - 1)) - 1 + (bits >> TF32_DROPPED & 1);
    memcpy(&value, &bits, sizeof(bits));
    return drop_digits(value);
}

static float to_bf16(float value)
{
    return convert_bf16_to_f32(convert_f32_to_bf16(value));
}

static float to_f16(float value)
{
    return convert_f16_to_f32(convert_f32_to_f16(value));
}

static const struct format formats[] = {
    [TAPML_FORMAT_F32] = {.name = "f32", .round = as_it_is, .is_sum = 1},
    [TAPML_FORMAT_TF32] = {.name = "tf32", .round = to_tf32, .activation = ACTIVATION_F16},
    [TAPML_FORMAT_TF32_CUT] = {.name = "tf32 cut off",
                               .round = drop_digits,
                               .activation = ACTIVATION_F16},
    [TAPML_FORMAT_BF16] = {.name = "bf16",
                           .round = to_bf16,
                           .is_sum = 1,
                           .activation = ACTIVATION_BF16},
    [TAPML_FORMAT_F16] = {.name = "f16",
                          .round = to_f16,
                          .is_sum = 1,
                          .activation = ACTIVATION_F16},
    [TAPML_FORMAT_Q8] = {.name = "q8", .quants = QUANT_FORMAT_I8, .divisor = 127},
    [TAPML_FORMAT_Q8_HALF] = {.name = "q8 with scales in f16",
                              .quants = QUANT_FORMAT_I8,
                              .divisor = 127,
                              .has_half_scale = 1},
    [TAPML_FORMAT_E4M3] = {.name = "e4m3", .quants = QUANT_FORMAT_E4M3, .divisor = 448},
    [TAPML_FORMAT_E5M2] = {.name = "e5m2", .quants = QUANT_FORMAT_E5M2, .divisor = 57344},
};

enum { FORMAT_COUNT = sizeof(formats) / sizeof(formats[0]) };

static const struct format *get(uint32_t format)
{
    ASSERT(format < FORMAT_COUNT);
    return &formats[format];
}

int arithmetic_is_reduced(const struct arithmetic *arithmetic)
{
    return arithmetic->inputs != TAPML_FORMAT_F32 || arithmetic->weights != TAPML_FORMAT_F32 ||
           arithmetic->accumulator != TAPML_FORMAT_F32 || arithmetic->result != TAPML_FORMAT_F32;
}

static tapml_status check_member(const char *name, uint32_t format, int is_sum)
{
    if (format >= FORMAT_COUNT) {
        return status_fail(TAPML_INVALID, "%s in format %" PRIu32 ", which is not known", name,
                           format);
    }
    return is_sum ? get(format)->is_sum
                        ? TAPML_OK
                        : status_fail(TAPML_INVALID, "%s in %s, expected f32, f16 or bf16", name,
                                      get(format)->name)
           : get(format)->round
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "%s in %s, expected a format without a scale", name,
                             get(format)->name);
}

tapml_status arithmetic_check(const struct arithmetic *arithmetic)
{
    if (arithmetic->inputs >= FORMAT_COUNT) {
        return check_member("inputs", arithmetic->inputs, 0);
    }
    TAPML_TRY(check_member("weights", arithmetic->weights, 0));
    TAPML_TRY(check_member("sums", arithmetic->accumulator, 1));
    return check_member("results", arithmetic->result, 0);
}

int arithmetic_has_scale(uint32_t format)
{
    return !get(format)->round;
}

const char *arithmetic_format_name(uint32_t format)
{
    return get(format)->name;
}

void arithmetic_describe(const struct arithmetic *arithmetic, char out_text[ARITHMETIC_TEXT])
{
    const struct {
        const char *name;
        uint32_t format;
    } members[] = {{"inputs", arithmetic->inputs},
                   {"weights", arithmetic->weights},
                   {"sums", arithmetic->accumulator},
                   {"results", arithmetic->result}};
    size_t length = 0;
    out_text[0] = '\0';
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (members[i].format == TAPML_FORMAT_F32) {
            continue;
        }
        (void)snprintf(out_text + length, ARITHMETIC_TEXT - length, "%s%s %s",
                       length > 0 ? ", " : "", members[i].name, get(members[i].format)->name);
        length = strlen(out_text);
        if (arithmetic_has_scale(members[i].format) && arithmetic->block > 0) {
            (void)snprintf(out_text + length, ARITHMETIC_TEXT - length, " in blocks of %" PRIu32,
                           arithmetic->block);
            length = strlen(out_text);
        }
    }
}

enum activation arithmetic_loss(const struct arithmetic *arithmetic)
{
    const enum activation sums = get(arithmetic->accumulator)->activation;
    const enum activation results = get(arithmetic->result)->activation;
    return activation_type(sums)->rounding > activation_type(results)->rounding ? sums : results;
}

static float largest(const float *values, size_t count)
{
    float most = 0;
    for (size_t i = 0; i < count; i++) {
        const float magnitude = fabsf(values[i]);
        most = isfinite(magnitude) && magnitude > most ? magnitude : most;
    }
    return most;
}

static void round_block(const struct format *format, float *values, size_t count)
{
    const struct quant_format *quants = quant_format_get(format->quants);
    const float scale = largest(values, count) / (float)format->divisor;
    const float given = format->has_half_scale ? to_f16(scale) : scale;
    for (size_t i = 0; scale > 0 && i < count; i++) {
        if (isfinite(values[i])) {
            values[i] = given * (float)quant_format_round(quants, (double)(values[i] / scale));
        }
    }
}

void arithmetic_round(
    uint32_t format, uint32_t block, float *values, size_t row_count, size_t width)
{
    const struct format *to = get(format);
    const size_t length = to->round || block == 0 || block > width ? width : block;
    for (size_t i = 0; to->round && i < row_count * width; i++) {
        values[i] = isfinite(values[i]) ? to->round(values[i]) : values[i];
    }
    for (size_t row = 0; !to->round && row < row_count; row++) {
        for (size_t at = 0; at < width; at += length) {
            const size_t rest = width - at;
            round_block(to, values + row * width + at, rest < length ? rest : length);
        }
    }
}
