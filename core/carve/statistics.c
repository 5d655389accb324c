// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "carve/statistics.h"

#include "store/call_line.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"

#include <math.h>
#include <string.h>

// Every value of a run passes here, so f32 goes by lanes that a compiler makes vectors of.
enum { LANES = 16, CHUNK = 256, F32_INFINITY = 0x7f800000 };

// Magnitudes of f32 are ordered as their bits are, infinity and NaN behind all others.
struct lanes {
    int32_t least[LANES];   // INT32_MAX, which is NaN, where all are 0.
    int32_t largest[LANES]; // Where it is finite, all are.
    double squares[LANES];
};

static double value_of(int32_t bits)
{
    float value = 0;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

// Inlined into functions whose instructions differ and whose results do not: the lanes are the
// same, and the square of a float is exact in a double.
static inline __attribute__((always_inline)) void lanes_add(struct lanes *lanes,
                                                            const unsigned char *data)
{
    for (int i = 0; i < LANES; i++) {
        int32_t bits = 0;
        memcpy(&bits, data + (size_t)i * sizeof(bits), sizeof(bits));
        const int32_t magnitude = bits & INT32_MAX;
        const int32_t not_zero = magnitude == 0 ? INT32_MAX : magnitude;
        lanes->least[i] = not_zero < lanes->least[i] ? not_zero : lanes->least[i];
        lanes->largest[i] = magnitude > lanes->largest[i] ? magnitude : lanes->largest[i];
    }
    for (int i = 0; i < LANES; i++) {
        float value = 0;
        memcpy(&value, data + (size_t)i * sizeof(value), sizeof(value));
        lanes->squares[i] += (double)value * (double)value;
    }
}

// The lanes of `count` values; the last ones are filled up with 0, which changes nothing.
static inline __attribute__((always_inline)) void
lanes_measure(struct lanes *lanes, const unsigned char *data, uint64_t count)
{
    const uint64_t whole = count / LANES * LANES;
    struct lanes sum = *lanes; // Nothing else points to it, so that it stays in registers.
    for (uint64_t at = 0; at < whole; at += LANES) {
        lanes_add(&sum, data + at * sizeof(float));
    }
    if (whole < count) {
        unsigned char rest[LANES * sizeof(float)] = {0};
        memcpy(rest, data + whole * sizeof(float), (size_t)(count - whole) * sizeof(float));
        lanes_add(&sum, rest);
    }
    *lanes = sum;
}

static void measure_plainly(struct lanes *lanes, const unsigned char *data, uint64_t count)
{
    lanes_measure(lanes, data, count);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void
measure_by_avx2(struct lanes *lanes, const unsigned char *data, uint64_t count)
{
    lanes_measure(lanes, data, count);
}
#endif

// By wider vectors than every machine of its kind has, if this one has them.
static void measure_lanes(struct lanes *lanes, const unsigned char *data, uint64_t count)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        measure_by_avx2(lanes, data, count);
        return;
    }
#endif
    measure_plainly(lanes, data, count);
}

// Whether all values are finite; only then are the statistics whole.
static int measure_finite_f32(const void *data, uint64_t count, struct call_statistics *statistics)
{
    struct lanes lanes = {.largest = {0}};
    int32_t least = INT32_MAX, largest = 0;
    double squares = 0;
    for (int i = 0; i < LANES; i++) {
        lanes.least[i] = INT32_MAX;
    }
    measure_lanes(&lanes, data, count);
    for (int i = 0; i < LANES; i++) {
        least = lanes.least[i] < least ? lanes.least[i] : least;
        largest = lanes.largest[i] > largest ? lanes.largest[i] : largest;
        squares += lanes.squares[i];
    }
    statistics->least = least == INT32_MAX ? 0 : value_of(least);
    statistics->largest = value_of(largest);
    statistics->mean_square = count > 0 ? squares / (double)count : 0;
    return largest < F32_INFINITY;
}

static void count_value(struct call_statistics *statistics, double value)
{
    const double magnitude = fabs(value);
    if (!isfinite(value)) {
        const uint32_t infinity = value > 0 ? CALL_LINE_PLUS_INFINITY : CALL_LINE_MINUS_INFINITY;
        statistics->non_finite++;
        statistics->non_finite_kinds |= isnan(value) ? CALL_LINE_NAN : infinity;
        return;
    }
    statistics->mean_square += value * value;
    statistics->largest = fmax(statistics->largest, magnitude);
    if (magnitude > 0 && (statistics->least == 0 || magnitude < statistics->least)) {
        statistics->least = magnitude;
    }
}

static void measure_any(uint32_t dtype,
                        const unsigned char *data,
                        uint64_t count,
                        struct call_statistics *statistics)
{
    for (uint64_t at = 0; at < count; at += CHUNK) {
        double values[CHUNK];
        const size_t here = count - at < CHUNK ? (size_t)(count - at) : CHUNK;
        convert_to_f64(dtype, data + at * dtype_bytes(dtype), here, values);
        for (size_t i = 0; i < here; i++) {
            count_value(statistics, values[i]);
        }
    }
    const uint64_t finite = count - statistics->non_finite;
    statistics->mean_square = finite > 0 ? statistics->mean_square / (double)finite : 0;
}

void statistics_measure(uint32_t dtype,
                        const void *data,
                        uint64_t count,
                        struct call_statistics *out_statistics)
{
    *out_statistics = (struct call_statistics){.count = count};
    if (dtype != TAPML_F32 || !measure_finite_f32(data, count, out_statistics)) {
        *out_statistics = (struct call_statistics){.count = count};
        measure_any(dtype, data, count, out_statistics);
    }
}
