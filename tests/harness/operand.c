// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/operand.h"

#include "harness/formulas.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t element_bytes(const struct operand *operand)
{
    return TAPML_DT_BYTES(operand->tensor.dtype);
}

// Where value `i` of all values lies in the buffer.
static size_t offset_bytes(const struct operand *operand, size_t i)
{
    int64_t index = 0;

    for (uint32_t axis = operand->tensor.rank; axis-- > 0;) {
        index += (int64_t)(i % (size_t)operand->shape[axis]) * operand->stride[axis];
        i /= (size_t)operand->shape[axis];
    }
    return (size_t)operand->tensor.offset + (size_t)index * element_bytes(operand);
}

// The bits of f16 and bf16 from those of a float that is one of their numbers.
static uint16_t bits_of(uint32_t dtype, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    if (dtype == TAPML_BF16) {
        return (uint16_t)(bits >> 16);
    }

    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    const float magnitude = fabsf(value);

    if (isnan(value)) {
        return (uint16_t)(sign | 0x7e00u);
    }
    if (isinf(value)) {
        return (uint16_t)(sign | 0x7c00u);
    }
    if (magnitude < 0x1p-14f) {
        return (uint16_t)(sign | (uint16_t)(magnitude * 0x1p24f));
    }
    return (uint16_t)(sign | ((bits >> 13 & 0x3ffffu) - (112u << 10)));
}

static double widen(uint32_t dtype, uint16_t word)
{
    if (dtype == TAPML_BF16) {
        const uint32_t bits = (uint32_t)word << 16;
        float value;

        memcpy(&value, &bits, sizeof(value));
        return value;
    }

    const int exponent = word >> 10 & 31, digits = word & 1023;
    const double sign = word & 0x8000 ? -1 : 1;

    if (exponent == 31) {
        return digits != 0 ? NAN : sign * INFINITY;
    }
    return exponent == 0 ? sign * ldexp(digits, -24) : sign * ldexp(1024 + digits, exponent - 25);
}

static void store(uint32_t dtype, double value, unsigned char *target)
{
    const float rounded = (float)formulas_rounded(value, dtype);
    const int32_t integer = dtype == TAPML_I32 ? (int32_t)value : 0;
    const uint16_t word = TAPML_DT_BYTES(dtype) == 2 ? bits_of(dtype, rounded) : (uint16_t)0;

    if (dtype == TAPML_I32) {
        memcpy(target, &integer, sizeof(integer));
    } else if (dtype == TAPML_F32) {
        memcpy(target, &rounded, sizeof(rounded));
    } else {
        memcpy(target, &word, sizeof(word));
    }
}

static double load(uint32_t dtype, const unsigned char *source)
{
    int32_t integer;
    float real;
    uint16_t word;

    if (dtype == TAPML_I32) {
        memcpy(&integer, source, sizeof(integer));
        return integer;
    }
    if (dtype == TAPML_F32) {
        memcpy(&real, source, sizeof(real));
        return real;
    }
    memcpy(&word, source, sizeof(word));
    return widen(dtype, word);
}

// -- Blocks ------------------------------------------------------------------------------------

enum { LEAD_BYTES = 16 };

const struct codec *operand_codec(uint32_t dtype)
{
    return dtype == OPERAND_ROWS                     ? codec_find(TAPML_ENCODING_Q8_ROWS)
           : dtype >> 16 == OPERAND_ENCODED(0) >> 16 ? codec_at(dtype & 0xffffu)
                                                     : NULL;
}

const struct codec_tiles *operand_tiles(uint32_t dtype)
{
    const uint32_t kind = dtype >> 16;

    return kind == OPERAND_TILES(0) >> 16 || kind == OPERAND_APART(0) >> 16
               ? codec_tiles_at(dtype & 0xffffu)
               : NULL;
}

bool operand_is_taken(struct plugin *plugin, uint32_t dtype)
{
    if (operand_tiles(dtype) != NULL) {
        return (plugin_info(plugin)->traits & TAPML_DEVICE_TILES) != 0;
    }
    return operand_codec(dtype)->spread == NULL ||
           (plugin_info(plugin)->traits & TAPML_DEVICE_FILE_BLOCKS) != 0;
}

