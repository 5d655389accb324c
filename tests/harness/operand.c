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

// By docs/encodings.md alone: what the host makes of them is not asked.
enum { BLOCK = 32, SPAN_ALIGN = 16 };

#define SPAN(name_, dtype_, bytes_)                                                                \
    {                                                                                              \
        .hdr = TAPML_HDR(tapml_span), .name = name_, .dtype = dtype_, .block_bytes = bytes_,       \
        .align = SPAN_ALIGN                                                                        \
    }

static const tapml_span q8_quants = SPAN("quants", TAPML_U8, 32);
static const tapml_span q4_quants = SPAN("quants", TAPML_U8, 16);
static const tapml_span scales = SPAN("scales", TAPML_F16, 2);
static const tapml_span mins = SPAN("mins", TAPML_F16, 2);
static const tapml_span *const q8_spans[] = {&q8_quants, &scales};
static const tapml_span *const q4_spans[] = {&q4_quants, &scales, &mins};
static const tapml_encoding q8 = {TAPML_HDR(tapml_encoding), TAPML_ENCODING_Q8, BLOCK, 2, q8_spans};
static const tapml_encoding q4 = {TAPML_HDR(tapml_encoding), TAPML_ENCODING_Q4, BLOCK, 3, q4_spans};

static bool is_blocks(uint32_t dtype)
{
    return dtype == OPERAND_Q8 || dtype == OPERAND_Q4;
}

static size_t span_begin(const tapml_encoding *encoding, size_t blocks, uint32_t span)
{
    size_t begin = 0;

    for (uint32_t i = 0; i < span; i++) {
        begin += blocks * encoding->spans[i]->block_bytes;
        begin = (begin + SPAN_ALIGN - 1) / SPAN_ALIGN * SPAN_ALIGN;
    }
    return begin;
}

static void store_half(unsigned char *span, size_t block, double value)
{
    const uint16_t word = bits_of(TAPML_F16, (float)value);

    memcpy(span + block * sizeof(word), &word, sizeof(word));
}

// Finds scale and min of values that were made of them: the first two hold the ends of the quants.
static void store_block(const tapml_encoding *encoding,
                        unsigned char *tensor,
                        size_t blocks,
                        size_t block,
                        const double *values)
{
    unsigned char *quants = tensor + block * encoding->spans[0]->block_bytes;
    const int is_q8 = encoding == &q8;
    const double min = is_q8 ? 0 : values[0];
    const double scale = is_q8 ? values[1] / 127 : (values[1] - values[0]) / 15;

    store_half(tensor + span_begin(encoding, blocks, 1), block, scale);
    if (!is_q8) {
        store_half(tensor + span_begin(encoding, blocks, 2), block, min);
        memset(quants, 0, BLOCK / 2);
    }
    for (size_t i = 0; i < BLOCK; i++) {
        const int quant = (int)round((values[i] - min) / scale);

        if (is_q8) {
            quants[i] = (unsigned char)quant;
        } else {
            quants[i / 2] = (unsigned char)(quants[i / 2] | quant << i % 2 * 4);
        }
    }
}

static void lay_out_blocks(struct operand *operand, const struct operand_spec *spec)
{
    const tapml_encoding *encoding = spec->dtype == OPERAND_Q8 ? &q8 : &q4;

    operand->tensor.dtype = TAPML_U8;
    operand->tensor.encoding = encoding;
    operand->tensor.offset = spec->lead * SPAN_ALIGN;
    operand->size_bytes =
        operand->tensor.offset + span_begin(encoding, operand->count / BLOCK, encoding->n_spans);
}

static void store_blocks(struct operand *operand, const double *values)
{
    const size_t blocks = operand->count / BLOCK;

    for (size_t block = 0; block < blocks; block++) {
        store_block(operand->tensor.encoding, operand->original + operand->tensor.offset, blocks,
                    block, values + block * BLOCK);
    }
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
    if (is_blocks(spec->dtype)) {
        lay_out_blocks(operand, spec);
    }
}

// Buffers of devices are whole multiples of this.
static size_t padded(size_t size_bytes)
{
    return (size_bytes + 15) / 16 * 16 + (size_bytes == 0 ? 16 : 0);
}

// Makes the buffer, with the original bytes.
static void place(struct operand *operand)
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
    if (is_blocks(spec->dtype)) {
        store_blocks(operand, spec->values);
        place(operand);
        return operand;
    }
    for (size_t i = 0; spec->values != NULL && i < operand->count; i++) {
        store(spec->dtype, spec->values[i], operand->original + offset_bytes(operand, i));
    }
    place(operand);
    return operand;
}

void operand_destroy(struct operand *operand)
{
    if (operand == NULL) {
        return;
    }
    operand->tensor.buffer->vt->release(operand->tensor.buffer);
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
