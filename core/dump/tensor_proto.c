// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "dump/tensor_proto.h"

#include "base/arena.h"
#include "dump/dump.h"
#include "store/case.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tokenizer/wire_format.h"

#include <string.h>

// Numbers of its fields, and of the types of elements.
enum {
    FIELD_DIMS = 1,
    FIELD_TYPE = 2,
    FIELD_FLOATS = 4,
    FIELD_INT32S = 5,
    FIELD_INT64S = 7,
    FIELD_NAME = 8,
    FIELD_RAW = 9,
    FIELD_DOUBLES = 10,
    FIELD_EXTERNAL = 13,
    NAME_MAX_BYTES = 4096
};

static const struct element_type {
    uint64_t number;
    uint32_t dtype;
    uint64_t field;  // Where its elements are if they are not raw.
    uint32_t stride; // Bytes of an element there; 0: a number of one to ten bytes.
} element_types[] = {{1, TAPML_F32, FIELD_FLOATS, 4},   {2, TAPML_U8, FIELD_INT32S, 0},
                     {6, TAPML_I32, FIELD_INT32S, 0},   {7, TAPML_I64, FIELD_INT64S, 0},
                     {9, TAPML_U8, FIELD_INT32S, 0},    {10, TAPML_F16, FIELD_INT32S, 0},
                     {11, TAPML_F64, FIELD_DOUBLES, 8}, {16, TAPML_BF16, FIELD_INT32S, 0}};

struct message {
    const char *file;
    struct dump_tensor tensor;
    const struct element_type *type;
    const unsigned char *raw;
    size_t raw_bytes;
    struct wire_format_field fields; // The packed elements.
    int has_fields, is_wide, is_external;
};

static const struct element_type *find_type(uint64_t number)
{
    for (size_t i = 0; i < sizeof(element_types) / sizeof(*element_types); i++) {
        if (element_types[i].number == number) {
            return &element_types[i];
        }
    }
    return NULL;
}

static void add_extent(struct message *message, uint64_t extent)
{
    struct dump_tensor *tensor = &message->tensor;

    if (tensor->rank == TAPML_MAX_RANK) {
        message->is_wide = 1;
        return;
    }
    tensor->shape[tensor->rank++] = (int64_t)extent;
}

// Extents are packed or not: both are allowed.
static void read_dims(struct message *message, const struct wire_format_field *field)
{
    struct wire_format reader;
    struct wire_format_field one;
    unsigned char prefixed[16];

    if (field->bytes == NULL) {
        add_extent(message, field->value);
        return;
    }
    for (size_t at = 0; at < field->size && !message->is_wide;) {
        size_t length = 1;

        for (; at + length <= field->size && length < 10 && field->bytes[at + length - 1] >= 0x80;
             length++) {
        }
        length = at + length <= field->size ? length : field->size - at;
        prefixed[0] = 0x08; // A field of its own, as the reader wants it.
        memcpy(prefixed + 1, field->bytes + at, length);
        wire_format_start(&reader, prefixed, length + 1);
        add_extent(message, wire_format_next(&reader, &one) ? one.value : UINT64_MAX);
        at += length;
    }
}

static tapml_status
read_field(struct dump *dump, const struct wire_format_field *field, struct message *message)
{
    switch (field->number) {
    case FIELD_DIMS:
        read_dims(message, field);
        break;
    case FIELD_TYPE:
        message->type = find_type(field->value);
        break;
    case FIELD_NAME:
        if (field->bytes != NULL && field->size > 0 && field->size <= NAME_MAX_BYTES &&
            memchr(field->bytes, 0, field->size) == NULL) {
            message->tensor.name =
                arena_format(dump->arena, "%.*s", (int)field->size, (const char *)field->bytes);
            return message->tensor.name != NULL ? TAPML_OK : status_no_memory();
        }
        break;
    case FIELD_RAW:
        message->raw = field->bytes;
        message->raw_bytes = field->size;
        break;
    case FIELD_FLOATS:
    case FIELD_INT32S:
    case FIELD_INT64S:
    case FIELD_DOUBLES:
        message->fields = *field;
        message->has_fields = field->bytes != NULL;
        break;
    case FIELD_EXTERNAL:
        message->is_external = 1;
        break;
    default:
        break;
    }
    return TAPML_OK;
}

// Elements in a field of whole numbers, one after the other. Returns how many fit into `count`.
static size_t unpack(const struct message *message, size_t count, unsigned char *out_elements)
{
    const size_t bytes = dtype_bytes(message->type->dtype);
    size_t found = 0, at = 0;

    while (at < message->fields.size && found < count) {
        uint64_t value = 0;

        for (unsigned shift = 0; at < message->fields.size && shift < 70; shift += 7) {
            const unsigned char byte = message->fields.bytes[at++];

            value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
            if (byte < 0x80) {
                break;
            }
        }
        memcpy(out_elements + found * bytes, &value,
               bytes); // Little-endian, as all that we run on.
        found++;
    }
    return at == message->fields.size ? found : count + 1;
}

static tapml_status take_data(struct dump *dump, struct message *message, size_t count)
{
    const size_t bytes = count * dtype_bytes(message->type->dtype);

    if (message->raw != NULL || count == 0) {
        message->tensor.data = message->raw != NULL ? message->raw : (const unsigned char *)"";
        return message->raw_bytes == bytes
                   ? TAPML_OK
                   : status_fail(TAPML_INVALID, "%s: %zu bytes of data, expected %zu",
                                 message->file, message->raw_bytes, bytes);
    }
    if (!message->has_fields || message->fields.number != message->type->field ||
        message->fields.size < count) {
        return status_fail(TAPML_INVALID, "%s: its data is missing or of another type",
                           message->file);
    }
    message->tensor.data = message->fields.bytes;
    if (message->type->stride != 0) {
        return message->fields.size == bytes
                   ? TAPML_OK
                   : status_fail(TAPML_INVALID, "%s: %zu bytes of data, expected %zu",
                                 message->file, message->fields.size, bytes);
    }
    unsigned char *elements = arena_new(dump->arena, bytes);

    if (elements == NULL) {
        return status_no_memory();
    }
    message->tensor.data = elements;
    return unpack(message, count, elements) == count
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "%s: expected %zu elements", message->file, count);
}

static tapml_status add(struct dump *dump, struct message *message)
{
    int64_t count = 0;

    if (message->is_external) {
        return status_fail(TAPML_INVALID, "%s: its data lies in another file", message->file);
    }
    if (message->type == NULL || message->is_wide) {
        dump->skipped++;
        return TAPML_OK;
    }
    message->tensor.dtype = message->type->dtype;
    const tapml_status status = shape_count(message->tensor.shape, message->tensor.rank, &count);

    if (status != TAPML_OK) {
        return status_explain(status, "%s", message->file);
    }
    if ((uint64_t)count > CASE_BASE_BYTES_MAX) {
        return status_fail(TAPML_INVALID, "%s: it is too large", message->file);
    }
    TAPML_TRY(take_data(dump, message, (size_t)count));
    return dump_add(dump, &message->tensor);
}

tapml_status tensor_proto_add(struct dump *dump, const char *file, const void *bytes, size_t size)
{
    struct message message = {.file = file, .tensor = {.name = file}};
    struct wire_format reader;
    struct wire_format_field field;

    wire_format_start(&reader, bytes, size);
    while (wire_format_next(&reader, &field)) {
        TAPML_TRY(read_field(dump, &field, &message));
    }
    if (reader.failed || size == 0) {
        return status_fail(TAPML_INVALID, "%s: it is no tensor of ONNX", file);
    }
    return add(dump, &message);
}
