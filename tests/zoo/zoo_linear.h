// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// tapml.linear, for zoo.h, of an animal that rounds what goes in: it defines ZOO_ROUND(values,
// count), which rounds up to ZOO_BLOCK values of a row in place. With ZOO_OWN_LINEAR it makes the
// op of it itself.
#pragma once

#include "zoo_element.h"

// A value of a weight; both types of the models at hand.
static float weight_at(const tapml_tensor *w, int64_t row, int64_t column)
{
    const int64_t stride = w->stride != NULL ? w->stride[0] : w->shape[1];
    const unsigned char *data = own(w->buffer)->data + w->offset;
    uint16_t half;
    uint32_t bits;
    float value;

    if (w->dtype == TAPML_BF16) {
        memcpy(&half, data + (row * stride + column) * 2, sizeof(half));
        bits = (uint32_t)half << 16;
        memcpy(&value, &bits, sizeof(value));
    } else {
        memcpy(&value, data + (row * stride + column) * 4, sizeof(value));
    }
    return value;
}

static float sum_row(const tapml_tensor *x, const tapml_tensor *w, int64_t row, int64_t column)
{
    const int64_t terms = w->shape[1];
    float sum = 0;

    for (int64_t begin = 0; begin < terms; begin += ZOO_BLOCK) {
        const int64_t count = terms - begin < ZOO_BLOCK ? terms - begin : ZOO_BLOCK;
        float values[ZOO_BLOCK], part = 0;

        for (int64_t i = 0; i < count; ++i) {
            values[i] = *element(x, row * terms + begin + i);
        }
        ZOO_ROUND(values, count);
        for (int64_t i = 0; i < count; ++i) {
            part += values[i] * weight_at(w, column, begin + i);
        }
        sum += part;
    }
    return sum;
}

static tapml_status zoo_linear(TAPML_LINEAR_PARAMS)
{
    const int64_t columns = w->shape[0];

    ++own(queue)->calls;
    for (int64_t i = 0; i < count_of(y); ++i) {
        const float bias = b != NULL ? weight_at(b, 0, i % columns) : 0;
        *element(y, i) = sum_row(x, w, i / columns, i % columns) + bias;
    }
    return TAPML_OK;
}

// Weights of other types, and columns of weights, are for others.
static int
takes(const tapml_op *op, const tapml_value *args, uint32_t n_args, tapml_support *answer)
{
    if (strcmp(op->name, tapml_linear.name) == 0) {
        const tapml_tensor *w = args[TAPML_LINEAR_W].u.p;
        const tapml_tensor *x = args[TAPML_LINEAR_X].u.p;
        const int is_known = x->dtype == TAPML_F32 && w->encoding == NULL &&
                             (w->dtype == TAPML_F32 || w->dtype == TAPML_BF16);

        if (!is_known || args[TAPML_LINEAR_TRANSPOSED].u.i != 0 || w->next != NULL) {
            answer->grade = TAPML_SUPPORT_NO;
            snprintf(answer->reason, sizeof(answer->reason), "not such a weight");
            return 0;
        }
    }
    return 1;
}

#ifndef ZOO_OWN_LINEAR
static const tapml_op_impl linear_impl = TAPML_IMPL(tapml_linear, zoo_linear);
#define ZOO_OP linear_impl
#endif

#ifdef ZOO_FORM
static const tapml_arithmetic_form form = ZOO_FORM;

static const tapml_arithmetic_form *form_of(tapml_object *device, const tapml_op *op)
{
    return strcmp(op->name, tapml_linear.name) == 0 ? &form : NULL;
}

static const tapml_arithmetic arithmetic = {TAPML_HDR(tapml_arithmetic), form_of};
#define ZOO_INTERFACE(id) (strcmp(id, TAPML_ARITHMETIC) == 0 ? (const void *)&arithmetic : NULL)
#endif
