// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Orion (arXiv 2401.12246): Llama with layer norms, whose eps has the name of the other norm's.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

const struct model_decoder describe_orion = {
    .model_type = "orion",
    .class_name = "OrionForCausalLM",
    .norm = MODEL_NORM_LAYER,
    .has_norm_biases = 1,
    .keys = {MODEL_KEYS_USUAL},
    .defaults =
        {
            .eps = 1e-5,
            .activation = "silu",
            .rope = {.theta = 10000, .positions = 4096},
        },
    .tensors = {MODEL_TENSORS_LLAMA},
    .ignored = {"/max_sequence_length"},
};
