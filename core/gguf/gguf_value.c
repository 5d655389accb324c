// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_value.h"

#include <string.h>

static const struct {
    const char *name;
    uint8_t bytes; // 0: they differ.
    char kind;     // Unsigned, signed, float, text, array.
} types[GGUF_VALUE_TYPES] = {
    [GGUF_U8] = {"u8", 1, 'u'},   [GGUF_I8] = {"i8", 1, 'i'},       [GGUF_U16] = {"u16", 2, 'u'},
    [GGUF_I16] = {"i16", 2, 'i'}, [GGUF_U32] = {"u32", 4, 'u'},     [GGUF_I32] = {"i32", 4, 'i'},
    [GGUF_F32] = {"f32", 4, 'f'}, [GGUF_BOOL] = {"bool", 1, 'u'},   [GGUF_TEXT] = {"text", 0, 't'},
    [GGUF_U64] = {"u64", 8, 'u'}, [GGUF_ARRAY] = {"array", 0, 'a'}, [GGUF_I64] = {"i64", 8, 'i'},
    [GGUF_F64] = {"f64", 8, 'f'},
};

const char *gguf_value_type_name(enum gguf_value_type type)
{
    return types[type].name;
}

size_t gguf_value_item_bytes(uint32_t type)
{
    return type < GGUF_VALUE_TYPES ? types[type].bytes : 0;
}

static uint64_t little(const unsigned char *data, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; ++i) {
        value |= (uint64_t)data[i] << (8 * i);
    }
    return value;
}

uint32_t gguf_value_u32(const unsigned char *data)
{
    return (uint32_t)little(data, sizeof(uint32_t));
}

uint64_t gguf_value_u64(const unsigned char *data)
{
    return little(data, sizeof(uint64_t));
}

int gguf_value_integer(const struct gguf_value *value, uint64_t index, int64_t *out_integer)
{
    const size_t bytes = types[value->type].bytes;
    const char kind = types[value->type].kind;
    if (index >= value->count || (kind != 'u' && kind != 'i')) {
        return 0;
    }
    const uint64_t bits = little(value->data + index * bytes, bytes);
    if (kind == 'u' && bits > INT64_MAX) {
        return 0;
    }
    // A number of fewer bits takes its sign along.
    const uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
    const uint64_t extended = kind == 'i' ? (bits ^ sign) - sign : bits;
    memcpy(out_integer, &extended, sizeof(extended));
    return 1;
}

int gguf_value_number(const struct gguf_value *value, uint64_t index, double *out_number)
{
    const size_t bytes = types[value->type].bytes;
    int64_t integer = 0;
    if (types[value->type].kind != 'f') {
        const int is_integer = gguf_value_integer(value, index, &integer);
        *out_number = is_integer ? (double)integer : *out_number;
        return is_integer;
    }
    if (index >= value->count) {
        return 0;
    }
    const uint64_t bits = little(value->data + index * bytes, bytes);
    const uint32_t low = (uint32_t)bits;
    float single = 0;
    memcpy(&single, &low, sizeof(single));
    if (value->type == GGUF_F64) {
        memcpy(out_number, &bits, sizeof(bits));
    } else {
        *out_number = (double)single;
    }
    return 1;
}

int gguf_value_text(const struct gguf_value *value, struct gguf_text *out_text)
{
    const unsigned char *at = value->data;
    if (value->type != GGUF_TEXT || value->is_array) {
        return 0;
    }
    *out_text = gguf_value_next_text(&at);
    return 1;
}

struct gguf_text gguf_value_next_text(const unsigned char **io_at)
{
    const size_t length = (size_t)gguf_value_u64(*io_at);
    const struct gguf_text text = {(const char *)*io_at + sizeof(uint64_t), length};
    *io_at += sizeof(uint64_t) + length;
    return text;
}
