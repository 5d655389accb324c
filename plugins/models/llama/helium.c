// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Helium: Llama whose rope turns neighbours.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

const struct model_decoder describe_helium = {
    .model_type = "helium",
    .class_name = "HeliumForCausalLM",
    .is_rope_interleaved = 1,
    .keys = {MODEL_KEYS_LLAMA},
    .defaults =
        {
            .sizes = {.head_width = 128},
            .eps = 1e-8,
            .activation = "silu",
            .rope = {.theta = 100000, .positions = 4096},
        },
    .tensors = {MODEL_TENSORS_LLAMA},
};
