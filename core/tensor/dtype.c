// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/dtype.h"

#include <string.h>

static const struct {
    uint32_t dtype;
    const char *name;
} names[] = {
    {TAPML_F32, "f32"}, {TAPML_F16, "f16"}, {TAPML_BF16, "bf16"}, {TAPML_F64, "f64"},
    {TAPML_I32, "i32"}, {TAPML_I64, "i64"}, {TAPML_U8, "u8"},
};

enum { NAME_COUNT = sizeof(names) / sizeof(names[0]) };

const char *dtype_name(uint32_t dtype)
{
    for (size_t i = 0; i < NAME_COUNT; ++i) {
        if (names[i].dtype == dtype) {
            return names[i].name;
        }
    }
    return "?";
}

uint32_t dtype_find(const char *name)
{
    for (size_t i = 0; i < NAME_COUNT; ++i) {
        if (strcmp(names[i].name, name) == 0) {
            return names[i].dtype;
        }
    }
    return 0;
}

size_t dtype_bytes(uint32_t dtype)
{
    return TAPML_DT_BYTES(dtype);
}

int dtype_is_float(uint32_t dtype)
{
    return dtype == TAPML_F32 || dtype == TAPML_F16 || dtype == TAPML_BF16 || dtype == TAPML_F64;
}
