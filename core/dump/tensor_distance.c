// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "dump/tensor_distance.h"

#include "base/alloc.h"
#include "dump/dump.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "verify/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHAPE = 80, CHUNK = 256 };

// Of an elementwise limit, whose unit a text does not show.
static const double ELEMENTWISE_ERROR = 2e-6;
// A sum of random errors, and what adding one value after another in f32 loses.
static const double SUM_DEVIATIONS = 8;
static const double SUM_ROUNDING = 0x1p-23;

// -- All values --------------------------------------------------------------------------------

static void judge(const struct compare_result *result,
                  const struct compare_limit *limit,
                  struct tensor_distance *distance)
{
    if (result->is_equal_bits) {
        distance->state = TENSOR_DISTANCE_EQUAL;
        return;
    }
    compare_explain(result, limit, distance->why, sizeof(distance->why));
    distance->state =
        compare_margin(result, limit) <= 1 ? TENSOR_DISTANCE_CLOSE : TENSOR_DISTANCE_DIFFERENT;
    distance->has_worst = 1;
    distance->worst_index = result->worst_index;
    distance->worst_first = result->worst_expected;
    distance->worst_second = result->worst_computed;
}

static tapml_status compare_values(const struct dump_tensor *first,
                                   const struct dump_tensor *second,
                                   const struct compare_limit *limit,
                                   struct tensor_distance *distance)
{
    const size_t count = (size_t)dump_count(first);
    const size_t last = first->rank > 0 ? (size_t)first->shape[first->rank - 1] : 1;
    const size_t width = last > 0 ? last : 1;
    struct compare_result result;

    if (first->dtype == second->dtype) {
        result = compare_tensors(first->dtype, first->data, second->data, count / width, width);
        judge(&result, limit, distance);
        return TAPML_OK;
    }
    double *wide = alloc_array(2 * count + 1, sizeof(*wide));

    if (wide == NULL) {
        return status_no_memory();
    }
    convert_to_f64(first->dtype, first->data, count, wide);
    convert_to_f64(second->dtype, second->data, count, wide + count);
    result = compare_tensors(TAPML_F64, wide, wide + count, count / width, width);
    alloc_free(wide);
    judge(&result, limit, distance);
    return TAPML_OK;
}

// -- What is printed ---------------------------------------------------------------------------

// The values of two tensors at the places that are known of both.
struct shown {
    size_t count, worst_index;
    double error_square, square; // Of what is beyond the units, and of the values of the first.
    double worst_error, worst_first, worst_second;
    int is_equal, is_mismatched; // A value is NaN or infinite on one side alone.
};

static void add_shown(struct shown *shown, size_t index, double unit, double first, double second)
{
    const int is_same = first == second || (isnan(first) && isnan(second));
    const int is_finite = isfinite(first) && isfinite(second);
    const double error = is_same ? 0 : is_finite ? fabs(first - second) : INFINITY;
    const double beyond = is_finite ? fmax(0, error - unit * 1.001) : 0; // Of decimal fractions.

    shown->count++;
    shown->is_equal &= is_same;
    shown->is_mismatched |= !is_same && !is_finite;
    shown->error_square += beyond * beyond;
    shown->square += isfinite(first) ? first * first : 0;
    if (error > shown->worst_error) {
        shown->worst_error = error;
        shown->worst_index = index;
        shown->worst_first = first;
        shown->worst_second = second;
    }
}

static double value_at(const struct dump_tensor *tensor, int64_t index)
{
    double value = 0;
    const unsigned char *data = tensor->data;

    convert_to_f64(tensor->dtype, data + (size_t)index * dtype_bytes(tensor->dtype), 1, &value);
    return value;
}

static double sum_of(const struct dump_tensor *tensor)
{
    const size_t count = (size_t)dump_count(tensor), size = dtype_bytes(tensor->dtype);
    double values[CHUNK], sum = 0;

    for (size_t at = 0; at < count; at += CHUNK) {
        const size_t got = count - at < CHUNK ? count - at : CHUNK;

        convert_to_f64(tensor->dtype, (const unsigned char *)tensor->data + at * size, got, values);
        for (size_t i = 0; i < got; i++) {
            sum += values[i];
        }
    }
    return sum;
}

static void
walk_both(const struct dump_tensor *first, const struct dump_tensor *second, struct shown *shown)
{
    const struct dump_printed *a = first->printed, *b = second->printed;
    const double unit = fmax(a->unit, b->unit);

    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        if (a->indices[i] == b->indices[j]) {
            add_shown(shown, (size_t)a->indices[i], unit, a->values[i], b->values[j]);
            i++;
            j++;
        } else if (a->indices[i] < b->indices[j]) {
            i++;
        } else {
            j++;
        }
    }
}

