// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_type.h"

#include "tensor/encoding.h"

#include <stddef.h>

// Sizes of blocks that are not read are needed too: a file says where a tensor begins, and how long
// it is follows from its type.
static const struct gguf_type types[] = {
    {0, "F32", 1, 4, TAPML_F32, NULL},
    {1, "F16", 1, 2, TAPML_F16, NULL},
    {2, "Q4_0", 32, 18, 0, "gguf.q4_0/1"},
    {3, "Q4_1", 32, 20, 0, "gguf.q4_1/1"},
    {6, "Q5_0", 32, 22, 0, "gguf.q5_0/1"},
    {7, "Q5_1", 32, 24, 0, "gguf.q5_1/1"},
    {8, "Q8_0", 32, 34, 0, "gguf.q8_0/1"},
    {9, "Q8_1", 32, 36, 0, NULL},
    {10, "Q2_K", 256, 84, 0, NULL},
    {11, "Q3_K", 256, 110, 0, NULL},
    {12, "Q4_K", 256, 144, 0, "gguf.q4_k/1"},
    {13, "Q5_K", 256, 176, 0, "gguf.q5_k/1"},
    {14, "Q6_K", 256, 210, 0, "gguf.q6_k/1"},
    {15, "Q8_K", 256, 292, 0, NULL},
    {16, "IQ2_XXS", 256, 66, 0, NULL},
    {17, "IQ2_XS", 256, 74, 0, NULL},
    {18, "IQ3_XXS", 256, 98, 0, NULL},
    {19, "IQ1_S", 256, 50, 0, NULL},
    {20, "IQ4_NL", 32, 18, 0, NULL},
    {21, "IQ3_S", 256, 110, 0, NULL},
    {22, "IQ2_S", 256, 82, 0, NULL},
    {23, "IQ4_XS", 256, 136, 0, NULL},
    {24, "I8", 1, 1, 0, NULL},
    {25, "I16", 1, 2, 0, NULL},
    {26, "I32", 1, 4, TAPML_I32, NULL},
    {27, "I64", 1, 8, TAPML_I64, NULL},
    {28, "F64", 1, 8, TAPML_F64, NULL},
    {29, "IQ1_M", 256, 56, 0, NULL},
    {30, "BF16", 1, 2, TAPML_BF16, NULL},
    {34, "TQ1_0", 256, 54, 0, NULL},
    {35, "TQ2_0", 256, 66, 0, NULL},
    {39, "MXFP4", 32, 17, 0, NULL},
};

const struct gguf_type *gguf_type_find(uint32_t number)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); ++i) {
        if (types[i].number == number) {
            return &types[i];
        }
    }
    return NULL;
}

const tapml_encoding *gguf_type_encoding(const struct gguf_type *type)
{
    return type->encoding ? encoding_find(type->encoding) : NULL;
}
