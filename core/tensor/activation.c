// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/activation.h"

#include "base/assert.h"
#include "tensor/convert.h"

#include <stdio.h>
#include <string.h>

static void copy_to(const float *values, size_t count, void *out_elements)
{
    memcpy(out_elements, values, count * sizeof(*values));
}

static void copy_from(const void *elements, size_t count, float *out_values)
{
    memcpy(out_values, elements, count * sizeof(*out_values));
}

static void to_f16(const float *values, size_t count, void *out_elements)
{
    uint16_t *elements = out_elements;
    for (size_t i = 0; i < count; i++) {
        elements[i] = convert_f32_to_f16(values[i]);
    }
}

static void from_f16(const void *elements, size_t count, float *out_values)
{
    const uint16_t *halves = elements;
    for (size_t i = 0; i < count; i++) {
        out_values[i] = convert_f16_to_f32(halves[i]);
    }
}

static void to_bf16(const float *values, size_t count, void *out_elements)
{
    uint16_t *elements = out_elements;
    for (size_t i = 0; i < count; i++) {
        elements[i] = convert_f32_to_bf16(values[i]);
    }
}

static void from_bf16(const void *elements, size_t count, float *out_values)
{
    const uint16_t *halves = elements;
    for (size_t i = 0; i < count; i++) {
        out_values[i] = convert_bf16_to_f32(halves[i]);
    }
}

static const struct activation_type types[ACTIVATION_COUNT] = {
    [ACTIVATION_F32] = {.name = "f32",
                        .remark = "",
                        .setting = "",
                        .dtype = TAPML_F32,
                        .bytes = TAPML_DT_BYTES(TAPML_F32),
                        .is_offered = 1,
                        .rounding = 0x1p-24,
                        .from_f32 = copy_to,
                        .to_f32 = copy_from},
    [ACTIVATION_F16] = {.name = "f16",
                        .remark = ", activations f16",
                        .setting = "activations=f16",
                        .dtype = TAPML_F16,
                        .bytes = TAPML_DT_BYTES(TAPML_F16),
                        .is_reduced = 1,
                        .is_offered = 1,
                        .rounding = 0x1p-11,
                        .from_f32 = to_f16,
                        .to_f32 = from_f16},
    [ACTIVATION_BF16] = {.name = "bf16",
                         .remark = ", activations bf16",
                         .setting = "activations=bf16",
                         .dtype = TAPML_BF16,
                         .bytes = TAPML_DT_BYTES(TAPML_BF16),
                         .is_reduced = 1,
                         .rounding = 0x1p-8,
                         .from_f32 = to_bf16,
                         .to_f32 = from_bf16},
};

const struct activation_type *activation_type(enum activation activation)
{
    ASSERT((unsigned)activation < ACTIVATION_COUNT);
    return &types[activation];
}

int activation_is_reduced(enum activation activation)
{
    return activation_type(activation)->is_reduced;
}

activation_set activation_bit(enum activation activation)
{
    ASSERT((unsigned)activation < ACTIVATION_COUNT);
    return (activation_set)(1u << activation);
}

struct activation_bytes activation_bytes(uint64_t bytes, activation_set mark)
{
    struct activation_bytes all;
    for (unsigned i = 0; i < ACTIVATION_COUNT; i++) {
        const int is_marked = (mark & activation_bit((enum activation)i)) != 0;
        all.at[i] = is_marked ? bytes / sizeof(float) * types[i].bytes : bytes;
    }
    return all;
}

enum activation activation_coarser(enum activation left, enum activation right)
{
    return activation_type(left)->rounding >= activation_type(right)->rounding ? left : right;
}

enum activation activation_find(uint32_t dtype)
{
    for (unsigned i = 0; i < ACTIVATION_COUNT; i++) {
        if (types[i].is_reduced && types[i].dtype == dtype) {
            return (enum activation)i;
        }
    }
    return ACTIVATION_F32;
}

tapml_status activation_read(const char *what, const char *name, enum activation *out_activation)
{
    char choices[64] = "";
    for (unsigned i = 0; i < ACTIVATION_COUNT; i++) {
        const size_t length = strlen(choices);
        if (!types[i].is_offered) {
            continue;
        }
        if (strcmp(types[i].name, name) == 0) {
            *out_activation = (enum activation)i;
            return TAPML_OK;
        }
        (void)snprintf(choices + length, sizeof(choices) - length, "%s'%s'",
                       length > 0 ? " or " : "", types[i].name);
    }
    return status_fail(TAPML_INVALID, "%s is '%s', expected %s", what, name, choices);
}
