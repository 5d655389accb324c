// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/features.h"

#include "base/arena.h"
#include "base/text.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"
#include "tensor/shape.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 16, SMALL_BLOCK = 4, LARGE_BLOCK = 32 };

// Carving a model passes gigabytes here. So of large contents moments are those of a sample, in
// blocks that are spread evenly; f32 is counted whole, by lanes that a compiler makes vectors of.
enum {
    CHUNK = 256,
    SAMPLE_CHUNKS = 8,
    LANES = 16,
    F32_NORMAL = 0x00800000,
    F32_INFINITY = 0x7f800000
};

struct moments {
    double powers[5]; // Sums of powers of finite values from 0 on: the first is their number.
    double largest;   // Of finite values.
    uint64_t counted, zeros, subnormals, non_finite;
};

static int is_tensor(const struct case_argument *argument)
{
    return argument->kind == TAPML_P_TENSOR_IN || argument->kind == TAPML_P_TENSOR_OUT ||
           argument->kind == TAPML_P_TENSOR_INOUT || argument->kind == TAPML_P_TENSORS_IN;
}

static int is_weight(const struct case_argument *argument)
{
    return is_tensor(argument) &&
           ((argument->effects & TAPML_E_WEIGHT) != 0 || argument->kind == TAPML_P_TENSORS_IN);
}

// A tensor that flows through the model.
static int is_input(const struct case_argument *argument)
{
    return (argument->kind == TAPML_P_TENSOR_IN || argument->kind == TAPML_P_TENSOR_INOUT) &&
           !is_weight(argument);
}

// One that is not kept between calls.
static int is_flowing(const struct case_argument *argument)
{
    return is_input(argument) && !case_is_state(argument);
}

static int is_output(const struct case_argument *argument)
{
    return argument->kind == TAPML_P_TENSOR_OUT;
}

static double count_elements(const struct case_argument *argument)
{
    double count = 1;
    for (uint32_t i = 0; i < argument->rank; i++) {
        count *= (double)argument->shape[i];
    }
    return count;
}

static double count_bytes(const struct case_argument *argument)
{
    return argument->encoding ? (double)argument->base_bytes
                              : count_elements(argument) * (double)dtype_bytes(argument->dtype);
}

// -- Values ------------------------------------------------------------------------------------

static double smallest_normal(uint32_t dtype)
{
    return dtype == TAPML_F16   ? 0x1p-14
           : dtype == TAPML_F64 ? 0x1p-1022
                                : 0x1p-126; // bf16 has the exponents of f32.
}

static void add_powers(struct moments *moments, double value)
{
    const double square = value * value;
    moments->powers[0] += 1;
    moments->powers[1] += value;
    moments->powers[2] += square;
    moments->powers[3] += square * value;
    moments->powers[4] += square * square;
}

static void count_value(struct moments *moments, double value, double least)
{
    const double magnitude = fabs(value);
    moments->counted++;
    if (!isfinite(value)) {
        moments->non_finite++;
        return;
    }
    moments->largest = magnitude > moments->largest ? magnitude : moments->largest;
    moments->zeros += magnitude == 0;
    moments->subnormals += magnitude > 0 && magnitude < least;
}

// Magnitudes of f32 are ordered as their bits are, infinity and NaN behind all others.
struct f32_lanes {
    uint32_t zeros[LANES], small[LANES], wild[LANES]; // Small ones are zeros too.
    int32_t largest[LANES];
};

static void count_lanes(struct f32_lanes *lanes, const unsigned char *data, uint64_t count)
{
    struct f32_lanes sum = *lanes; // Nothing else points to it, so that it stays in registers.
    for (uint64_t at = 0; at < count; at += LANES) {
        int32_t magnitudes[LANES];
        memcpy(magnitudes, data + at * sizeof(float), sizeof(magnitudes));
        for (int i = 0; i < LANES; i++) {
            const int32_t magnitude = magnitudes[i] & INT32_MAX;
            const int32_t finite = magnitude < F32_INFINITY ? magnitude : 0;
            sum.zeros[i] += magnitude == 0;
            sum.small[i] += magnitude < F32_NORMAL;
            sum.wild[i] += magnitude >= F32_INFINITY;
            sum.largest[i] = finite > sum.largest[i] ? finite : sum.largest[i];
        }
    }
    *lanes = sum;
}

static void count_f32(struct moments *moments, const unsigned char *data, uint64_t count)
{
    const uint64_t whole = count / LANES * LANES;
    struct f32_lanes lanes = {.largest = {0}};
    count_lanes(&lanes, data, whole);
    moments->counted += whole;
    for (int i = 0; i < LANES; i++) {
        float value = 0;
        memcpy(&value, &lanes.largest[i], sizeof(value));
        moments->largest = (double)value > moments->largest ? (double)value : moments->largest;
        moments->zeros += lanes.zeros[i];
        moments->subnormals += lanes.small[i] - lanes.zeros[i];
        moments->non_finite += lanes.wild[i];
    }
    for (uint64_t at = whole; at < count; at++) {
        float value = 0;
        memcpy(&value, data + at * sizeof(value), sizeof(value));
        count_value(moments, (double)value, smallest_normal(TAPML_F32));
    }
}

