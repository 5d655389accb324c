// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/compare.h"

#include "tensor/convert.h"
#include "tensor/dtype.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK = 256 }; // Values that are converted at once.

static const double SMALLEST_NORMAL = 0x1p-126; // Of f32.
static const double TINY_ROW_PART = 1e-3;

static const double ULP_FLOOR = 16;
static const double NMSE_FLOOR = 1e-12;
static const double ROW_ERROR_FLOOR = 1e-6;
static const double REDUCED_ROUNDINGS = 16;

static const struct {
    const char *name;
    enum compare_class class_;
} CLASSES[] = {
    [COMPARE_EXACT] = {"exact", COMPARE_EXACT},
    [COMPARE_ELEMENTWISE] = {"elementwise", COMPARE_ELEMENTWISE},
    [COMPARE_REDUCTION] = {"reduction", COMPARE_REDUCTION},
};

// A walk over both tensors, a chunk at a time.
struct walk {
    const unsigned char *expected, *computed;
    uint32_t dtype;
    size_t element_bytes;
};

// What is known after all rows, and of the row at hand.
struct sums {
    double error_square, expected_square, computed_square, product; // Over finite pairs.
    size_t finite_count;
    double worst_distance;
};

static size_t
chunk_at(const struct walk *walk, size_t at, size_t end, double *expected, double *computed)
{
    const size_t count = end - at < CHUNK ? end - at : CHUNK;
    const size_t offset = at * walk->element_bytes;
    convert_to_f64(walk->dtype, walk->expected + offset, count, expected);
    convert_to_f64(walk->dtype, walk->computed + offset, count, computed);
    return count;
}

static int is_same_non_finite(double expected, double computed)
{
    return (isnan(expected) && isnan(computed)) ||
           (!isnan(expected) && !isnan(computed) && expected == computed);
}

// Position of an f32 among all of them in order; both zeros are 0.
static int64_t order_of(double value)
{
    const float narrow = (float)value;
    int32_t bits = 0;
    memcpy(&bits, &narrow, sizeof(bits));
    return bits < 0 ? -(int64_t)(bits & INT32_MAX) : bits;
}

// |a - b|, and 0 where a device that flushes subnormals may differ.
static double distance_between(double expected, double computed)
{
    const double distance = fabs(expected - computed);
    return distance <= SMALLEST_NORMAL ? 0 : distance;
}

static void set_worst(struct compare_result *result, size_t index, double expected, double computed)
{
    result->worst_index = index;
    result->worst_expected = expected;
    result->worst_computed = computed;
}

// Takes a pair into what is measured over the whole tensor.
static void add_pair(struct compare_result *result,
                     struct sums *sums,
                     size_t index,
                     double expected,
                     double computed)
{
    if (!isfinite(expected) || !isfinite(computed)) {
        if (!is_same_non_finite(expected, computed) && result->mismatched_non_finite++ == 0) {
            set_worst(result, index, expected, computed);
        }
        return;
    }
    const double distance = distance_between(expected, computed);
    sums->error_square += distance * distance;
    sums->expected_square += expected * expected;
    sums->computed_square += computed * computed;
    sums->product += expected * computed;
    sums->finite_count++;
    if (distance > 0) {
        result->ulp = fmax(result->ulp, fabs((double)(order_of(expected) - order_of(computed))));
    }
    if (distance > sums->worst_distance && result->mismatched_non_finite == 0) {
        sums->worst_distance = distance;
        set_worst(result, index, expected, computed);
    }
}

static void
add_all(const struct walk *walk, size_t count, struct compare_result *result, struct sums *sums)
{
    double expected[CHUNK];
    double computed[CHUNK];
    size_t got = 0;
    for (size_t at = 0; at < count; at += got) {
        got = chunk_at(walk, at, count, expected, computed);
        for (size_t i = 0; i < got; i++) {
            add_pair(result, sums, at + i, expected[i], computed[i]);
        }
    }
}

