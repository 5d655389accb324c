// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/npy.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ALIGN = 64, PREFIX = 10, HEADER_MAX = 256 };

static const struct {
    uint32_t dtype;
    const char *name;
} types[] = {{TAPML_F32, "<f4"},  {TAPML_F16, "<f2"}, {TAPML_F64, "<f8"}, {TAPML_BF16, "<u2"},
             {TAPML_I32, "<i4"},  {TAPML_I64, "<i8"}, {TAPML_U8, "|u1"},  {TAPML_U8, "|b1"},
             {TAPML_BF16, "|V2"}, {TAPML_BF16, "<V2"}}; // The last two of NumPy with bfloat16.

static const char *name_type(uint32_t dtype)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        if (types[i].dtype == dtype) {
            return types[i].name;
        }
    }
    return NULL;
}

// The header with its padding; returns its bytes.
static size_t
make_header(const char *type, const int64_t *shape, uint32_t rank, char header[HEADER_MAX])
{
    char extents[HEADER_MAX / 2] = "";
    size_t used = 0;

    for (uint32_t i = 0; i < rank; i++) {
        used += (size_t)snprintf(extents + used, sizeof(extents) - used, "%" PRId64 "%s", shape[i],
                                 rank == 1 || i + 1 < rank ? "," : ""); // Six of 20 digits fit.
    }
    memset(header, ' ', HEADER_MAX);
    memcpy(header, "\x93NUMPY\x01\x00", PREFIX - 2);
    const int length =
        snprintf(header + PREFIX, HEADER_MAX - PREFIX,
                 "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, extents);
    const size_t bytes = (PREFIX + (size_t)length + 1 + ALIGN - 1) / ALIGN * ALIGN;

    header[PREFIX + length] = ' '; // In the place of the zero byte.
    header[bytes - 1] = '\n';
    header[PREFIX - 2] = (char)((bytes - PREFIX) & 0xff);
    header[PREFIX - 1] = (char)((bytes - PREFIX) >> 8);
    return bytes;
}

tapml_status
npy_write(const char *path, uint32_t dtype, const int64_t *shape, uint32_t rank, const void *data)
{
    const char *type = name_type(dtype);
    char header[HEADER_MAX];
    uint64_t count = 1;

    if (type == NULL) {
        return status_fail(TAPML_INVALID, "%s: NumPy has no type for dtype 0x%x", path, dtype);
    }
    for (uint32_t i = 0; i < rank; i++) {
        count *= (uint64_t)shape[i];
    }
    const size_t bytes = (size_t)count * dtype_bytes(dtype);
    const size_t head = make_header(type, shape, rank, header);
    unsigned char *whole = alloc_array(head + bytes, 1);

    if (whole == NULL) {
        return status_no_memory();
    }
    memcpy(whole, header, head);
    memcpy(whole + head, data, bytes);
    const tapml_status status = file_write(path, whole, head + bytes);

    alloc_free(whole);
    return status;
}

// -- Reading -----------------------------------------------------------------------------------

enum { LENGTH_BYTES_1 = 2, LENGTH_BYTES_2 = 4, MAGIC = 6, DICTIONARY_MAX = 1 << 16, KEY = 32 };

// What stands behind a key of the header, or NULL.
static const char *find_value(const char *dictionary, const char *key)
{
    char quoted[KEY];

    (void)snprintf(quoted, sizeof(quoted), "'%s':", key);
    const char *at = strstr(dictionary, quoted);

    if (at == NULL) {
        return NULL;
    }
    at += strlen(quoted);
    return at + strspn(at, " ");
}

// "'<f4', ..." to its dtype. No operator takes whole numbers of 16 bits: they are bf16.
static uint32_t read_type(const char *value)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        const size_t length = strlen(types[i].name);

        if (*value == '\'' && strncmp(value + 1, types[i].name, length) == 0 &&
            value[1 + length] == '\'') {
            return types[i].dtype;
        }
    }
    return 0;
}

