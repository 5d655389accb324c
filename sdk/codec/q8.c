// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// tapml.q8/1: quants of 8 bits with a sign, and a scale.
#include "module.h"
#include "number.h"

#include <string.h>

enum { VALUES = 32, MOST = 127 };

static const tapml_span quants = MODULE_SPAN("quants", TAPML_U8, VALUES, MODULE_WORDS_ALIGN);
static const tapml_span scales = MODULE_SPAN("scales", TAPML_F16, 2, MODULE_WORDS_ALIGN);
static const tapml_span *const spans[] = {&quants, &scales};
static const tapml_encoding encoding = MODULE_ENCODING(TAPML_ENCODING_Q8, VALUES, spans);

static void show(const unsigned char *scale, const unsigned char *bytes, struct codec_block *out)
{
    out->group_values = VALUES;
    out->has_mins = 0;
    out->scales[0] = number_read_half(scale);
    for (uint32_t i = 0; i < VALUES; i++) {
        out->quants[i] = (float)(int8_t)bytes[i];
    }
}

// The largest magnitude becomes 127.
static void find(const double *values, unsigned char *scale, unsigned char *bytes)
{
    const double extreme = number_extreme(values, VALUES);

    number_write_half((float)((extreme < 0 ? -extreme : extreme) / MOST), scale);
    const double inverse = number_inverse(number_read_half(scale));

    for (uint32_t i = 0; i < VALUES; i++) {
        bytes[i] = (unsigned char)number_round(values[i] * inverse, -MOST, MOST);
    }
}

static void
read(const struct codec *codec, const unsigned char *const *block, struct codec_block *out_block)
{
    show(block[1], block[0], out_block);
}

static void write(const struct codec *codec, const double *values, unsigned char *const *out_block)
{
    find(values, out_block[1], out_block[0]);
}

const struct codec codec_q8 = {
    .encoding = &encoding,
    .word = "q8_0",
    .read = read,
    .write = write,
};

// gguf.q8_0/1: the scale and the quants in one piece.
static const tapml_span pieces = MODULE_SPAN("blocks", TAPML_U8, 2 + VALUES, MODULE_BLOCKS_ALIGN);
static const tapml_span *const gguf_spans[] = {&pieces};
static const tapml_encoding gguf_encoding = MODULE_ENCODING("gguf.q8_0/1", VALUES, gguf_spans);

static void read_piece(const struct codec *codec,
                       const unsigned char *const *block,
                       struct codec_block *out_block)
{
    show(block[0], block[0] + 2, out_block);
}

static void
write_piece(const struct codec *codec, const double *values, unsigned char *const *out_block)
{
    find(values, out_block[0], out_block[0] + 2);
}

static int spread(const struct codec *codec,
                  const unsigned char *const *block,
                  unsigned char *const *out_block)
{
    memcpy(out_block[1], block[0], 2);
    memcpy(out_block[0], block[0] + 2, VALUES);
    return 1;
}

const struct codec codec_gguf_q8_0 = {
    .encoding = &gguf_encoding,
    .read = read_piece,
    .write = write_piece,
    .spread = &codec_q8,
    .spread_block = spread,
};
