// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Every encoding in tiles: the combinations that published checkpoints have.
#include <tapml/codec/tiles.h>

#include <string.h>

enum { ALIGN = 16 };

#define SPAN(name_, dtype_, bytes_, rows_, values_)                                                \
    &(const tapml_span)                                                                            \
    {                                                                                              \
        .hdr = TAPML_HDR(tapml_span), .name = name_, .dtype = dtype_, .block_bytes = bytes_,       \
        .align = ALIGN, .tile_rows = rows_, .tile_values = values_                                 \
    }

#define ALL TAPML_TILE_ALL

#define QUANTS_e4m3 SPAN("quants", TAPML_U8, 1, 1, 1)
#define QUANTS_e5m2 SPAN("quants", TAPML_U8, 1, 1, 1)
#define QUANTS_e2m1 SPAN("quants", TAPML_U8, 1, 1, 2)
#define QUANTS_i8   SPAN("quants", TAPML_U8, 1, 1, 1)
#define QUANTS_u8   SPAN("quants", TAPML_I32, 4, 1, 4)
#define QUANTS_u4   SPAN("quants", TAPML_I32, 4, 1, 8)

#define SCALES_f32(rows, values)  SPAN("scales", TAPML_F32, 4, rows, values)
#define SCALES_bf16(rows, values) SPAN("scales", TAPML_BF16, 2, rows, values)
#define SCALES_f16(rows, values)  SPAN("scales", TAPML_F16, 2, rows, values)
#define SCALES_e8m0(rows, values) SPAN("scales", TAPML_U8, 1, rows, values)
#define SCALES_e4m3(rows, values) SPAN("scales", TAPML_U8, 1, rows, values)

#define ZEROS_i8(rows, values) SPAN("zeros", TAPML_U8, 1, rows, values)
#define ZEROS_u8(rows, values) SPAN("zeros", TAPML_I32, 4, 4, values)
#define ZEROS_u4(rows, values) SPAN("zeros", TAPML_I32, 4, 8, values)

#define FACTOR SPAN("factor", TAPML_F32, 4, ALL, ALL)

#define KIND_e4m3 CODEC_E4M3
#define KIND_e5m2 CODEC_E5M2
#define KIND_e2m1 CODEC_E2M1
#define KIND_i8   CODEC_I8
#define KIND_u8   CODEC_U8
#define KIND_u4   CODEC_U4
#define KIND_f32  CODEC_F32
#define KIND_bf16 CODEC_BF16
#define KIND_f16  CODEC_F16
#define KIND_e8m0 CODEC_E8M0

