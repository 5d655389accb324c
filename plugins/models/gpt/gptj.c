// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// GPT-J (Wang and Komatsuzaki, 2021): attention and MLP side by side on one norm; the first values
// of each head are turned pair by pair; the head has a bias.
#include "gpt.h"

const struct model_decoder describe_gptj = {
    .model_type = "gptj",
    .class_name = "GPTJForCausalLM",
    GPT_J_FORM,
    .tensors =
        {
            GPT_TENSORS_STREAM,
            .q = "transformer.h.{i}.attn.q_proj",
            .k = "transformer.h.{i}.attn.k_proj",
            .v = "transformer.h.{i}.attn.v_proj",
            .o = "transformer.h.{i}.attn.out_proj",
            GPT_TENSORS_PARALLEL_MLP,
        },
};