// "(2, 3)"
static tapml_status read_shape(const char *name, const char *value, struct npy_array *out_array)
{
    const char *at = value + (*value == '('); // The text may end here.

    for (;;) {
        at += strspn(at, " ,");
        const size_t digits = strspn(at, "0123456789");
        char word[KEY];

        if (*value == '(' && *at == ')') {
            return TAPML_OK;
        }
        if (*value != '(' || digits == 0 || digits >= sizeof(word)) {
            return status_fail(TAPML_INVALID, "%s: expected a shape such as '(2, 3)'", name);
        }
        if (out_array->rank == TAPML_MAX_RANK) {
            return status_fail(TAPML_INVALID, "%s: it has more than %u axes", name, TAPML_MAX_RANK);
        }
        memcpy(word, at, digits);
        word[digits] = '\0';
        TAPML_TRY(text_parse_i64(word, &out_array->shape[out_array->rank]));
        out_array->rank++;
        at += digits;
    }
}

static tapml_status
read_dictionary(const char *name, const char *dictionary, struct npy_array *out_array)
{
    const char *type = find_value(dictionary, "descr");
    const char *order = find_value(dictionary, "fortran_order");
    const char *shape = find_value(dictionary, "shape");

    if (type == NULL || order == NULL || shape == NULL) {
        return status_fail(TAPML_INVALID, "%s: expected 'descr', 'fortran_order' and 'shape'",
                           name);
    }
    out_array->dtype = read_type(type);
    out_array->is_column_major = strncmp(order, "True", 4) == 0;
    return out_array->dtype != 0 ? read_shape(name, shape, out_array) : TAPML_OK;
}

static tapml_status check_data(const char *name, size_t size, struct npy_array *array)
{
    int64_t count = 0;
    const tapml_status status = shape_count(array->shape, array->rank, &count);

    if (status != TAPML_OK) {
        return status_explain(status, "%s", name);
    }
    if (__builtin_mul_overflow((uint64_t)count, (uint64_t)dtype_bytes(array->dtype),
                               &array->bytes) ||
        array->bytes > size) {
        return status_fail(TAPML_INVALID, "%s: %zu bytes are too few for %" PRId64 " elements",
                           name, size, count);
    }
    return TAPML_OK;
}

tapml_status npy_read(const char *name, const void *bytes, size_t size, struct npy_array *out_array)
{
    const unsigned char *at = bytes;
    struct npy_array array = {0};
    const size_t prefix =
        MAGIC + 2 + (size > MAGIC && at[MAGIC] == 1 ? LENGTH_BYTES_1 : LENGTH_BYTES_2);
    size_t length = 0;

    if (size < prefix || memcmp(at, "\x93NUMPY", MAGIC) != 0 || at[MAGIC] < 1 || at[MAGIC] > 3) {
        return status_fail(TAPML_INVALID, "%s: it is no array of NumPy", name);
    }
    for (size_t i = prefix; i-- > MAGIC + 2;) {
        length = length << 8 | at[i];
    }
    if (length > size - prefix || length > DICTIONARY_MAX) {
        return status_fail(TAPML_INVALID, "%s: its header has %zu bytes of %zu", name, length,
                           size);
    }
    char *dictionary = alloc_new(length + 1);

    if (dictionary == NULL) {
        return status_no_memory();
    }
    memcpy(dictionary, at + prefix, length);
    tapml_status status = read_dictionary(name, dictionary, &array);

    alloc_free(dictionary);
    if (status == TAPML_OK && array.dtype != 0) {
        status = check_data(name, size - prefix - length, &array);
    }
    TAPML_TRY(status);
    array.data = at + prefix + length;
    *out_array = array;
    return TAPML_OK;
}

void npy_copy(const struct npy_array *array, void *out_elements)
{
    int64_t stride[TAPML_MAX_RANK], step = 1;

    if (!array->is_column_major || array->rank < 2) {
        memcpy(out_elements, array->data, (size_t)array->bytes);
        return;
    }
    for (uint32_t i = 0; i < array->rank; i++) {
        stride[i] = step;
        step *= array->shape[i];
    }
    convert_gather(array->data, array->shape, stride, array->rank, dtype_bytes(array->dtype),
                   out_elements);
}
