// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/npy.h"

#include "base/alloc.h"
#include "base/file.h"
#include "tensor/dtype.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ALIGN = 64, PREFIX = 10, HEADER_MAX = 256 };

static const char *name_type(uint32_t dtype)
{
    static const struct {
        uint32_t dtype;
        const char *name;
    } types[] = {{TAPML_F32, "<f4"}, {TAPML_F16, "<f2"}, {TAPML_F64, "<f8"}, {TAPML_BF16, "<u2"},
                 {TAPML_I32, "<i4"}, {TAPML_I64, "<i8"}, {TAPML_U8, "|u1"}};

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