// The root mean square of a row's finite values.
static double row_scale(const struct walk *walk, size_t begin, size_t end)
{
    double expected[CHUNK];
    double computed[CHUNK];
    double square = 0;
    size_t finite = 0;
    size_t got = 0;
    for (size_t at = begin; at < end; at += got) {
        got = chunk_at(walk, at, end, expected, computed);
        for (size_t i = 0; i < got; i++) {
            square += isfinite(expected[i]) ? expected[i] * expected[i] : 0;
            finite += isfinite(expected[i]) != 0;
        }
    }
    return finite > 0 ? sqrt(square / (double)finite) : 0;
}

static double pair_error(double expected, double computed, double scale)
{
    if (!isfinite(expected) || !isfinite(computed)) {
        return 0;
    }
    const double distance = distance_between(expected, computed);
    return distance > 0 ? distance / fmax(scale, fabs(expected)) : 0;
}

static double row_error(const struct walk *walk, size_t begin, size_t end, double scale_least)
{
    const double scale = fmax(row_scale(walk, begin, end), scale_least);
    double expected[CHUNK];
    double computed[CHUNK];
    double worst = 0;
    size_t got = 0;
    for (size_t at = begin; at < end; at += got) {
        got = chunk_at(walk, at, end, expected, computed);
        for (size_t i = 0; i < got; i++) {
            worst = fmax(worst, pair_error(expected[i], computed[i], scale));
        }
    }
    return worst;
}

// The cosine of the angle between both tensors. Roots one by one, since the product of both squares
// may leave the range of a double.
static double cosine_of(const struct sums *sums)
{
    if (sums->expected_square == 0 || sums->computed_square == 0) {
        return sums->expected_square == sums->computed_square ? 1 : 0;
    }
    const double cosine = sums->product / sqrt(sums->expected_square) / sqrt(sums->computed_square);
    return fmax(-1, fmin(cosine, 1)); // Rounding may leave a little more.
}

// The first element whose bits differ, where no value does.
static void find_unequal(const struct walk *walk, size_t count, struct compare_result *result)
{
    size_t at = 0;
    while (at < count &&
           memcmp(walk->expected + at * walk->element_bytes,
                  walk->computed + at * walk->element_bytes, walk->element_bytes) == 0) {
        at++;
    }
    if (at < count) {
        double expected = 0;
        double computed = 0;
        (void)chunk_at(walk, at, at + 1, &expected, &computed); // One value.
        set_worst(result, at, expected, computed);
    }
}

struct compare_result compare_tensors(
    uint32_t dtype, const void *expected, const void *computed, size_t rows, size_t width)
{
    const struct walk walk = {expected, computed, dtype, dtype_bytes(dtype)};
    const size_t count = rows * width;
    struct compare_result result = {0};
    result.is_equal_bits =
        count == 0 || memcmp(expected, computed, count * walk.element_bytes) == 0;
    if (result.is_equal_bits) {
        result.cosine = 1;
        return result;
    }
    struct sums sums = {0};
    add_all(&walk, count, &result, &sums);
    result.cosine = cosine_of(&sums);
    if (sums.error_square > 0) {
        const double nmse = sums.error_square / sums.expected_square;
        result.nmse = isfinite(nmse) ? nmse : INFINITY;
        const double mean = sums.expected_square / (double)sums.finite_count;
        for (size_t row = 0; row < rows; row++) {
            const double error =
                row_error(&walk, row * width, (row + 1) * width, TINY_ROW_PART * sqrt(mean));
            result.row_error = fmax(result.row_error, error);
        }
    } else if (result.mismatched_non_finite == 0) {
        find_unequal(&walk, count, &result);
    }
    return result;
}

tapml_status compare_class_of(const char *tolerance, enum compare_class *out_class)
{
    for (size_t i = 0; i < sizeof(CLASSES) / sizeof(*CLASSES); i++) {
        if (strcmp(CLASSES[i].name, tolerance) == 0) {
            *out_class = CLASSES[i].class_;
            return TAPML_OK;
        }
    }
    return status_fail(TAPML_INVALID,
                       "tolerance class is '%s', expected exact, elementwise or reduction",
                       tolerance);
}

