// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/encoding.h"

#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { BLOCK = ENCODING_BLOCK_MAX, SPANS_MAX = 3, Q8_MOST = 127, Q4_MIDDLE = 8, Q4_MOST = 15 };

// Numbers below this are finite as an f16.
static const double f16_limit = 65520;

#define SPAN(name_, dtype_, block_bytes_)                                                          \
    {                                                                                              \
        .hdr = TAPML_HDR(tapml_span), .name = name_, .dtype = dtype_, .block_bytes = block_bytes_, \
        .align = ENCODING_ALIGN                                                                    \
    }

static const tapml_span scales = SPAN("scales", TAPML_F16, 2);
static const tapml_span mins = SPAN("mins", TAPML_F16, 2);
static const tapml_span q8_quants = SPAN("quants", TAPML_U8, BLOCK);
static const tapml_span q4_quants = SPAN("quants", TAPML_U8, BLOCK / 2);
static const tapml_span *const q8_spans[] = {&q8_quants, &scales};
static const tapml_span *const q4_spans[] = {&q4_quants, &scales, &mins};

static const tapml_encoding q8 = {.hdr = TAPML_HDR(tapml_encoding),
                                  .id = TAPML_ENCODING_Q8,
                                  .block_values = BLOCK,
                                  .n_spans = 2,
                                  .spans = q8_spans};
static const tapml_encoding q4 = {.hdr = TAPML_HDR(tapml_encoding),
                                  .id = TAPML_ENCODING_Q4,
                                  .block_values = BLOCK,
                                  .n_spans = 3,
                                  .spans = q4_spans};

const tapml_encoding *encoding_find(const char *id)
{
    return strcmp(id, q8.id) == 0 ? &q8 : strcmp(id, q4.id) == 0 ? &q4 : NULL;
}

const tapml_encoding *encoding_find_word(const char *word)
{
    return strcmp(word, "q8_0") == 0 ? &q8 : strcmp(word, "q4_0") == 0 ? &q4 : NULL;
}

const char *encoding_name(const tapml_encoding *encoding, uint32_t dtype)
{
    return encoding ? encoding->id : dtype_name(dtype);
}

static uint64_t round_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) / align * align;
}

uint64_t encoding_span_begin(const tapml_encoding *encoding, uint64_t block_count, uint32_t index)
{
    uint64_t begin = 0;
    for (uint32_t i = 0; i < index; i++) {
        begin += block_count * encoding->spans[i]->block_bytes;
        if (i + 1 < encoding->n_spans) {
            begin = round_up(begin, encoding->spans[i + 1]->align);
        }
    }
    return begin;
}

tapml_status encoding_bytes(const tapml_encoding *encoding,
                            uint32_t dtype,
                            const int64_t *shape,
                            uint32_t rank,
                            uint64_t *out_bytes)
{
    // Beyond it neither the bytes of elements nor those of blocks, which are fewer, fit.
    const int64_t most = INT64_MAX / (int64_t)sizeof(uint64_t);
    int64_t count = 0;
    TAPML_TRY(shape_count(shape, rank, &count));
    if (count > most) {
        return status_fail(TAPML_INVALID, "a tensor of %lld values is too large", (long long)count);
    }
    if (!encoding) {
        *out_bytes = (uint64_t)count * dtype_bytes(dtype);
        return TAPML_OK;
    }
    if (rank == 0 || shape[rank - 1] % (int64_t)encoding->block_values != 0) {
        return status_fail(
            TAPML_INVALID, "encoding '%s' has blocks of %u values, found a row of %lld",
            encoding->id, encoding->block_values, (long long)(rank > 0 ? shape[rank - 1] : 1));
    }
    const uint64_t blocks = (uint64_t)count / encoding->block_values;
    *out_bytes = round_up(encoding_span_begin(encoding, blocks, encoding->n_spans), ENCODING_ALIGN);
    return TAPML_OK;
}

double encoding_loss_relative(const struct encoding_loss *loss)
{
    return loss->value_squares > 0 ? sqrt(loss->error_squares / loss->value_squares) : 0;
}

// -- One block ---------------------------------------------------------------------------------

// Where the parts of a block lie. What has fewer spans repeats the last.
struct encoding_place {
    unsigned char *spans[SPANS_MAX];
};

static struct encoding_place
place_of(const tapml_encoding *encoding, void *tensor, uint64_t block_count, uint64_t block)
{
    struct encoding_place place;
    for (uint32_t i = 0; i < SPANS_MAX; i++) {
        const uint32_t span = i < encoding->n_spans ? i : encoding->n_spans - 1;
        place.spans[i] = (unsigned char *)tensor +
                         encoding_span_begin(encoding, block_count, span) +
                         block * encoding->spans[span]->block_bytes;
    }
    return place;
}

static void put_f16(unsigned char *target, double value)
{
    const uint16_t bits = convert_f32_to_f16((float)value);
    memcpy(target, &bits, sizeof(bits));
}

static float get_f16(const unsigned char *source)
{
    uint16_t bits = 0;
    memcpy(&bits, source, sizeof(bits));
    return convert_f16_to_f32(bits);
}

// The nearest whole number of 0 .. `most` to `value` + `middle`; halves go up.
static unsigned quantise(double value, unsigned middle, unsigned most)
{
    const double above = value + middle + 0.5;
    return above <= 0 ? 0 : above >= most + 1.0 ? most : (unsigned)above;
}