static size_t span_begin(const tapml_encoding *encoding, size_t blocks, uint32_t span)
{
    size_t begin = 0;

    for (uint32_t i = 0; i < span; i++) {
        begin += blocks * encoding->spans[i]->block_bytes;
        if (i + 1 < encoding->n_spans) {
            const size_t align = (size_t)encoding->spans[i + 1]->align;

            begin = (begin + align - 1) / align * align;
        }
    }
    return begin;
}

// Values that op_fixture_values gave are in the blocks as they are.
static void store_block(const struct codec *codec,
                        unsigned char *tensor,
                        size_t blocks,
                        size_t block,
                        const double *values)
{
    const tapml_encoding *encoding = codec->encoding;
    unsigned char *spans[CODEC_SPANS_MAX];
    float decoded[CODEC_VALUES_MAX];

    for (uint32_t i = 0; i < encoding->n_spans; i++) {
        spans[i] =
            tensor + span_begin(encoding, blocks, i) + block * encoding->spans[i]->block_bytes;
    }
    codec->write(codec, values, spans);
    codec_decode(codec, (const unsigned char *const *)spans, decoded);
    for (uint32_t i = 0; i < encoding->block_values; i++) {
        cr_assert_eq(decoded[i], values[i], "value %u of block %zu is none of '%s'", i, block,
                     encoding->id);
    }
}

static void lay_out_blocks(struct operand *operand, const struct operand_spec *spec)
{
    const tapml_encoding *encoding = operand_codec(spec->dtype)->encoding;

    operand->tensor.dtype = TAPML_U8;
    operand->tensor.encoding = encoding;
    operand->tensor.offset = spec->lead * LEAD_BYTES;
    operand->size_bytes =
        operand->tensor.offset +
        span_begin(encoding, operand->count / encoding->block_values, encoding->n_spans);
}

static void store_blocks(struct operand *operand, const struct operand_spec *spec)
{
    const struct codec *codec = operand_codec(spec->dtype);
    const size_t blocks = operand->count / codec->encoding->block_values;

    for (size_t block = 0; block < blocks; block++) {
        store_block(codec, operand->original + operand->tensor.offset, blocks, block,
                    spec->values + block * codec->encoding->block_values);
    }
}

// -- Tiles -------------------------------------------------------------------------------------

// Where span `index` begins, one behind the other.
static size_t tiles_begin(const struct operand *operand, uint32_t index)
{
    const tapml_encoding *encoding = operand->tensor.encoding;
    size_t begin = 0;

    for (uint32_t i = 0; i < index; i++) {
        begin += codec_tiles_bytes(encoding->spans[i], (uint64_t)operand->shape[0],
                                   (uint64_t)operand->shape[1]);
        begin = (begin + LEAD_BYTES - 1) / LEAD_BYTES * LEAD_BYTES;
    }
    return begin;
}

static void lay_out_tiles(struct operand *operand, const struct operand_spec *spec)
{
    operand->tensor.dtype = TAPML_U8;
    operand->tensor.encoding = operand_tiles(spec->dtype)->encoding;
    operand->tensor.offset = spec->lead * LEAD_BYTES;
    operand->size_bytes = operand->tensor.offset +
                          tiles_begin(operand, operand_tiles(spec->dtype)->encoding->n_spans);
}

static void store_tiles(struct operand *operand, const struct operand_spec *spec)
{
    unsigned char *spans[CODEC_TILES_SPANS_MAX];
    float *values = malloc(operand->count * sizeof(*values));

    cr_assert_not_null(values);
    for (size_t i = 0; i < operand->count; i++) {
        values[i] = (float)spec->values[i];
    }
    for (uint32_t i = 0; i < operand_tiles(spec->dtype)->encoding->n_spans; i++) {
        spans[i] = operand->original + operand->tensor.offset + tiles_begin(operand, i);
    }
    codec_tiles_write(operand_tiles(spec->dtype), (uint64_t)operand->shape[0],
                      (uint64_t)operand->shape[1], values, spans);
    free(values);
}