static void add_chunk(struct moments *moments, uint32_t dtype, const void *data, size_t count)
{
    const double least = smallest_normal(dtype);
    double values[CHUNK];
    convert_to_f64(dtype, data, count, values);
    for (size_t i = 0; i < count; i++) {
        if (dtype != TAPML_F32) {
            count_value(moments, values[i], least);
        }
        if (isfinite(values[i])) {
            add_powers(moments, values[i]);
        }
    }
}

static void
add_contents(struct moments *moments, const struct case_argument *argument, const void *contents)
{
    const uint64_t element_bytes = dtype_bytes(argument->dtype);
    const uint64_t count = argument->content_bytes / element_bytes;
    const uint64_t chunks = (count + CHUNK - 1) / CHUNK;
    const uint64_t taken = chunks < SAMPLE_CHUNKS ? chunks : SAMPLE_CHUNKS;
    if (argument->dtype == TAPML_F32) {
        count_f32(moments, contents, count);
    }
    for (uint64_t i = 0; i < taken; i++) {
        const uint64_t at = (chunks == taken ? i : chunks * i / taken) * CHUNK;
        add_chunk(moments, argument->dtype, (const char *)contents + at * element_bytes,
                  count - at < CHUNK ? (size_t)(count - at) : CHUNK);
    }
}

// The contents of all inputs, or of all outputs; integers count only where there are no floats.
static struct moments measure_side(const struct carved_case *item, int outputs, int floats)
{
    struct moments moments = {.largest = 0};
    for (uint32_t i = 0; i < item->argument_count; i++) {
        const struct case_argument *argument = &item->arguments[i];
        const int counts = outputs ? is_output(argument) : is_input(argument);
        const void *contents = outputs ? argument->after : argument->before;
        if (counts && contents && !argument->encoding &&
            dtype_is_float(argument->dtype) == floats) {
            add_contents(&moments, argument, contents);
        }
    }
    return moments;
}

static struct moments measure_any(const struct carved_case *item, int outputs)
{
    const struct moments moments = measure_side(item, outputs, 1);
    return moments.counted > 0 ? moments : measure_side(item, outputs, 0);
}

// The fourth central moment over the square of the second: 3 of normal values, more with outliers.
static double kurtosis(const struct moments *moments)
{
    const double count = moments->powers[0];
    const double mean = moments->powers[1] / count;
    const double second = moments->powers[2] / count - mean * mean;
    const double fourth = moments->powers[4] / count - 4 * mean * moments->powers[3] / count +
                          6 * mean * mean * moments->powers[2] / count -
                          3 * mean * mean * mean * mean;
    const double result = fourth / (second * second);
    return isfinite(result) && result > 0 ? result : 1; // All values are the same, or too small.
}

static void put_values(const struct carved_case *item, double *values)
{
    const struct moments in = measure_any(item, 0), out = measure_any(item, 1);
    const double all = (double)in.counted;
    if (in.powers[0] > 0) {
        const double rms = sqrt(in.powers[2] / in.powers[0]);
        values[FEATURE_largest] = in.largest;
        values[FEATURE_rms] = rms;
        values[FEATURE_zeros] = (double)in.zeros / all;
        values[FEATURE_subnormals] = (double)in.subnormals / all;
        values[FEATURE_kurtosis] = kurtosis(&in);
        values[FEATURE_crest] = rms > 0 ? in.largest / rms : 1;
    }
    if (all > 0) {
        values[FEATURE_non_finite] = (double)in.non_finite / all;
    }
    if (out.powers[0] > 0) {
        values[FEATURE_output_largest] = out.largest;
        values[FEATURE_output_rms] = sqrt(out.powers[2] / out.powers[0]);
    }
}

// -- Sizes -------------------------------------------------------------------------------------

static const struct case_argument *find_first(const struct carved_case *item,
                                              int (*is_wanted)(const struct case_argument *))
{
    for (uint32_t i = 0; i < item->argument_count; i++) {
        if (is_wanted(&item->arguments[i]) && item->arguments[i].rank > 0) {
            return &item->arguments[i];
        }
    }
    return NULL;
}

static void put_size(double *values, size_t size, size_t by_4, size_t by_32, int64_t extent)
{
    values[size] = (double)extent;
    values[by_4] = (double)(extent % SMALL_BLOCK);
    values[by_32] = (double)(extent % LARGE_BLOCK);
}

static void put_sizes(const struct carved_case *item, double *values)
{
    const struct case_argument *flowing = find_first(item, is_flowing);
    const struct case_argument *input = flowing ? flowing : find_first(item, is_input);
    const struct case_argument *output = find_first(item, is_output);
    const struct case_argument *main = output ? output : input;
    if (main) {
        put_size(values, FEATURE_rows, FEATURE_rows_4, FEATURE_rows_32, main->shape[0]);
    }
    if (input) {
        put_size(values, FEATURE_width, FEATURE_width_4, FEATURE_width_32,
                 input->shape[input->rank - 1]);
        values[FEATURE_bits] = 8.0 * (double)dtype_bytes(input->dtype);
    }
    if (output) {
        put_size(values, FEATURE_height, FEATURE_height_4, FEATURE_height_32,
                 output->shape[output->rank - 1]);
    }
}