// The value of the largest magnitude.
static double find_extreme(const double values[BLOCK])
{
    double extreme = 0;
    for (size_t i = 0; i < BLOCK; i++) {
        extreme = fabs(values[i]) > fabs(extreme) ? values[i] : extreme;
    }
    return extreme;
}

// The largest magnitude becomes 127.
static void encode_q8(const double values[BLOCK], const struct encoding_place *place)
{
    put_f16(place->spans[1], fabs(find_extreme(values)) / Q8_MOST);
    const double scale = get_f16(place->spans[1]);
    const double inverse = scale > 0 ? 1 / scale : 0;
    for (size_t i = 0; i < BLOCK; i++) {
        const unsigned above = quantise(values[i] * inverse, Q8_MOST, 2 * Q8_MOST);
        place->spans[0][i] = (unsigned char)(above - Q8_MOST);
    }
}

// The value of the largest magnitude becomes -8 times a scale that may be negative.
static void encode_q4(const double values[BLOCK], const struct encoding_place *place)
{
    put_f16(place->spans[1], find_extreme(values) / -Q4_MIDDLE);
    const double scale = get_f16(place->spans[1]);
    const double inverse = scale != 0 ? 1 / scale : 0;
    put_f16(place->spans[2], scale * -Q4_MIDDLE); // Which is exact.
    for (size_t i = 0; i < BLOCK; i += 2) {
        const unsigned low = quantise(values[i] * inverse, Q4_MIDDLE, Q4_MOST);
        const unsigned high = quantise(values[i + 1] * inverse, Q4_MIDDLE, Q4_MOST);
        place->spans[0][i / 2] = (unsigned char)(low | high << 4);
    }
}

static void decode_q8(const struct encoding_place *place, float out_values[BLOCK])
{
    const float scale = get_f16(place->spans[1]);
    for (size_t i = 0; i < BLOCK; i++) {
        out_values[i] = scale * (float)(int8_t)place->spans[0][i];
    }
}

static void decode_q4(const struct encoding_place *place, float out_values[BLOCK])
{
    const float scale = get_f16(place->spans[1]);
    const float min = get_f16(place->spans[2]);
    for (size_t i = 0; i < BLOCK; i++) {
        const unsigned quant = place->spans[0][i / 2] >> (i % 2 * 4) & 15u;
        out_values[i] = scale * (float)quant + min;
    }
}

static void decode_at(const tapml_encoding *encoding,
                      const struct encoding_place *place,
                      float out_values[BLOCK])
{
    if (encoding == &q8) {
        decode_q8(place, out_values);
    } else {
        decode_q4(place, out_values);
    }
}

// -- Whole tensors -----------------------------------------------------------------------------

static void measure(const double values[BLOCK],
                    const tapml_encoding *encoding,
                    const struct encoding_place *place,
                    struct encoding_loss *loss)
{
    float encoded[BLOCK];
    decode_at(encoding, place, encoded);
    for (size_t i = 0; i < BLOCK; i++) {
        const double error = fabs((double)encoded[i] - values[i]);
        loss->error_squares += error * error;
        loss->value_squares += values[i] * values[i];
        loss->error_max = error > loss->error_max ? error : loss->error_max;
    }
}

// The largest magnitude of a block can be scaled, and there is no NaN.
static int is_in_range(const double values[BLOCK])
{
    for (size_t i = 0; i < BLOCK; i++) {
        if (!(fabs(values[i]) < f16_limit)) {
            return 0;
        }
    }
    return 1;
}

tapml_status encoding_encode(const tapml_encoding *encoding,
                             uint32_t dtype,
                             const void *source,
                             uint64_t block_count,
                             void *out_target,
                             struct encoding_loss *loss)
{
    const unsigned char *bytes = source;
    for (uint64_t block = 0; block < block_count; block++) {
        const struct encoding_place place = place_of(encoding, out_target, block_count, block);
        double values[BLOCK];
        convert_to_f64(dtype, bytes + block * BLOCK * dtype_bytes(dtype), BLOCK, values);
        if (!is_in_range(values)) {
            return status_fail(TAPML_INVALID,
                               "a value among %" PRIu64 " .. %" PRIu64
                               " is not below %.0f, which encoding '%s' cannot hold",
                               block * BLOCK, block * BLOCK + BLOCK - 1, f16_limit, encoding->id);
        }
        if (encoding == &q8) {
            encode_q8(values, &place);
        } else {
            encode_q4(values, &place);
        }
        measure(values, encoding, &place, loss);
    }
    return TAPML_OK;
}

void encoding_decode(const tapml_encoding *encoding,
                     const void *source,
                     uint64_t block_count,
                     uint64_t block,
                     float out_values[ENCODING_BLOCK_MAX])
{
    // One struct for both ways; here it is only read.
    const struct encoding_place place =
        place_of(encoding, (void *)(uintptr_t)source, block_count, block);
    decode_at(encoding, &place, out_values);
}

void encoding_slice(const tapml_encoding *encoding,
                    const void *source,
                    uint64_t block_count,
                    uint64_t first,
                    uint64_t count,
                    void *out_target)
{
    for (uint32_t i = 0; i < encoding->n_spans; i++) {
        const uint64_t block_bytes = encoding->spans[i]->block_bytes;
        const unsigned char *span =
            (const unsigned char *)source + encoding_span_begin(encoding, block_count, i);
        memcpy((unsigned char *)out_target + encoding_span_begin(encoding, count, i),
               span + first * block_bytes, count * block_bytes);
    }
}