static void
walk_shown(const struct dump_tensor *first, const struct dump_tensor *second, struct shown *shown)
{
    if (first->data == NULL && second->data == NULL) {
        walk_both(first, second, shown);
        return;
    }
    const struct dump_printed *printed = first->data == NULL ? first->printed : second->printed;

    for (size_t i = 0; i < printed->count; i++) {
        const int64_t index = printed->indices[i];

        // What is printed is rounded: half a unit.
        add_shown(shown, (size_t)index, printed->unit / 2,
                  first->data == NULL ? printed->values[i] : value_at(first, index),
                  second->data == NULL ? printed->values[i] : value_at(second, index));
    }
}

static int has_sum(const struct dump_tensor *tensor)
{
    return tensor->data != NULL || tensor->printed->has_sum;
}

// The relative error that a limit allows, in the square.
static double nmse_of(const struct compare_limit *limit)
{
    switch (limit->class_) {
    case COMPARE_EXACT:
        break;
    case COMPARE_ELEMENTWISE:
        return ELEMENTWISE_ERROR * ELEMENTWISE_ERROR;
    case COMPARE_REDUCTION:
        return limit->nmse;
    }
    return 0;
}

static void judge_shown(const struct shown *shown, double nmse, struct tensor_distance *distance)
{
    const double error = shown->error_square > 0 ? shown->error_square / shown->square : 0;

    distance->state = shown->is_equal                            ? TENSOR_DISTANCE_EQUAL
                      : shown->is_mismatched || !(error <= nmse) ? TENSOR_DISTANCE_DIFFERENT
                                                                 : TENSOR_DISTANCE_CLOSE;
    distance->has_worst = !shown->is_equal;
    distance->worst_index = shown->worst_index;
    distance->worst_first = shown->worst_first;
    distance->worst_second = shown->worst_second;
    if (shown->is_mismatched) {
        (void)snprintf(distance->why, sizeof(distance->why),
                       "values are NaN or infinite on one side");
    } else if (!shown->is_equal) {
        (void)snprintf(distance->why, sizeof(distance->why),
                       "NMSE %.3g of the %zu values that are printed, limit %.3g", error,
                       shown->count, nmse);
    }
}

static void judge_sum(const struct dump_tensor *first,
                      const struct dump_tensor *second,
                      const struct shown *shown,
                      double nmse,
                      struct tensor_distance *distance)
{
    const double a = first->data != NULL ? sum_of(first) : first->printed->sum;
    const double b = second->data != NULL ? sum_of(second) : second->printed->sum;
    const double unit = fmax(first->data != NULL ? 0 : first->printed->sum_unit,
                             second->data != NULL ? 0 : second->printed->sum_unit);
    const double count = (double)dump_count(first);
    const double rms = shown->count > 0 ? sqrt(shown->square / (double)shown->count) : 0;
    const double scale = fmax(rms, count > 0 ? fabs(a) / count : 0);
    const double limit = 2 * unit + scale * (SUM_DEVIATIONS * sqrt(nmse * count) +
                                             (nmse > 0 ? SUM_ROUNDING * count : 0));

    if (a == b || (isnan(a) && isnan(b)) || distance->state == TENSOR_DISTANCE_DIFFERENT) {
        return;
    }
    distance->state = fabs(a - b) <= limit ? TENSOR_DISTANCE_CLOSE : TENSOR_DISTANCE_DIFFERENT;
    if (distance->state == TENSOR_DISTANCE_DIFFERENT || distance->why[0] == '\0') {
        (void)snprintf(distance->why, sizeof(distance->why),
                       "the sums are %.9g and %.9g, limit %.3g", a, b, limit);
    }
}

static void compare_printed(const struct dump_tensor *first,
                            const struct dump_tensor *second,
                            const struct compare_limit *limit,
                            struct tensor_distance *distance)
{
    struct shown shown = {.is_equal = 1};
    const double nmse = nmse_of(limit);
    const int both_have_sums = has_sum(first) && has_sum(second);

    walk_shown(first, second, &shown);
    if (shown.count == 0 && !both_have_sums) {
        distance->state = TENSOR_DISTANCE_SILENT;
        (void)snprintf(distance->why, sizeof(distance->why), "no values were printed");
        return;
    }
    judge_shown(&shown, nmse, distance);
    if (both_have_sums) {
        judge_sum(first, second, &shown, nmse, distance);
    }
}

tapml_status tensor_distance_measure(const struct dump_tensor *first,
                                     const struct dump_tensor *second,
                                     const struct compare_limit *limit,
                                     struct tensor_distance *out_distance)
{
    struct tensor_distance distance = {.state = TENSOR_DISTANCE_DIFFERENT};

    if (dump_count(first) != dump_count(second)) {
        char shapes[2][SHAPE];

        shape_text(first->shape, first->rank, shapes[0], SHAPE);
        shape_text(second->shape, second->rank, shapes[1], SHAPE);
        (void)snprintf(distance.why, sizeof(distance.why), "the shapes are %s and %s", shapes[0],
                       shapes[1]);
    } else if (first->data != NULL && second->data != NULL) {
        TAPML_TRY(compare_values(first, second, limit, &distance));
    } else {
        compare_printed(first, second, limit, &distance);
    }
    *out_distance = distance;
    return TAPML_OK;
}
