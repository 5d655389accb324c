// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// tapml.q4_k/1, and the blocks gguf.q4_k/1, which become it: quants of four bits, scales of scales.
#include "super.h"

static const tapml_span quants =
    MODULE_SPAN("quants", TAPML_U8, SUPER_LOW_BYTES, MODULE_WORDS_ALIGN);
static const tapml_span factors =
    MODULE_SPAN("factors", TAPML_U8, 2 * SUPER_GROUPS, MODULE_WORDS_ALIGN);
static const tapml_span scales =
    MODULE_SPAN("scales", TAPML_F16, SUPER_SCALE_BYTES, MODULE_WORDS_ALIGN);
static const tapml_span *const spans[] = {&quants, &factors, &scales};
static const tapml_encoding encoding = MODULE_ENCODING(TAPML_ENCODING_Q4_K, SUPER_VALUES, spans);

static const struct super_form form = {.bits = 4};

const struct codec codec_q4_k = {
    .encoding = &encoding,
    .read = super_read_spans,
    .write = super_write_spans,
    .form = &form,
};

static const tapml_span piece_span =
    MODULE_SPAN("blocks",
                TAPML_U8,
                SUPER_SCALE_BYTES + SUPER_FACTOR_BYTES + SUPER_LOW_BYTES,
                MODULE_BLOCKS_ALIGN);
static const tapml_span *const piece_spans[] = {&piece_span};
static const tapml_encoding piece_encoding =
    MODULE_ENCODING("gguf.q4_k/1", SUPER_VALUES, piece_spans);

const struct codec codec_gguf_q4_k = {
    .encoding = &piece_encoding,
    .word = "q4_k",
    .read = super_read_piece,
    .write = super_write_piece,
    .spread = &codec_q4_k,
    .spread_block = super_spread_piece,
    .form = &form,
};