// Gives each span a buffer, a part of the operand's memory.
static void place_spans(struct operand *operand)
{
    const tapml_encoding *encoding = operand->tensor.encoding;

    for (uint32_t i = 0; i < encoding->n_spans; i++) {
        tapml_tensor *span = &operand->spans[i];
        tapml_call call = {0};
        unsigned char *place = operand->memory + operand->skew_bytes + operand->tensor.offset +
                               tiles_begin(operand, i);

        operand->span_bytes[i] = (int64_t)codec_tiles_bytes(
            encoding->spans[i], (uint64_t)operand->shape[0], (uint64_t)operand->shape[1]);
        *span = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                               .dtype = TAPML_U8,
                               .rank = 1,
                               .shape = &operand->span_bytes[i]};
        operand->span_list[i] = span;
        cr_assert_eq(plugin_table(operand->plugin)
                         ->buffer_wrap(plugin_device(operand->plugin), &call, place,
                                       (uint64_t)operand->span_bytes[i], TAPML_ACCESS_READ,
                                       &span->buffer),
                     TAPML_OK, "%s", call.message);
    }
    operand->tensor.offset = 0;
    operand->tensor.spans = operand->span_list;
}

// -- Operands ----------------------------------------------------------------------------------

// Shape, strides and size, without memory.
static void lay_out(struct operand *operand, const struct operand_spec *spec)
{
    int64_t dense = 1, last = 0;

    operand->count = 1;
    for (uint32_t axis = spec->rank; axis-- > 0;) {
        operand->shape[axis] = spec->shape[axis];
        operand->stride[axis] = spec->strided ? spec->stride[axis] : dense;
        dense *= spec->shape[axis];
        last += (spec->shape[axis] - 1) * operand->stride[axis];
        operand->count *= (size_t)spec->shape[axis];
    }
    operand->tensor = (tapml_tensor){
        .hdr = TAPML_HDR(tapml_tensor),
        .dtype = spec->dtype,
        .rank = spec->rank,
        .shape = operand->shape,
        .stride = spec->strided ? operand->stride : NULL,
        .offset = spec->lead * TAPML_DT_BYTES(spec->dtype),
    };
    operand->size_bytes =
        (spec->lead + (operand->count > 0 ? (size_t)last + 1 : 0)) * TAPML_DT_BYTES(spec->dtype);
    if (operand_tiles(spec->dtype) != NULL) {
        lay_out_tiles(operand, spec);
    } else if (operand_codec(spec->dtype) != NULL) {
        lay_out_blocks(operand, spec);
    }
}

// Buffers of devices are whole multiples of this.
static size_t padded(size_t size_bytes)
{
    return (size_bytes + 15) / 16 * 16 + (size_bytes == 0 ? 16 : 0);
}

// Makes the buffer, or those of spans that lie apart, with the original bytes.
static void place(struct operand *operand, bool is_apart)
{
    const tapml_backend *table = plugin_table(operand->plugin);
    tapml_object *device = plugin_device(operand->plugin);
    tapml_object **buffer = &operand->tensor.buffer;
    const size_t size = operand->size_bytes;
    tapml_call call = {0};
    tapml_status status;

    if (plugin_info(operand->plugin)->traits & TAPML_DEVICE_HOST_MEMORY) {
        unsigned char *memory = malloc(operand->skew_bytes + size + (size == 0));

        cr_assert_not_null(memory);
        memcpy(memory + operand->skew_bytes, operand->original, size);
        operand->memory = memory;
        if (is_apart) {
            place_spans(operand);
            return;
        }
        status = table->buffer_wrap(device, &call, memory + operand->skew_bytes, size + (size == 0),
                                    TAPML_ACCESS_READ | TAPML_ACCESS_WRITE, buffer);
    } else {
        status = table->buffer_new(device, &call, 0, padded(size), buffer);
        cr_assert_eq(status, TAPML_OK, "%s", call.message);
        status = table->queue_write(plugin_queue(operand->plugin), &call, *buffer, 0,
                                    operand->original, padded(size));
        if (status == TAPML_OK) {
            status = plugin_wait(operand->plugin, &call); // `original` may go before a call waits.
        }
    }
    cr_assert_eq(status, TAPML_OK, "%s", call.message);
}

