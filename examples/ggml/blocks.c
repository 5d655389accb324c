// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "blocks.h"

#include <string.h>

enum { VALUES = 32, VALUES_SUPER = 256, SCALE_BYTES = 2 };

// Quants of all blocks and then scales of all become the scale and the quants of each. Both spans
// begin on multiples of 16 bytes, of which quants are two for each block.
static void pack_q8(const unsigned char *tensor, size_t count, unsigned char *out)
{
    const unsigned char *scales = tensor + count * VALUES;

    for (size_t i = 0; i < count; i++) {
        memcpy(out, scales + i * SCALE_BYTES, SCALE_BYTES);
        memcpy(out + SCALE_BYTES, tensor + i * VALUES, VALUES);
        out += SCALE_BYTES + VALUES;
    }
}

static const struct blocks table[] = {
    {"gguf.q8_0/1", GGML_TYPE_Q8_0, VALUES, NULL},
    {"gguf.q4_0/1", GGML_TYPE_Q4_0, VALUES, NULL},
    {"gguf.q4_1/1", GGML_TYPE_Q4_1, VALUES, NULL},
    {"gguf.q5_0/1", GGML_TYPE_Q5_0, VALUES, NULL},
    {"gguf.q5_1/1", GGML_TYPE_Q5_1, VALUES, NULL},
    {"gguf.q4_k/1", GGML_TYPE_Q4_K, VALUES_SUPER, NULL},
    {"gguf.q5_k/1", GGML_TYPE_Q5_K, VALUES_SUPER, NULL},
    {"gguf.q6_k/1", GGML_TYPE_Q6_K, VALUES_SUPER, NULL},
    {TAPML_ENCODING_Q8, GGML_TYPE_Q8_0, VALUES, pack_q8},
};

const struct blocks *blocks_find(const char *id)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        if (strcmp(table[i].encoding, id) == 0) {
            return &table[i];
        }
    }
    return NULL;
}

size_t blocks_bytes(const tapml_encoding *encoding, size_t count)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < encoding->n_spans; i++) {
        const size_t align = (size_t)encoding->spans[i]->align;

        bytes = (bytes + align - 1) / align * align + count * encoding->spans[i]->block_bytes;
    }
    return bytes;
}
