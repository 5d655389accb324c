// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "tensor/quant_format.h"
#include "verify/derive_quants.h"

#include <tapml/tensor.h>

#include <criterion/criterion.h>
#include <math.h>

enum { WIDTH = 83, COUNT = 40 * WIDTH, BLOCK = 16 };

static void draw(int64_t format, int64_t scaling, double factor, float *values)
{
    struct random random;
    const struct derive_quants drawing = {.random = &random,
                                          .block = BLOCK,
                                          .format = format,
                                          .scaling = scaling,
                                          .factor = factor,
                                          .width = WIDTH};
    random_init(&random, 1);
    derive_quants_fill(&drawing, TAPML_F32, COUNT, values);
}

// Of each block the first value tells the scale; the others are halves of steps, or the largest.
Test(derive_quants, blocks_are_full_of_ties)
{
    for (int64_t format = 0; format < 4; format++) {
        const struct quant_format *own = quant_format_get(format);
        float values[COUNT], scale = 0;
        int zeros = 0, ties = 0, tiny = 0;
        draw(format, QUANT_FORMAT_QUOTIENT, 1, values);
        for (int i = 0; i < COUNT; i++) {
            const int is_first = i % WIDTH % BLOCK == 0;
            scale = is_first ? (float)(fabs((double)values[i]) / own->divisor) : scale;
            zeros += is_first && scale == 0;
            tiny += is_first && scale == 0x1p-99F;
            if (is_first || scale == 0) {
                continue;
            }
            const double quant = fabs((double)values[i] / (double)scale);
            const double steps = quant / quant_format_step(own, quant);
            const int is_tie = steps - floor(steps) == 0.5;
            cr_assert(is_tie || quant == own->most, "%g", quant);
            ties += is_tie;
        }
        cr_assert(zeros > 0 && tiny > 0 && ties > COUNT / 2, "%d %d %d", zeros, tiny, ties);
    }
}

Test(derive_quants, a_given_scale_is_exceeded)
{
    float values[COUNT];
    int beyond = 0;
    draw(0, QUANT_FORMAT_GIVEN, 0.5, values);
    for (int i = 0; i < COUNT; i++) {
        beyond += fabsf(values[i]) > 224;
    }
    cr_assert(beyond > COUNT / 20);
}

Test(derive_quants, scales_are_those_that_e4m3_holds)
{
    static const int64_t scalings[] = {QUANT_FORMAT_SCALED, QUANT_FORMAT_DIVIDED};
    for (int k = 0; k < 2; k++) {
        float values[COUNT];
        int least = 0;
        draw(2, scalings[k], k == 0 ? 0.25 : 4, values);
        for (int i = 0; i < COUNT; i++) {
            least += i % WIDTH % BLOCK == 0 && fabsf(values[i]) == 6 * 4 * 0x1p-9F;
        }
        cr_assert(least > 0);
    }
}
