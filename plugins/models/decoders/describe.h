// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The architectures of this plugin, one file each.
#pragma once

#include <tapml/model/block.h>

extern const struct model_decoder describe_bloom;
extern const struct model_decoder describe_cohere2;
extern const struct model_decoder describe_deepseek_v2;
extern const struct model_decoder describe_deepseek_v3;
extern const struct model_decoder describe_gemma2;
extern const struct model_decoder describe_gemma3_text;
extern const struct model_decoder describe_gpt2;
extern const struct model_decoder describe_gpt_neox;
extern const struct model_decoder describe_gpt_oss;
extern const struct model_decoder describe_phi3;
extern const struct model_decoder describe_qwen3;
extern const struct model_decoder describe_qwen3_moe;