const char *compare_class_name(enum compare_class class_)
{
    return CLASSES[class_].name;
}

struct compare_limit compare_floor(enum compare_class class_)
{
    switch (class_) {
    case COMPARE_EXACT:
        break;
    case COMPARE_ELEMENTWISE:
        return (struct compare_limit){.class_ = class_, .ulp = ULP_FLOOR};
    case COMPARE_REDUCTION:
        return (struct compare_limit){
            .class_ = class_, .nmse = NMSE_FLOOR, .row_error = ROW_ERROR_FLOOR};
    }
    return (struct compare_limit){.class_ = class_};
}

struct compare_limit compare_floor_in(enum compare_class class_, enum activation activation)
{
    const struct activation_type *type = activation_type(activation);
    if (!type->is_reduced || class_ == COMPARE_EXACT) {
        return compare_floor(class_);
    }
    const double error = REDUCED_ROUNDINGS * type->rounding;
    return (struct compare_limit){
        .class_ = COMPARE_REDUCTION, .nmse = error * error, .row_error = error};
}

double compare_margin(const struct compare_result *result, const struct compare_limit *limit)
{
    if (result->mismatched_non_finite > 0) {
        return INFINITY;
    }
    switch (limit->class_) {
    case COMPARE_EXACT:
        break;
    case COMPARE_ELEMENTWISE:
        return result->ulp / limit->ulp;
    case COMPARE_REDUCTION:
        return fmax(result->nmse / limit->nmse, result->row_error / limit->row_error);
    }
    return result->is_equal_bits ? 0 : INFINITY;
}

double compare_scale(uint32_t dtype, const void *values, size_t count)
{
    const struct walk walk = {values, values, dtype, dtype_bytes(dtype)};
    return row_scale(&walk, 0, count);
}

double compare_allowed(const struct compare_limit *limit,
                       double expected,
                       double row_rms,
                       double tensor_rms)
{
    const float magnitude = (float)fabs(expected);
    switch (limit->class_) {
    case COMPARE_EXACT:
        break;
    case COMPARE_ELEMENTWISE:
        return isfinite(magnitude)
                   ? fmax(SMALLEST_NORMAL, limit->ulp * ((double)nextafterf(magnitude, INFINITY) -
                                                         (double)magnitude))
                   : 0;
    case COMPARE_REDUCTION:
        return limit->row_error * fmax(fmax(row_rms, TINY_ROW_PART * tensor_rms), fabs(expected));
    }
    return 0;
}

static double wider(double limit, double distance)
{
    return isfinite(distance) ? fmax(limit, distance) : limit;
}

void compare_widen(struct compare_limit *limit, const struct compare_result *result, double factor)
{
    if (limit->class_ == COMPARE_ELEMENTWISE) {
        limit->ulp = wider(limit->ulp, factor * result->ulp);
    }
    if (limit->class_ == COMPARE_REDUCTION) {
        limit->nmse = wider(limit->nmse, factor * factor * result->nmse);
        limit->row_error = wider(limit->row_error, factor * result->row_error);
    }
}

void compare_explain(const struct compare_result *result,
                     const struct compare_limit *limit,
                     char *out_text,
                     size_t size)
{
    if (result->mismatched_non_finite > 0) {
        (void)snprintf(out_text, size, "%llu values are NaN or infinite on one side",
                       (unsigned long long)result->mismatched_non_finite);
    } else if (limit->class_ == COMPARE_EXACT) {
        (void)snprintf(out_text, size, "bits must be equal");
    } else if (limit->class_ == COMPARE_ELEMENTWISE) {
        (void)snprintf(out_text, size, "%.3g ULP, limit %.3g", result->ulp, limit->ulp);
    } else if (result->nmse / limit->nmse >= result->row_error / limit->row_error) {
        (void)snprintf(out_text, size, "NMSE %.3g, limit %.3g", result->nmse, limit->nmse);
    } else {
        (void)snprintf(out_text, size, "row error %.3g, limit %.3g", result->row_error,
                       limit->row_error);
    }
}