static void put_weights(const struct carved_case *item, double *values)
{
    double elements = 0, bytes = 0;
    for (uint32_t i = 0; i < item->argument_count; i++) {
        if (is_weight(&item->arguments[i])) {
            elements += count_elements(&item->arguments[i]);
            bytes += count_bytes(&item->arguments[i]);
        }
    }
    values[FEATURE_weight_elements] = elements;
    if (elements > 0) {
        values[FEATURE_weight_bits] = 8 * bytes / elements;
    }
}

static void put_layouts(const struct carved_case *item, double *values)
{
    double tensors = 0, dense = 0, rest = 0;
    for (uint32_t i = 0; i < item->argument_count; i++) {
        const struct case_argument *argument = &item->arguments[i];
        if (is_tensor(argument)) {
            const double own = (double)(argument->offset_bytes % LINE_BYTES);
            tensors++;
            dense += argument->encoding ||
                     shape_is_dense(argument->shape, argument->stride, argument->rank);
            rest = own > rest ? own : rest;
        }
    }
    if (tensors > 0) {
        values[FEATURE_contiguous] = dense / tensors;
        values[FEATURE_misalignment] = rest;
    }
}

// -- Work --------------------------------------------------------------------------------------

// The rows of a state that a call touches, of all rows.
static double touched_share(const struct case_argument *argument)
{
    const double rows = argument->rank > 0 ? (double)argument->shape[0] : 1;
    const double touched = (double)(argument->region_end - argument->region_begin);
    return rows > 0 && touched < rows ? touched / rows : 1;
}

static void put_work(const struct carved_case *item, double *values)
{
    const struct case_argument *output = find_first(item, is_output);
    const double outputs = output ? count_elements(output) : 0;
    const double rows = isnan(values[FEATURE_rows]) ? 1 : values[FEATURE_rows];
    double operations = 0, bytes = 0;
    int has_floats = 0;
    for (uint32_t i = 0; i < item->argument_count; i++) {
        has_floats |= is_input(&item->arguments[i]) && dtype_is_float(item->arguments[i].dtype);
    }
    for (uint32_t i = 0; i < item->argument_count; i++) {
        const struct case_argument *argument = &item->arguments[i];
        if (!is_tensor(argument)) {
            continue;
        }
        const double elements = count_elements(argument);
        if (is_weight(argument)) {
            operations += argument->rank > 1 && has_floats ? 2 * rows * elements : 0;
            bytes += count_bytes(argument);
        } else if (case_is_state(argument)) {
            operations += 2 * outputs * (double)(argument->region_end - argument->region_begin);
            bytes += count_bytes(argument) * touched_share(argument);
        } else {
            operations += elements;
            bytes += count_bytes(argument);
        }
    }
    values[FEATURE_operations] = operations;
    values[FEATURE_bytes] = bytes;
}

// -- Names -------------------------------------------------------------------------------------

// The first number in "layers.3/attn/q_proj".
static double find_layer(const char *instance)
{
    while (*instance != '\0' && !isdigit((unsigned char)*instance)) {
        instance++;
    }
    return *instance != '\0' ? (double)strtoull(instance, NULL, 10) : NAN;
}

static double find_position(const struct carved_case *item)
{
    double position = (double)item->step;
    int has = 0;
    for (uint32_t i = 0; i < item->argument_count; i++) {
        const struct case_argument *argument = &item->arguments[i];
        if (is_tensor(argument) && case_is_state(argument)) {
            const double end = (double)argument->region_end;
            position = has && position > end ? position : end;
            has = 1;
        }
    }
    return position;
}

static void print_argument(const struct case_argument *argument, struct text *out)
{
    if (argument->kind == TAPML_P_I64 || argument->kind == TAPML_P_F64) {
        const int is_on = argument->kind == TAPML_P_I64 ? argument->i != 0 : argument->d != 0;
        text_append(out, is_on ? " 1" : " 0"); // One that is 0 switches something off.
    } else if (is_tensor(argument)) {
        text_format(out, " %s", encoding_name(argument->encoding, argument->dtype));
    } else {
        text_append(out, " -");
    }
}

tapml_status
features_measure(const struct carved_case *item, struct arena *arena, struct feature_row *out_row)
{
    struct feature_row row;
    struct text text;
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        row.values[i] = NAN;
    }
    row.values[FEATURE_layer] = find_layer(item->instance);
    row.values[FEATURE_position] = find_position(item);
    put_sizes(item, row.values);
    put_weights(item, row.values);
    put_layouts(item, row.values);
    put_work(item, row.values);
    put_values(item, row.values);
    text_init(&text);
    text_format(&text, "%s/%u %s", item->op_name, (unsigned)item->op_version, item->phase);
    for (uint32_t i = 0; i < item->argument_count; i++) {
        print_argument(&item->arguments[i], &text);
    }
    row.signature = text_keep(&text, arena);
    if (!row.signature) {
        return status_no_memory();
    }
    *out_row = row;
    return TAPML_OK;
}
