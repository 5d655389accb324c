// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/onnx_message.h"

#include <tapml/tensor.h>

#include <string.h>

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

uint32_t onnx_message_type(uint32_t dtype)
{
    switch (dtype) {
    case TAPML_F32:
        return 1;
    case TAPML_U8:
        return 2;
    case TAPML_I32:
        return 6;
    case TAPML_I64:
        return 7;
    case TAPML_F16:
        return 10;
    case TAPML_F64:
        return 11;
    case TAPML_BF16:
        return 16;
    default:
        return 0;
    }
}

// Seven bits a byte, the lowest first; a negative number has all ten.
static void put_varint(struct text *message, uint64_t value)
{
    do {
        const char byte = (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));

        text_append_bytes(message, &byte, 1);
        value >>= 7;
    } while (value > 0);
}

static void put_tag(struct text *message, uint32_t field, uint32_t wire)
{
    put_varint(message, (uint64_t)field << 3 | wire);
}

void onnx_message_number(struct text *message, uint32_t field, int64_t value)
{
    put_tag(message, field, WIRE_VARINT);
    put_varint(message, (uint64_t)value);
}

void onnx_message_bytes(struct text *message, uint32_t field, const void *data, size_t size)
{
    put_tag(message, field, WIRE_BYTES);
    put_varint(message, size);
    text_append_bytes(message, data, size);
}

void onnx_message_text(struct text *message, uint32_t field, const char *value)
{
    onnx_message_bytes(message, field, value, strlen(value));
}

void onnx_message_part(struct text *message, uint32_t field, const struct text *part)
{
    onnx_message_bytes(message, field, part->data, part->length);
    message->failed |= part->failed;
}

static void add_or_be(struct text *message, uint32_t field, const struct text *part)
{
    if (field != 0) {
        onnx_message_part(message, field, part);
    } else {
        text_append_bytes(message, part->data, part->length);
        message->failed |= part->failed;
    }
}

void onnx_message_tensor(struct text *message, uint32_t field, const struct onnx_tensor *tensor)
{
    enum { DIMS = 1, DATA_TYPE = 2, NAME = 8, RAW_DATA = 9 };
    struct text part;

    text_init(&part);
    for (uint32_t i = 0; i < tensor->rank; i++) {
        onnx_message_number(&part, DIMS, tensor->shape[i]);
    }
    onnx_message_number(&part, DATA_TYPE, onnx_message_type(tensor->dtype));
    onnx_message_text(&part, NAME, tensor->name);
    onnx_message_bytes(&part, RAW_DATA, tensor->data, (size_t)tensor->bytes);
    add_or_be(message, field, &part);
    text_release(&part);
}

void onnx_message_value(struct text *message, uint32_t field, const struct onnx_tensor *tensor)
{
    enum { NAME = 1, TYPE = 2, TENSOR_TYPE = 1, ELEM_TYPE = 1, SHAPE = 2, DIM = 1, DIM_VALUE = 1 };
    struct text parts[4]; // Value, type, type of a tensor, shape.

    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        text_init(&parts[i]);
    }
    for (uint32_t i = 0; i < tensor->rank; i++) {
        struct text dim;

        text_init(&dim);
        onnx_message_number(&dim, DIM_VALUE, tensor->shape[i]);
        onnx_message_part(&parts[3], DIM, &dim);
        text_release(&dim);
    }
    onnx_message_number(&parts[2], ELEM_TYPE, onnx_message_type(tensor->dtype));
    onnx_message_part(&parts[2], SHAPE, &parts[3]);
    onnx_message_part(&parts[1], TENSOR_TYPE, &parts[2]);
    onnx_message_text(&parts[0], NAME, tensor->name);
    onnx_message_part(&parts[0], TYPE, &parts[1]);
    add_or_be(message, field, &parts[0]);
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        text_release(&parts[i]);
    }
}