struct operand *operand_create(struct plugin *plugin, const struct operand_spec *spec)
{
    struct operand *operand = calloc(1, sizeof(*operand));

    cr_assert_not_null(operand);
    operand->plugin = plugin;
    operand->skew_bytes = spec->skew_bytes;
    lay_out(operand, spec);
    operand->original = malloc(padded(operand->size_bytes));
    cr_assert_not_null(operand->original);
    memset(operand->original, 0xff, padded(operand->size_bytes));
    if (operand_tiles(spec->dtype) != NULL) {
        store_tiles(operand, spec);
        place(operand, spec->dtype >> 16 == OPERAND_APART(0) >> 16);
        return operand;
    }
    if (operand_codec(spec->dtype) != NULL) {
        store_blocks(operand, spec);
        place(operand, false);
        return operand;
    }
    for (size_t i = 0; spec->values != NULL && i < operand->count; i++) {
        store(spec->dtype, spec->values[i], operand->original + offset_bytes(operand, i));
    }
    place(operand, false);
    return operand;
}

void operand_destroy(struct operand *operand)
{
    if (operand == NULL) {
        return;
    }
    for (uint32_t i = 0; operand->tensor.spans != NULL && i < operand->tensor.encoding->n_spans;
         i++) {
        operand->spans[i].buffer->vt->release(operand->spans[i].buffer);
    }
    if (operand->tensor.buffer != NULL) {
        operand->tensor.buffer->vt->release(operand->tensor.buffer);
    }
    free(operand->memory);
    free(operand->original);
    free(operand);
}

// A copy of the buffer's bytes as they are now, to be freed.
static unsigned char *fetch(const struct operand *operand)
{
    const size_t size = padded(operand->size_bytes);
    unsigned char *bytes = malloc(size);

    cr_assert_not_null(bytes);
    if (operand->memory != NULL) {
        memcpy(bytes, operand->memory + operand->skew_bytes, operand->size_bytes);
        return bytes;
    }

    tapml_call call = {0};
    tapml_status status = plugin_table(operand->plugin)
                              ->queue_read(plugin_queue(operand->plugin), &call,
                                           operand->tensor.buffer, 0, bytes, size);
    if (status == TAPML_OK) {
        status = plugin_wait(operand->plugin, &call);
    }
    cr_assert_eq(status, TAPML_OK, "%s", call.message);
    return bytes;
}

void operand_read(const struct operand *operand, double *values)
{
    unsigned char *bytes = fetch(operand);

    for (size_t i = 0; i < operand->count; i++) {
        values[i] = load(operand->tensor.dtype, bytes + offset_bytes(operand, i));
    }
    free(bytes);
}

bool operand_is_intact(const struct operand *operand, bool written)
{
    unsigned char *bytes = fetch(operand);

    for (size_t i = 0; written && i < operand->count; i++) {
        const size_t at = offset_bytes(operand, i);

        memcpy(bytes + at, operand->original + at, element_bytes(operand));
    }

    const bool is_intact = memcmp(bytes, operand->original, operand->size_bytes) == 0;

    free(bytes);
    return is_intact;
}

static tapml_value tensor_value(uint32_t kind, const struct operand *operand)
{
    if (operand == NULL) {
        return (tapml_value){.kind = TAPML_V_NONE};
    }
    return (tapml_value){.kind = kind, .u.p = &operand->tensor};
}

tapml_value operand_in(const struct operand *operand)
{
    return tensor_value(TAPML_P_TENSOR_IN, operand);
}

tapml_value operand_out(const struct operand *operand)
{
    return tensor_value(TAPML_P_TENSOR_OUT, operand);
}

tapml_value operand_inout(const struct operand *operand)
{
    return tensor_value(TAPML_P_TENSOR_INOUT, operand);
}

tapml_value operand_i64(int64_t value)
{
    return (tapml_value){.kind = TAPML_P_I64, .u.i = value};
}

tapml_value operand_f64(double value)
{
    return (tapml_value){.kind = TAPML_P_F64, .u.d = value};
}
