// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/quantised_layout.h"

#include "base/assert.h"

#include <string.h>

#define F8_TYPES    "F8_E4M3 F8_E5M2"
#define FLOAT_TYPES "F32 BF16 F16"
#define POWER_TYPES "U8 F8_E8M0"
#define INPUT_SCALES                                                                               \
    ".input_scale .activation_scale .input_scale_ub .input_zero_point .output_scale"

// Value i of a word of AWQ: the even ones lie in the lower half.
static const uint8_t awq_places[8] = {0, 4, 1, 5, 2, 6, 3, 7};

static const struct quantised_layout layouts[QUANTISED_LAYOUT_COUNT] = {
    [QUANTISED_F8_INVERSE] = {.name = "fp8",
                              .becomes = ".weight",
                              .quants = {".weight", F8_TYPES, 1},
                              .scales = {".weight_scale_inv", FLOAT_TYPES " " POWER_TYPES, 1},
                              .unused = INPUT_SCALES},
    [QUANTISED_F8] = {.name = "fp8",
                      .becomes = ".weight",
                      .quants = {".weight", F8_TYPES, 1},
                      .scales = {".weight_scale", FLOAT_TYPES " " POWER_TYPES, 1},
                      .unused = INPUT_SCALES},
    [QUANTISED_I8] = {.name = "int8",
                      .becomes = ".weight",
                      .quants = {".weight", "I8", 1},
                      .scales = {".weight_scale", FLOAT_TYPES, 1},
                      .zeros = {".weight_zero_point", "I8", 0},
                      .unused = INPUT_SCALES},
    [QUANTISED_PACKED] = {.name = "packed",
                          .becomes = ".weight",
                          .quants = {".weight_packed", "I32", 1},
                          .scales = {".weight_scale", FLOAT_TYPES, 1},
                          .zeros = {".weight_zero_point", "I32", 0},
                          .groups = {".weight_g_idx", "I32", 0},
                          .extents = {".weight_shape", "I64 I32", 1},
                          .unused = INPUT_SCALES,
                          .packing = QUANTISED_WORDS,
                          .zeros_down = 1},
    [QUANTISED_F4_PACKED] = {.name = "mxfp4",
                             .becomes = ".weight",
                             .quants = {".weight_packed", "U8", 1},
                             .scales = {".weight_scale", POWER_TYPES, 1},
                             .unused = INPUT_SCALES,
                             .packing = QUANTISED_NIBBLES},
    [QUANTISED_F4_GLOBAL] = {.name = "nvfp4",
                             .becomes = ".weight",
                             .quants = {".weight_packed", "U8", 1},
                             .scales = {".weight_scale", "F8_E4M3", 1},
                             .factor = {".weight_global_scale", "F32", 1},
                             .factor_divides = 1,
                             .unused = INPUT_SCALES " .input_global_scale",
                             .packing = QUANTISED_NIBBLES},
    [QUANTISED_F4_SCALE_2] = {.name = "nvfp4",
                              .becomes = ".weight",
                              .quants = {".weight", "U8", 1},
                              .scales = {".weight_scale", "F8_E4M3", 1},
                              .factor = {".weight_scale_2", "F32", 1},
                              .unused = INPUT_SCALES,
                              .packing = QUANTISED_NIBBLES},
    [QUANTISED_F4_BLOCKS] = {.name = "mxfp4",
                             .becomes = "",
                             .quants = {"_blocks", "U8", 1},
                             .scales = {"_scales", POWER_TYPES, 1},
                             .unused = "",
                             .packing = QUANTISED_NIBBLES,
                             .is_split = 1,
                             .becomes_transposed = 1},
    [QUANTISED_GPTQ] = {.name = "gptq",
                        .becomes = ".weight",
                        .quants = {".qweight", "I32", 1},
                        .scales = {".scales", FLOAT_TYPES, 1},
                        .zeros = {".qzeros", "I32", 1},
                        .groups = {".g_idx", "I32", 0},
                        .unused = "",
                        .packing = QUANTISED_WORDS,
                        .is_transposed = 1},
    [QUANTISED_AWQ] = {.name = "awq",
                       .becomes = ".weight",
                       .quants = {".qweight", "I32", 1},
                       .scales = {".scales", FLOAT_TYPES, 1},
                       .zeros = {".qzeros", "I32", 1},
                       .unused = "",
                       .packing = QUANTISED_WORDS,
                       .is_transposed = 1,
                       .packs_rows = 1,
                       .places = awq_places},
};

const struct quantised_layout *quantised_layout_get(enum quantised_layout_id id)
{
    ASSERT(id < QUANTISED_LAYOUT_COUNT);
    return &layouts[id];
}

int quantised_layout_lists(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; length > 0 && (at = strstr(at, word)) != NULL; at += length) {
        const int begins = at == words || at[-1] == ' ';
        if (begins && (at[length] == ' ' || !at[length])) {
            return 1;
        }
    }
    return 0;
}
