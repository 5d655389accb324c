// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// An op of an animal's own, for zoo.h, whose weight is in blocks and never plain: a matrix product
// with a weight as tapml.q8/1. ZOO_SCALE(block) is the block whose scale it takes for that one.
#pragma once

#include "zoo_element.h"

#include <tapml/codec/codec.h>

static const tapml_param blocks_x = {
    .hdr = TAPML_HDR(tapml_param),
    .name = "x",
    .kind = TAPML_P_TENSOR_IN,
    .dtype = "f32",
    .shape = "*rows, in",
    .layout = "dense",
};
static const tapml_param blocks_w = {
    .hdr = TAPML_HDR(tapml_param),
    .name = "w",
    .kind = TAPML_P_TENSOR_IN,
    .effects = TAPML_E_WEIGHT,
    .dtype = "encoded",
    .shape = "out, in",
    .layout = "dense",
};
static const tapml_param blocks_y = {
    .hdr = TAPML_HDR(tapml_param),
    .name = "y",
    .kind = TAPML_P_TENSOR_OUT,
    .dtype = "f32",
    .shape = "*rows, out",
    .layout = "dense",
};
static const tapml_param *const blocks_params[] = {&blocks_x, &blocks_w, &blocks_y};
static const tapml_op blocks = {
    .hdr = TAPML_HDR(tapml_op),
    .name = "org.example.blocks",
    .version = 1,
    .n_params = 3,
    .params = blocks_params,
    .title = "A matrix product with a weight in blocks",
    .formula = "y[r, n] = sum over k of x[r, k] * w[n, k]",
    .tolerance = "reduction",
    .expands = "tapml.linear(x = x, w = w, transposed = 0, y = y)",
};

// One block of a row of the weight: quants first, then all scales.
static float sum_block(const tapml_tensor *x, const tapml_tensor *w, int64_t begin, int64_t block)
{
    enum { VALUES = 32, SCALE_BYTES = 2 };
    const struct codec *codec = codec_find(TAPML_ENCODING_Q8);
    const unsigned char *quants = own(w->buffer)->data + w->offset;
    const unsigned char *scales = quants + count_of(w);
    const unsigned char *const spans[] = {quants + block * VALUES,
                                          ZOO_SCALE(block) * SCALE_BYTES + scales};
    float values[CODEC_VALUES_MAX], sum = 0;

    codec_decode(codec, spans, values);
    for (int64_t i = 0; i < VALUES; ++i) {
        sum += *element(x, begin + i) * values[i];
    }
    return sum;
}

static tapml_status run_blocks(tapml_object *queue,
                               tapml_call *call,
                               const tapml_tensor *x,
                               const tapml_tensor *w,
                               const tapml_tensor *y)
{
    const int64_t columns = w->shape[0], terms = w->shape[1], in_row = terms / 32;

    ++own(queue)->calls;
    for (int64_t i = 0; i < count_of(y); ++i) {
        float sum = 0;
        for (int64_t block = 0; block < in_row; ++block) {
            sum += sum_block(x, w, i / columns * terms + block * 32, i % columns * in_row + block);
        }
        *element(y, i) = sum;
    }
    return TAPML_OK;
}

// The other encodings are for others.
static int
takes(const tapml_op *op, const tapml_value *args, uint32_t n_args, tapml_support *answer)
{
    const tapml_tensor *w = strcmp(op->name, blocks.name) == 0 ? args[1].u.p : NULL;

    if (w != NULL && (w->next != NULL || w->spans != NULL || w->encoding == NULL ||
                      strcmp(w->encoding->id, TAPML_ENCODING_Q8) != 0)) {
        answer->grade = TAPML_SUPPORT_NO;
        snprintf(answer->reason, sizeof(answer->reason), "not such a weight");
        return 0;
    }
    return 1;
}

static const tapml_op_impl blocks_impl = {
    .hdr = TAPML_HDR(tapml_op_impl), .op = &blocks, .fn = (tapml_fn)run_blocks, .convention = 1};

#define ZOO_OP blocks_impl
