// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Phi-1 and Phi-1.5 as they were first released: the modules of phi-msft by number, the embedding
// first, the head last.
#include "own.h"

const struct model_decoder describe_mixformer_sequential = {
    .model_type = "mixformer-sequential",
    .class_name = "MixFormerSequentialForCausalLM",
    OWN_FORM,
    .keys = {OWN_KEYS},
    .defaults = {OWN_DEFAULTS},
    .tensors =
        {
            .embed = "layers.0.wte",
            .attention_norm = "layers.{i+1}.ln",
            .qkv = "layers.{i+1}.mixer.Wqkv",
            .o = "layers.{i+1}.mixer.out_proj",
            .up = "layers.{i+1}.mlp.fc1",
            .down = "layers.{i+1}.mlp.fc2",
            .norm = "layers.{i+1}.ln",
            .head = "layers.{i+1}.linear",
        },
    .ignored = {OWN_IGNORED},
    .expected = {OWN_EXPECTED},
};
