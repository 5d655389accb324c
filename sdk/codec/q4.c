// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// tapml.q4/1, and the blocks gguf.q4_0/1 and gguf.q4_1/1, which become it: quants of four bits.
#include "affine.h"

static const tapml_span quants =
    MODULE_SPAN("quants", TAPML_U8, AFFINE_LOW_BYTES, MODULE_WORDS_ALIGN);
static const tapml_span scales = MODULE_SPAN("scales", TAPML_F16, 2, MODULE_WORDS_ALIGN);
static const tapml_span mins = MODULE_SPAN("mins", TAPML_F16, 2, MODULE_WORDS_ALIGN);
static const tapml_span *const spans[] = {&quants, &scales, &mins};
static const tapml_encoding encoding = MODULE_ENCODING(TAPML_ENCODING_Q4, AFFINE_VALUES, spans);

static const struct affine_form form = {.bits = 4};

const struct codec codec_q4 = {
    .encoding = &encoding,
    .word = "q4_0",
    .read = affine_read_spans,
    .write = affine_write_spans,
    .form = &form,
};

// A scale, and quants around zero.
static const tapml_span centred_span =
    MODULE_SPAN("blocks", TAPML_U8, 2 + AFFINE_LOW_BYTES, MODULE_BLOCKS_ALIGN);
static const tapml_span *const centred_spans[] = {&centred_span};
static const tapml_encoding centred_encoding =
    MODULE_ENCODING("gguf.q4_0/1", AFFINE_VALUES, centred_spans);

static const struct affine_form centred_form = {.bits = 4, .is_centred = 1};

const struct codec codec_gguf_q4_0 = {
    .encoding = &centred_encoding,
    .read = affine_read_piece,
    .write = affine_write_piece,
    .spread = &codec_q4,
    .spread_block = affine_spread_piece,
    .form = &centred_form,
};

// A scale, a min, and quants.
static const tapml_span piece_span =
    MODULE_SPAN("blocks", TAPML_U8, 4 + AFFINE_LOW_BYTES, MODULE_BLOCKS_ALIGN);
static const tapml_span *const piece_spans[] = {&piece_span};
static const tapml_encoding piece_encoding =
    MODULE_ENCODING("gguf.q4_1/1", AFFINE_VALUES, piece_spans);

const struct codec codec_gguf_q4_1 = {
    .encoding = &piece_encoding,
    .word = "q4_1",
    .read = affine_read_piece,
    .write = affine_write_piece,
    .spread = &codec_q4,
    .spread_block = affine_spread_piece,
    .form = &form,
};
