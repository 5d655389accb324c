// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// tapml.q6_k/1, and the blocks gguf.q6_k/1, which become it: 256 quants of six bits around zero, in
// groups of 16 whose scale is a whole number of 8 bits times an f16 of the block.
#include "module.h"
#include "number.h"
#include "quants.h"

#include <string.h>

enum {
    VALUES = 256,
    GROUP_VALUES = 16,
    GROUPS = VALUES / GROUP_VALUES,
    LOW_BYTES = VALUES / 2,
    HIGH_BYTES = VALUES / 4, // Two bits of each quant.
    MIDDLE = 32,
    FACTOR_LEAST = -128,
    FACTOR_MOST = 127,
    HALF = VALUES / 2, // Bits of a piece are mixed within half a block,
    QUARTER = 32,      // of which there are four quarters.
};

struct block {
    unsigned char scale[2]; // As f16.
    int8_t factors[GROUPS];
    uint8_t quants[VALUES]; // Without a sign.
};

// -- Values ------------------------------------------------------------------------------------

static void show(const struct block *block, struct codec_block *out_block)
{
    const float scale = number_read_half(block->scale);

    out_block->group_values = GROUP_VALUES;
    out_block->has_mins = 0;
    for (uint32_t g = 0; g < GROUPS; g++) {
        out_block->scales[g] = scale * (float)block->factors[g];
    }
    for (uint32_t i = 0; i < VALUES; i++) {
        out_block->quants[i] = (float)(block->quants[i] - MIDDLE);
    }
}

// The value of the largest magnitude of a group becomes -32, as far as its factor allows.
static void find(const double *values, struct block *out_block)
{
    double steps[GROUPS];

    for (uint32_t g = 0; g < GROUPS; g++) {
        steps[g] = number_extreme(values + g * GROUP_VALUES, GROUP_VALUES) / -MIDDLE;
    }
    number_write_half((float)(number_extreme(steps, GROUPS) / FACTOR_LEAST), out_block->scale);
    const double scale = number_read_half(out_block->scale);

    for (uint32_t g = 0; g < GROUPS; g++) {
        out_block->factors[g] =
            (int8_t)number_round(steps[g] * number_inverse(scale), FACTOR_LEAST, FACTOR_MOST);
    }
    for (uint32_t i = 0; i < VALUES; i++) {
        const uint32_t group = i / GROUP_VALUES;
        const double inverse = number_inverse(scale * (double)out_block->factors[group]);

        out_block->quants[i] =
            (uint8_t)(number_round(values[i] * inverse, -MIDDLE, MIDDLE - 1) + MIDDLE);
    }
}

// -- Bytes -------------------------------------------------------------------------------------

// The low four bits, the high two, the factors, the scale. Of half a block, byte i of 64 has the
// low bits of values i and 64 + i, and byte i of 32 the high bits of values i, 32 + i, 64 + i, 96 +
// i.
static void get_piece(const unsigned char *bytes, struct block *out_block)
{
    for (uint32_t i = 0; i < VALUES; i++) {
        const uint32_t half = i / HALF, rest = i % HALF;
        const unsigned low = bytes[half * HALF / 2 + rest % 64] >> rest / 64 * 4 & 15u;
        const unsigned char high = bytes[LOW_BYTES + half * QUARTER + rest % QUARTER];

        out_block->quants[i] = (uint8_t)(low | (high >> rest / QUARTER * 2 & 3u) << 4);
    }
    memcpy(out_block->factors, bytes + LOW_BYTES + HIGH_BYTES, GROUPS);
    memcpy(out_block->scale, bytes + LOW_BYTES + HIGH_BYTES + GROUPS, sizeof(out_block->scale));
}

static void put_piece(const struct block *block, unsigned char *out_bytes)
{
    memset(out_bytes, 0, LOW_BYTES + HIGH_BYTES);
    for (uint32_t i = 0; i < VALUES; i++) {
        const uint32_t half = i / HALF, rest = i % HALF;
        unsigned char *low = &out_bytes[half * HALF / 2 + rest % 64];
        unsigned char *high = &out_bytes[LOW_BYTES + half * QUARTER + rest % QUARTER];

        *low = (unsigned char)(*low | (block->quants[i] & 15) << rest / 64 * 4);
        *high = (unsigned char)(*high | block->quants[i] >> 4 << rest / QUARTER * 2);
    }
    memcpy(out_bytes + LOW_BYTES + HIGH_BYTES, block->factors, GROUPS);
    memcpy(out_bytes + LOW_BYTES + HIGH_BYTES + GROUPS, block->scale, sizeof(block->scale));
}

