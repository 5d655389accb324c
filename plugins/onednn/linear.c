// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "operators.h"

#include <tapml/ops.h>

#include <math.h>
#include <string.h>

enum {
    PIECE_BYTES = 4 << 20, // Of weights that are converted, and of sums of blocks.
    BLOCK = 32,
    BLOCK_MOST = 127, // Quants of tapml.q8/1.
};

// Without a bias, that has no axes.
struct linear {
    struct operand x, y, bias;
};

// Outputs `first` .. `first + count`, which the last axis is.
static struct operand part_of(const struct operand *operand, int64_t first, int64_t count)
{
    struct operand part = *operand;

    if (part.view.rank > 0) {
        part.view.shape[part.view.rank - 1] = count;
        operand_move(&part, first * part.view.stride[part.view.rank - 1]);
    }
    return part;
}

// -- Products of 8 bits --------------------------------------------------------------------------

// Each value is the nearest whole number times the scale, ties to even; what is not finite is the
// scale's alone, so that 0 times it is no number.
static void quantise(const float *x, int8_t *quants, float *scale)
{
    float largest = 0;

    for (int i = 0; i < BLOCK; i++) {
        const float magnitude = fabsf(x[i]);

        largest = isnan(largest) || magnitude <= largest ? largest : magnitude;
    }
    *scale = largest / BLOCK_MOST;
    for (int i = 0; i < BLOCK; i++) {
        quants[i] = (int8_t)(*scale > 0 && isfinite(*scale) ? lrintf(x[i] / *scale) : 0);
    }
}

// Quants of outputs `first` .. of a weight, and their scales, which lie behind the quants of all
// outputs.
static void find_blocks(const struct run *run,
                        const tapml_tensor *w,
                        int64_t first,
                        struct operand *quants,
                        struct operand *scales)
{
    const int64_t width = w->shape[1], align = (int64_t)w->encoding->spans[1]->align;
    const int64_t quants_bytes = (w->shape[0] * width + align - 1) / align * align;

    if (!run->is_trial) {
        quants->address = (unsigned char *)memory_at(w) + first * width;
        scales->address = (unsigned char *)memory_at(w) + quants_bytes;
        operand_move(scales, first * width / BLOCK);
    }
}

// The library has one scale for all terms of a sum: a block is a product of its own, one of a
// batch, whose results are scaled and then added up.
static void multiply_quants(struct run *run, const struct linear *linear, const tapml_tensor *w)
{
    const struct operand *x = &linear->x;
    const int64_t rows = x->view.shape[0], width = x->view.shape[1], count = width / BLOCK;
    const int64_t step = PIECE_BYTES / (rows * count * (int64_t)sizeof(float)) + 1;
    const struct view values = {2, dnnl_s8, {rows, width}, {0}};
    const struct view each = {2, dnnl_f32, {rows, count}, {0}};
    struct operand xs = run_scratch(run, SCRATCH_INPUTS, values);
    struct operand scales = run_scratch(run, SCRATCH_SCALES, each);

    for (int64_t i = 0; run_is_live(run) && i < rows * count; i++) {
        const float *row = (const float *)x->address + i / count * x->view.stride[0];

        quantise(row + i % count * BLOCK, (int8_t *)xs.address + i * BLOCK,
                 (float *)scales.address + i);
    }
    xs.view = (struct view){3, dnnl_s8, {count, rows, BLOCK}, {BLOCK, width, 1}};
    scales.view = (struct view){3, dnnl_f32, {count, rows, 1}, {1, count, 1}};
    for (int64_t first = 0; first < w->shape[0]; first += step) {
        const int64_t rest = w->shape[0] - first, n = rest < step ? rest : step;
        const struct view all = {3, dnnl_f32, {count, rows, n}, {0}};
        const struct operand y = part_of(&linear->y, first, n);
        const struct operand bias = part_of(&linear->bias, first, n);
        const struct operand sums = run_scratch(run, SCRATCH_SUMS, all);
        struct operand quants = {{3, dnnl_s8, {count, BLOCK, n}, {BLOCK, 1, width}}, NULL};
        struct operand stored = {{3, dnnl_f16, {count, 1, n}, {1, width, count}}, NULL};
        struct operand total = y;

        operand_raise(&total, 3);
        find_blocks(run, w, first, &quants, &stored);

        const struct operand factors = run_convert(run, &stored, dnnl_f32, SCRATCH_WEIGHTS);
        const struct step steps[] = {
            {LIBRARY_MATMUL, 0, 0, 0, {&xs, &quants, &sums}},
            {LIBRARY_BINARY, dnnl_binary_mul, 0, 0, {&sums, &scales, &sums}},
            {LIBRARY_BINARY, dnnl_binary_mul, 0, 0, {&sums, &factors, &sums}},
            {LIBRARY_REDUCTION, dnnl_reduction_sum, 0, 0, {&sums, &total}},
            {LIBRARY_BINARY, dnnl_binary_add, 0, 0, {&y, &bias, &y}},
        };

        for (size_t i = 0; i < sizeof(steps) / sizeof(*steps) - (bias.view.rank == 0); i++) {
            run_step(run, &steps[i]);
        }
    }
}

