// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Phi-1.5 and Phi-2 as their own code stored them: Phi under other names, with queries, keys and
// values in one tensor. The final norm belongs to the head.
#include "own.h"

const struct model_decoder describe_phi_msft = {
    .model_type = "phi-msft",
    .class_name = "PhiMSFTForCausalLM", // That of files without a type is phi's.
    OWN_FORM,
    .keys = {OWN_KEYS},
    .defaults = {OWN_DEFAULTS},
    .tensors =
        {
            .embed = "transformer.embd.wte",
            .attention_norm = "transformer.h.{i}.ln",
            .qkv = "transformer.h.{i}.mixer.Wqkv",
            .o = "transformer.h.{i}.mixer.out_proj",
            .up = "transformer.h.{i}.mlp.fc1",
            .down = "transformer.h.{i}.mlp.fc2",
            .norm = "lm_head.ln",
            .head = "lm_head.linear",
        },
    .ignored = {OWN_IGNORED},
    .expected = {OWN_EXPECTED},
};