#define ENCODING(id_, count_, ...)                                                                 \
    &(const tapml_encoding)                                                                        \
    {                                                                                              \
        .hdr = TAPML_HDR(tapml_encoding), .id = "tiles." id_ "/1", .block_values = 1,              \
        .n_spans = count_, .spans = (const tapml_span *const[])                                    \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

// q: quants, s: scales, t: the tile by name, which has r rows and v values.
#define PLAIN(q, s, t, r, v, zeros_)                                                               \
    {.encoding = ENCODING(#q "." #s "." #t, 2, QUANTS_##q, SCALES_##s(r, v)),                      \
     .quants = KIND_##q,                                                                           \
     .scales = KIND_##s,                                                                           \
     .zeros = zeros_},

#define WITH_ZEROS(q, s, t, r, v, name_, zeros_)                                                   \
    {.encoding =                                                                                   \
         ENCODING(#q "." #s "." #t "." name_, 3, QUANTS_##q, SCALES_##s(r, v), ZEROS_##q(r, v)),   \
     .quants = KIND_##q,                                                                           \
     .scales = KIND_##s,                                                                           \
     .zeros = zeros_},

#define WITH_FACTOR(q, s, t, r, v, name_, factor_)                                                 \
    {.encoding = ENCODING(#q "." #s "." #t "." name_, 3, QUANTS_##q, SCALES_##s(r, v), FACTOR),    \
     .quants = KIND_##q,                                                                           \
     .scales = KIND_##s,                                                                           \
     .factor = factor_},

// The tiles of each kind of quants, for one type of scales.
#define FLOATS(q, s)                                                                               \
    PLAIN(q, s, all, ALL, ALL, CODEC_ZEROS_NONE)                                                   \
    PLAIN(q, s, row, 1, ALL, CODEC_ZEROS_NONE)                                                     \
    PLAIN(q, s, 1x32, 1, 32, CODEC_ZEROS_NONE)                                                     \
    PLAIN(q, s, 1x64, 1, 64, CODEC_ZEROS_NONE)                                                     \
    PLAIN(q, s, 1x128, 1, 128, CODEC_ZEROS_NONE)                                                   \
    PLAIN(q, s, 128x128, 128, 128, CODEC_ZEROS_NONE)

#define SIGNED(q, s, t, r, v)                                                                      \
    PLAIN(q, s, t, r, v, CODEC_ZEROS_NONE)                                                         \
    WITH_ZEROS(q, s, t, r, v, "zeros", CODEC_ZEROS_I8)

#define INTEGERS(q, s)                                                                             \
    SIGNED(q, s, all, ALL, ALL)                                                                    \
    SIGNED(q, s, row, 1, ALL)                                                                      \
    SIGNED(q, s, 1x32, 1, 32)                                                                      \
    SIGNED(q, s, 1x64, 1, 64)                                                                      \
    SIGNED(q, s, 1x128, 1, 128)

#define UNSIGNED(q, s, t, r, v)                                                                    \
    PLAIN(q, s, t, r, v, CODEC_ZEROS_MIDDLE)                                                       \
    WITH_ZEROS(q, s, t, r, v, "zeros", CODEC_ZEROS_WORDS)                                          \
    WITH_ZEROS(q, s, t, r, v, "zeros1", CODEC_ZEROS_LESS)

#define WORDS(q, s)                                                                                \
    UNSIGNED(q, s, row, 1, ALL)                                                                    \
    UNSIGNED(q, s, 1x32, 1, 32)                                                                    \
    UNSIGNED(q, s, 1x64, 1, 64)                                                                    \
    UNSIGNED(q, s, 1x128, 1, 128)

static const struct codec_tiles list[] = {
    // clang-format off
    FLOATS(e4m3, f32) FLOATS(e4m3, bf16) FLOATS(e4m3, f16) FLOATS(e4m3, e8m0)
    FLOATS(e5m2, f32) FLOATS(e5m2, bf16) FLOATS(e5m2, f16) FLOATS(e5m2, e8m0)
    PLAIN(e2m1, e8m0, 1x32, 1, 32, CODEC_ZEROS_NONE)
    WITH_FACTOR(e2m1, e4m3, 1x16, 1, 16, "times", CODEC_FACTOR_TIMES)
    WITH_FACTOR(e2m1, e4m3, 1x16, 1, 16, "divides", CODEC_FACTOR_DIVIDES)
    INTEGERS(i8, f32) INTEGERS(i8, bf16) INTEGERS(i8, f16)
    WORDS(u8, f32) WORDS(u8, bf16) WORDS(u8, f16)
    WORDS(u4, f32) WORDS(u4, bf16) WORDS(u4, f16)
    // clang-format on
};

const struct codec_tiles *codec_tiles_at(uint32_t index)
{
    return index < sizeof(list) / sizeof(list[0]) ? &list[index] : NULL;
}

const struct codec_tiles *codec_tiles_find(const char *id)
{
    static const char prefix[] = "tiles.";

    if (strncmp(id, prefix, sizeof(prefix) - 1) != 0) {
        return NULL;
    }
    for (uint32_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        if (strcmp(list[i].encoding->id, id) == 0) {
            return &list[i];
        }
    }
    return NULL;
}
