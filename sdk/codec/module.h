// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the modules of encodings share, and the list of them.
#pragma once

#include <tapml/codec/codec.h>

// A span of an encoding.
#define MODULE_SPAN(name_, dtype_, block_bytes_, align_)                                           \
    {                                                                                              \
        .hdr = TAPML_HDR(tapml_span), .name = name_, .dtype = dtype_, .block_bytes = block_bytes_, \
        .align = align_                                                                            \
    }

// An encoding whose spans are the array `spans_`.
#define MODULE_ENCODING(id_, block_values_, spans_)                                                \
    {                                                                                              \
        .hdr = TAPML_HDR(tapml_encoding), .id = id_, .block_values = block_values_,                \
        .n_spans = sizeof(spans_) / sizeof((spans_)[0]), .spans = spans_                           \
    }

// Spans that are read in words and vectors, and blocks as they lie in GGUF files, whose scales have
// 16 bits.
enum { MODULE_WORDS_ALIGN = 16, MODULE_BLOCKS_ALIGN = 2 };

// What devices read in words of 32 bits.
extern const struct codec codec_q8, codec_q4, codec_q5, codec_q4_k, codec_q5_k, codec_q6_k;

// The rows of states.
extern const struct codec codec_q8_rows;

// The blocks of GGUF files.
extern const struct codec codec_gguf_q8_0, codec_gguf_q4_0, codec_gguf_q4_1, codec_gguf_q5_0,
    codec_gguf_q5_1, codec_gguf_q4_k, codec_gguf_q5_k, codec_gguf_q6_k;