// -- Products of floats ------------------------------------------------------------------------

// `weights` are in x out. Those of another type than x are converted some outputs at a time, which
// stay in a cache between the two steps.
static void multiply(struct run *run, const struct linear *linear, const struct operand *weights)
{
    const dnnl_data_type_t type = (dnnl_data_type_t)linear->x.view.type;
    const int64_t in = weights->view.shape[0], out = weights->view.shape[1];
    const int64_t some = PIECE_BYTES / (in * (int64_t)sizeof(float)) + 1;
    const int64_t step = weights->view.type == (int32_t)type ? out : some;

    for (int64_t first = 0; first < out; first += step) {
        const int64_t n = out - first < step ? out - first : step;
        const struct operand stored = part_of(weights, first, n);
        const struct operand y = part_of(&linear->y, first, n);
        const struct operand bias = part_of(&linear->bias, first, n);
        struct operand taken = run_convert(run, &stored, type, SCRATCH_WEIGHTS);

        operand_raise(&taken, linear->x.view.rank);
        run_step(run, &(struct step){.kind = LIBRARY_MATMUL,
                                     .operands = {&linear->x, &taken, &y, &bias}});
    }
}

// What a device that rounds would round without saying so.
static int check_weight(struct run *run, const tapml_tensor *w, int is_transposed)
{
    const char *id = w->encoding != NULL ? w->encoding->id : "plain weights";

    if (run->form == DEVICE_INT8 && (strcmp(id, TAPML_ENCODING_Q8) != 0 || is_transposed)) {
        run_refuse(run, "products of 8 bits take %s along the sums, not %s", TAPML_ENCODING_Q8,
                   is_transposed ? "across them" : id);
    } else if (run->form == DEVICE_BF16 && w->dtype == TAPML_F16) {
        run_refuse(run, "weights in f16 would be rounded to bf16, which is not declared");
    }
    return run->problem[0] == '\0';
}

void linear_compute(struct run *run, const tapml_value *args)
{
    const tapml_tensor *w = args[TAPML_LINEAR_W].u.p;
    const int is_transposed = args[TAPML_LINEAR_TRANSPOSED].u.i != 0;
    const dnnl_data_type_t type = run->form == DEVICE_BF16 ? dnnl_bf16 : dnnl_f32;
    const struct operand given = run_operand(run, tensor_of(&args[TAPML_LINEAR_B]));
    const int is_half = given.view.type == dnnl_f16; // It becomes f32, which loses nothing.
    struct linear linear = {
        .x = run_operand(run, args[TAPML_LINEAR_X].u.p),
        .y = run_operand(run, args[TAPML_LINEAR_Y].u.p),
        .bias = run_convert(run, &given, is_half ? dnnl_f32 : type, SCRATCH_BIAS),
    };
    const int32_t rank = linear.x.view.rank < 2 ? 2 : linear.x.view.rank;

    if (!check_weight(run, w, is_transposed)) {
        return;
    }
    operand_raise(&linear.x, rank);
    operand_raise(&linear.y, rank);
    operand_raise(&linear.bias, rank);
    if (run->form == DEVICE_INT8 && rank == 2) {
        multiply_quants(run, &linear, w);
    } else {
        const struct operand stored = run_operand(run, w);
        struct operand weights = stored;

        for (int i = 0; i < 2 && !is_transposed; i++) {
            weights.view.shape[i] = stored.view.shape[1 - i];
            weights.view.stride[i] = stored.view.stride[1 - i];
        }
        linear.x = run_convert(run, &linear.x, type, SCRATCH_INPUTS);
        multiply(run, &linear, &weights);
    }
}
