// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// ERNIE 4.5, its dense models: Llama whose rope turns neighbours.
#include "ernie.h"

const struct model_decoder describe_ernie4_5 = {
    .model_type = "ernie4_5",
    .class_name = "Ernie4_5ForCausalLM",
    .is_rope_interleaved = 1,
    .keys = {ERNIE_KEYS},
    .defaults = {ERNIE_DEFAULTS, .sizes = {.head_width = 128}},
    .tensors = {MODEL_TENSORS_LLAMA},
    .ignored = {"/fuse_rms_norm"},
    .expected = {{"/compression_ratio", "1.0"}, {"/use_rmsnorm", "true"}},
};
