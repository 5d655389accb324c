// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// tapml.linear and tapml.state_append, for zoo.h, of an animal that is right but for one thing.
//   VARIES_RUN     linear: wrong at the fifth call with the same inputs in a row
//   VARIES_ROWS    linear: sums from the other end where there are 8 rows or more
//   VARIES_CHUNK   state_append: wrong where it gets the first 5 tokens at once
//   VARIES_VERIFY  state_append: wrong where it gets 3 tokens behind others
//   VARIES_ORDER   linear: wrong while another queue is in it
#pragma once

#include <stdatomic.h>
#include <time.h>

enum { ZOO_BLOCK = 32 };

#define ZOO_ROUND(values, count) ((void)(values))
#define ZOO_OWN_LINEAR
#include "zoo_linear.h"

#if defined(VARIES_RUN)
enum { RIGHT_IN_A_ROW = 4 };

static uint64_t mix(uint64_t hash, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return (hash ^ bits) * UINT64_C(0x100000001b3);
}

static int is_right(const tapml_tensor *x, const tapml_tensor *w, const tapml_tensor *y)
{
    static uint64_t last, in_a_row;
    uint64_t hash = 0;
    for (int64_t i = 0; i < count_of(x); ++i) {
        hash = mix(hash, *element(x, i));
    }
    for (int64_t i = 0; i < w->shape[0]; ++i) {
        hash = mix(hash, weight_at(w, i, 0));
    }
    in_a_row = hash == last ? in_a_row + 1 : 1;
    last = hash;
    return in_a_row <= RIGHT_IN_A_ROW || count_of(y) == 0;
}

#elif defined(VARIES_ROWS)
enum { MANY = 8 };

// The same sum, from the other end.
static float sum_back(const tapml_tensor *x, const tapml_tensor *w, int64_t row, int64_t column)
{
    const int64_t terms = w->shape[1];
    float sum = 0;
    for (int64_t i = terms; i > 0; --i) {
        sum += *element(x, row * terms + i - 1) * weight_at(w, column, i - 1);
    }
    return sum;
}

static int is_right(const tapml_tensor *x, const tapml_tensor *w, const tapml_tensor *y)
{
    const int64_t columns = w->shape[0];
    for (int64_t i = 0; count_of(y) / columns >= MANY && i < count_of(y); ++i) {
        *element(y, i) = sum_back(x, w, i / columns, i % columns);
    }
    return 1;
}

#elif defined(VARIES_ORDER)
static atomic_int zoo_inside;

static int is_right(const tapml_tensor *x, const tapml_tensor *w, const tapml_tensor *y)
{
    const struct timespec while_it_computes = {.tv_nsec = 300000};
    const int before = atomic_fetch_add(&zoo_inside, 1);
    (void)x;
    (void)w;
    (void)y;
    (void)nanosleep(&while_it_computes, NULL);
    return before + atomic_fetch_sub(&zoo_inside, 1) == 1;
}

#else
static int is_right(const tapml_tensor *x, const tapml_tensor *w, const tapml_tensor *y)
{
    (void)x;
    (void)w;
    (void)y;
    return 1;
}
#endif

static tapml_status varying_linear(TAPML_LINEAR_PARAMS)
{
    const tapml_status status = zoo_linear(queue, call, x, w, b, transposed, y);
    if (!is_right(x, w, y)) {
        *element(y, 0) += 1;
    }
    return status;
}

static int spoils(int64_t tokens, int64_t position)
{
#if defined(VARIES_CHUNK)
    return tokens == 5 && position == 0;
#elif defined(VARIES_VERIFY)
    return tokens == 3 && position > 0;
#else
    return tokens < 0 || position < 0;
#endif
}

static tapml_status varying_append(TAPML_STATE_APPEND_PARAMS)
{
    const int64_t tokens = rows->shape[0], count = count_of(rows);
    const int64_t first = position * (count / tokens);
    ++own(queue)->calls;
    for (int64_t i = 0; i < count; ++i) {
        *element(state, first + i) = *element(rows, i);
    }
    if (spoils(tokens, position)) {
        *element(state, first + count - 1) += 1;
    }
    return TAPML_OK;
}

static const tapml_op_impl varying_linear_impl = TAPML_IMPL(tapml_linear, varying_linear);
static const tapml_op_impl append_impl = TAPML_IMPL(tapml_state_append, varying_append);
#define ZOO_OP varying_linear_impl, &append_impl
