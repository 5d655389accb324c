// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "describe.h"
#include "note.h"

#include <tapml/model/entry.h>

// The id of a component is the type of its models.
#define DECODER(id_, title_) MODEL_COMPONENT(id_, title_, model_decoder_create, &describe_##id_)

DECODER(bloom, "Bloom: slopes in place of positions")
DECODER(cohere2, "Command R7B: parallel halves, layers without rope")
DECODER(deepseek_v2, "DeepSeek-V2: latent attention, shared experts")
DECODER(deepseek_v3, "DeepSeek-V3, R1: latent attention, experts by sigmoids from groups")
DECODER(gemma2, "Gemma 2: sandwich norms, soft limits, sliding layers")
DECODER(gemma3_text, "Gemma 3, text: two ropes, sliding layers")
DECODER(gpt2, "GPT-2: learned positions, fused and transposed weights")
DECODER(gpt_neox, "GPT-NeoX and Pythia: parallel halves, partial rope")
DECODER(gpt_oss, "GPT-OSS: experts with biases, sinks")
DECODER(phi3, "Phi-3, Phi-3.5-mini, Phi-4: fused weights, longrope")
DECODER(qwen3, "Qwen3: normalised heads")
DECODER(qwen3_moe, "Qwen3 with experts")

TAPML_PLUGIN("org.tapml.decoders",
             "0.1.0",
             "TapML",
             "Apache-2.0",
             &bloom,
             &cohere2,
             &deepseek_v2,
             &deepseek_v3,
             &gemma2,
             &gemma3_text,
             &gpt2,
             &gpt_neox,
             &gpt_oss,
             &phi3,
             &qwen3,
             &qwen3_moe)
