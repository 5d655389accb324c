// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/half.h"

#include "harness/formulas.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static bool has_word(const char *text, const char *word)
{
    const size_t length = strlen(word);

    for (; text != NULL && *text != '\0'; text += strspn(text, " ")) {
        const size_t here = strcspn(text, " ");

        if (here == length && strncmp(text, word, length) == 0) {
            return true;
        }
        text += here;
    }
    return false;
}

// Whether an activation may be f16: its schema lists it, or names a parameter whose schema does.
static bool can_be_half(const tapml_op *op, const tapml_param *param)
{
    if ((param->effects & TAPML_E_WEIGHT) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < op->n_params; i++) {
        if (param->dtype != NULL && strcmp(op->params[i]->name, param->dtype) == 0) {
            return op->params[i] != param && can_be_half(op, op->params[i]);
        }
    }
    return has_word(param->dtype, "f16");
}

const char *half_name(enum half_part part)
{
    static const char *const names[] = {
        [HALF_ALL] = "f16", [HALF_STATES] = "states in f16", [HALF_BLOCKS] = "states in blocks"};

    return names[part];
}

static bool is_of(const tapml_op *op, const tapml_param *param, enum half_part part)
{
    const bool is_state = (param->effects & (TAPML_E_STATE_READ | TAPML_E_STATE_WRITE)) != 0;

    if (part == HALF_ALL || !is_state) {
        return part == HALF_ALL;
    }
    for (uint32_t i = 0; i < op->n_params; i++) {
        if (strcmp(op->params[i]->name, param->dtype) == 0) {
            return is_of(op, op->params[i], part);
        }
    }
    return true;
}

static size_t count_of(const struct operand_spec *spec)
{
    size_t count = 1;

    for (uint32_t axis = 0; axis < spec->rank; axis++) {
        count *= (size_t)spec->shape[axis];
    }
    return count;
}

// What the blocks of OPERAND_ROWS have of `count` values.
static void round_blocks(const double *values, size_t count, double *out_values)
{
    const struct codec *codec = operand_codec(OPERAND_ROWS);
    const uint32_t block_values = codec->encoding->block_values;
    unsigned char block[2 * CODEC_VALUES_MAX], *spans[] = {block};
    float decoded[CODEC_VALUES_MAX];

    for (size_t begin = 0; begin < count; begin += block_values) {
        codec->write(codec, values + begin, spans);
        codec_decode(codec, (const unsigned char *const *)spans, decoded);
        for (uint32_t i = 0; i < block_values; i++) {
            out_values[begin + i] = (double)decoded[i];
        }
    }
}

static double *rounded(const struct operand_spec *spec, enum half_part part)
{
    const size_t count = count_of(spec);
    double *values = calloc(count + 1, sizeof(*values));

    cr_assert_not_null(values);
    if (part == HALF_BLOCKS) {
        round_blocks(spec->values, count, values);
        return values;
    }
    for (size_t i = 0; i < count; i++) {
        values[i] = formulas_rounded(spec->values[i], TAPML_F16);
    }
    return values;
}

// A state in blocks is dense.
static void reduce(struct operand_spec *spec, enum half_part part)
{
    spec->dtype = part == HALF_BLOCKS ? OPERAND_ROWS : TAPML_F16;
    spec->strided &= part != HALF_BLOCKS;
}

static bool is_reduced(const struct op_fixture *fixture, uint32_t index, enum half_part part)
{
    const tapml_param *param = fixture->op->params[index];
    const struct operand_spec *spec = &fixture->arguments[index].tensor;

    return spec->rank > 0 && spec->dtype == TAPML_F32 && is_of(fixture->op, param, part) &&
           can_be_half(fixture->op, param) &&
           (part != HALF_BLOCKS || (param->effects & TAPML_E_STATE_READ) != 0);
}

// Whether all rows of what would be in blocks consist of whole ones.
static bool has_whole_blocks(const struct op_fixture *fixture)
{
    const int64_t block_values = operand_codec(OPERAND_ROWS)->encoding->block_values;

    for (uint32_t i = 0; i < fixture->op->n_params; i++) {
        const struct operand_spec *spec = &fixture->arguments[i].tensor;

        if (is_reduced(fixture, i, HALF_BLOCKS) &&
            spec->shape[spec->rank - 1] % block_values != 0) {
            return false;
        }
    }
    return true;
}

bool half_create(const struct op_fixture *fixture, enum half_part part, struct half *half)
{
    bool is_any = false;

    *half = (struct half){.part = part, .reduced = *fixture, .f32 = *fixture};
    if (part == HALF_BLOCKS && !has_whole_blocks(fixture)) {
        return false;
    }
    for (uint32_t i = 0; i < fixture->op->n_params; i++) {
        struct operand_spec *spec = &half->reduced.arguments[i].tensor;

        if (!is_reduced(fixture, i, part)) {
            continue;
        }
        is_any = true;
        if (spec->values != NULL) {
            half->values[i] = rounded(spec, part);
            spec->values = half->values[i];
            half->f32.arguments[i].tensor.values = half->values[i];
        }
        reduce(spec, part);
    }
    return is_any;
}

void half_release(struct half *half)
{
    for (size_t i = 0; i < OP_FIXTURE_PARAMS_MAX; i++) {
        free(half->values[i]);
    }
}

bool half_rounds(const struct half *half)
{
    return half->reduced.arguments[half->reduced.output].tensor.dtype == TAPML_F16;
}
