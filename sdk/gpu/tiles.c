// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tiles.h"

#include <tapml/codec/tiles.h>

#include <string.h>

// The numbers of k_tiles.h are those of the codec. Quants are at the lowest bits of a form.
enum {
    QUANTS_MASK = 15,
    SCALES_SHIFT = 4,
    ZEROS_SHIFT = 8,
    FACTOR_SHIFT = 11,
    ROWS_SHIFT = 13,
    VALUES_SHIFT = 18,
    LOGARITHM_ALL = 31,
};
_Static_assert(CODEC_E4M3 == 0 && CODEC_E5M2 == 1 && CODEC_E2M1 == 2 && CODEC_I8 == 3 &&
                   CODEC_U8 == 4 && CODEC_U4 == 5 && CODEC_F32 == 6 && CODEC_BF16 == 7 &&
                   CODEC_F16 == 8 && CODEC_E8M0 == 9,
               "numbers as k_tiles.h has them");
_Static_assert(CODEC_ZEROS_NONE == 0 && CODEC_ZEROS_MIDDLE == 1 && CODEC_ZEROS_I8 == 2 &&
                   CODEC_ZEROS_WORDS == 3 && CODEC_ZEROS_LESS == 4 && CODEC_FACTOR_NONE == 0 &&
                   CODEC_FACTOR_TIMES == 1 && CODEC_FACTOR_DIVIDES == 2,
               "zero points and factors as k_tiles.h has them");

enum { QUANTS, SCALES, THIRD };

int gpu_tiles_are_in(const tapml_encoding *encoding)
{
    return encoding != NULL && encoding->n_spans > 0 && encoding->spans[0]->tile_rows != 0;
}

tapml_status gpu_tiles_check(struct gpu_queue *queue, tapml_call *call, const tapml_tensor *weight)
{
    if (codec_tiles_find(weight->encoding->id) == NULL) {
        return gpu_plan_refuse(queue, call, "encoding '%s', which no kernel has",
                               weight->encoding->id);
    }
    if (weight->rank != 2) {
        return gpu_plan_refuse(queue, call, "a tensor of rank %u in tiles, expected a matrix",
                               weight->rank);
    }
    if (weight->spans != NULL) {
        return gpu_plan_refuse(queue, call,
                               "tiles in a buffer for each span, kernels read one buffer");
    }
    return TAPML_OK;
}

int64_t gpu_tiles_stride(const tapml_tensor *weight)
{
    const int64_t each = weight->encoding->spans[QUANTS]->tile_values;

    return (weight->shape[1] + each - 1) / each * each;
}

// All tiles are powers of two.
static uint32_t logarithm(uint32_t extent)
{
    uint32_t shift = 0;

    while (extent != TAPML_TILE_ALL && extent >> (shift + 1) != 0) {
        shift++;
    }
    return extent == TAPML_TILE_ALL ? LOGARITHM_ALL : shift;
}

static uint32_t form_of(const struct codec_tiles *tiles)
{
    const tapml_span *scales = tiles->encoding->spans[SCALES];

    return (uint32_t)tiles->quants | (uint32_t)tiles->scales << SCALES_SHIFT |
           (uint32_t)tiles->zeros << ZEROS_SHIFT | (uint32_t)tiles->factor << FACTOR_SHIFT |
           logarithm(scales->tile_rows) << ROWS_SHIFT |
           logarithm(scales->tile_values) << VALUES_SHIFT;
}

// The word in which span `index` begins.
static uint32_t span_word(const tapml_tensor *weight, uint32_t index)
{
    const tapml_encoding *encoding = weight->encoding;
    uint64_t begin = 0;

    for (uint32_t i = 0; i < index; i++) {
        const uint64_t align = encoding->spans[i + 1]->align;

        begin += codec_tiles_bytes(encoding->spans[i], (uint64_t)weight->shape[0],
                                   (uint64_t)weight->shape[1]);
        begin = (begin + align - 1) / align * align;
    }
    return (uint32_t)((weight->offset + begin) / sizeof(uint32_t));
}

struct gpu_blocks gpu_tiles_blocks(const tapml_tensor *weight)
{
    const struct codec_tiles *tiles = codec_tiles_find(weight->encoding->id);
    const tapml_span *scales = weight->encoding->spans[SCALES];
    const int has_factor = tiles->factor != CODEC_FACTOR_NONE;
    const int has_zeros = tiles->zeros != CODEC_ZEROS_NONE && tiles->zeros != CODEC_ZEROS_MIDDLE;

    // What is not there gives words that can be read.
    return (struct gpu_blocks){
        .quants = span_word(weight, QUANTS),
        .highs = span_word(weight, has_factor ? THIRD : QUANTS),
        .scales = span_word(weight, SCALES),
        .mins = span_word(weight, has_zeros ? THIRD : SCALES),
        .form = form_of(tiles),
        .across = (uint32_t)(codec_tiles_bytes(scales, 1, (uint64_t)weight->shape[1]) /
                             scales->block_bytes),
    };
}

uint32_t gpu_tiles_quants(const struct gpu_blocks *blocks)
{
    return blocks->form & QUANTS_MASK;
}

uint32_t gpu_tiles_group_values(const struct gpu_blocks *blocks)
{
    return gpu_tiles_quants(blocks) == CODEC_E2M1 ? 16 : 32; // BLOCK_LANES of k_tiles.h.
}