static void get_spans(const unsigned char *const *spans, struct block *out_block)
{
    quants_read_pairs(spans[0], VALUES, out_block->quants);
    for (uint32_t i = 0; i < VALUES; i++) {
        out_block->quants[i] =
            (uint8_t)(out_block->quants[i] | (spans[1][i / 4] >> i % 4 * 2 & 3) << 4);
    }
    memcpy(out_block->factors, spans[2], GROUPS);
    memcpy(out_block->scale, spans[3], sizeof(out_block->scale));
}

static void put_spans(const struct block *block, unsigned char *const *out_spans)
{
    quants_write_pairs(block->quants, VALUES, out_spans[0]);
    memset(out_spans[1], 0, HIGH_BYTES);
    for (uint32_t i = 0; i < VALUES; i++) {
        out_spans[1][i / 4] =
            (unsigned char)(out_spans[1][i / 4] | block->quants[i] >> 4 << i % 4 * 2);
    }
    memcpy(out_spans[2], block->factors, GROUPS);
    memcpy(out_spans[3], block->scale, sizeof(block->scale));
}

// -- tapml.q6_k/1 ------------------------------------------------------------------------------

static const tapml_span quants = MODULE_SPAN("quants", TAPML_U8, LOW_BYTES, MODULE_WORDS_ALIGN);
static const tapml_span highs = MODULE_SPAN("high bits", TAPML_U8, HIGH_BYTES, MODULE_WORDS_ALIGN);
static const tapml_span factors = MODULE_SPAN("factors", TAPML_U8, GROUPS, MODULE_WORDS_ALIGN);
static const tapml_span scales = MODULE_SPAN("scales", TAPML_F16, 2, MODULE_WORDS_ALIGN);
static const tapml_span *const all_spans[] = {&quants, &highs, &factors, &scales};
static const tapml_encoding encoding = MODULE_ENCODING(TAPML_ENCODING_Q6_K, VALUES, all_spans);

static void read_spans(const struct codec *codec,
                       const unsigned char *const *spans,
                       struct codec_block *out_block)
{
    struct block block;

    get_spans(spans, &block);
    show(&block, out_block);
}

static void
write_spans(const struct codec *codec, const double *values, unsigned char *const *out_spans)
{
    struct block block;

    find(values, &block);
    put_spans(&block, out_spans);
}

const struct codec codec_q6_k = {.encoding = &encoding, .read = read_spans, .write = write_spans};

// -- gguf.q6_k/1 -------------------------------------------------------------------------------

static const tapml_span piece_span =
    MODULE_SPAN("blocks", TAPML_U8, LOW_BYTES + HIGH_BYTES + GROUPS + 2, MODULE_BLOCKS_ALIGN);
static const tapml_span *const piece_spans[] = {&piece_span};
static const tapml_encoding piece_encoding = MODULE_ENCODING("gguf.q6_k/1", VALUES, piece_spans);

static void read_piece(const struct codec *codec,
                       const unsigned char *const *spans,
                       struct codec_block *out_block)
{
    struct block block;

    get_piece(spans[0], &block);
    show(&block, out_block);
}

static void
write_piece(const struct codec *codec, const double *values, unsigned char *const *out_spans)
{
    struct block block;

    find(values, &block);
    put_piece(&block, out_spans[0]);
}

static int spread_piece(const struct codec *codec,
                        const unsigned char *const *spans,
                        unsigned char *const *out_spans)
{
    struct block block;

    get_piece(spans[0], &block);
    put_spans(&block, out_spans);
    return 1;
}

const struct codec codec_gguf_q6_k = {
    .encoding = &piece_encoding,
    .word = "q6_k",
    .read = read_piece,
    .write = write_piece,
    .spread = &codec_q6_k,
    .spread_block = spread_piece,
};
