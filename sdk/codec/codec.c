// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "module.h"

#include <string.h>

static const struct codec *const codecs[] = {
    &codec_q8,        &codec_q4,        &codec_q5,        &codec_q4_k,      &codec_q5_k,
    &codec_q6_k,      &codec_gguf_q8_0, &codec_gguf_q4_0, &codec_gguf_q4_1, &codec_gguf_q5_0,
    &codec_gguf_q5_1, &codec_gguf_q4_k, &codec_gguf_q5_k, &codec_gguf_q6_k,
};

const struct codec *codec_at(uint32_t index)
{
    return index < sizeof(codecs) / sizeof(codecs[0]) ? codecs[index] : NULL;
}

const struct codec *codec_find(const char *id)
{
    const struct codec *codec = &codec_q8_rows; // Of states.

    if (strcmp(codec->encoding->id, id) == 0) {
        return codec;
    }
    for (uint32_t i = 0; (codec = codec_at(i)) != NULL; i++) {
        if (strcmp(codec->encoding->id, id) == 0) {
            return codec;
        }
    }
    return NULL;
}

const struct codec *codec_find_word(const char *word)
{
    const struct codec *codec = NULL;

    for (uint32_t i = 0; (codec = codec_at(i)) != NULL; i++) {
        if (codec->word != NULL && strcmp(codec->word, word) == 0) {
            return codec;
        }
    }
    return NULL;
}

void codec_decode(const struct codec *codec, const unsigned char *const *spans, float *out_values)
{
    struct codec_block block;

    codec->read(codec, spans, &block);
    for (uint32_t i = 0; i < codec->encoding->block_values; i++) {
        const uint32_t group = i / block.group_values;
        const float product = block.scales[group] * block.quants[i];

        out_values[i] = block.has_mins ? product + block.mins[group] : product;
    }
}
