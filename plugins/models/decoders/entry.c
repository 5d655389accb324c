// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "describe.h"
#include "note.h"

#include <tapml/plugin.h>

// A component for each architecture: its model type is its id.
#define DECODER(name_, title_)                                                                     \
    static tapml_status create_##name_(const tapml_component *component, const tapml_host *host,   \
                                       tapml_call *call, tapml_object **out_root)                  \
    {                                                                                              \
        return model_decoder_create(&describe_##name_, host, call, out_root);                      \
    }                                                                                              \
    static const tapml_component name_ = {                                                         \
        .hdr = TAPML_HDR(tapml_component),                                                         \
        .kind = TAPML_KIND_MODEL,                                                                  \
        .id = #name_,                                                                              \
        .title = title_,                                                                           \
        .host_needs = model_host_needs,                                                            \
        .create = create_##name_,                                                                  \
    };

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

static const tapml_component *const components[] = {
    &bloom, &cohere2,  &deepseek_v2, &deepseek_v3, &gemma2, &gemma3_text,
    &gpt2,  &gpt_neox, &gpt_oss,     &phi3,        &qwen3,  &qwen3_moe,
};

static const tapml_plugin plugin = {
    .hdr = TAPML_HDR(tapml_plugin),
    .abi_major = TAPML_ABI_MAJOR,
    .abi_built = TAPML_ABI_MINOR,
    .abi_needed = TAPML_TARGET_MINOR,
    .sanitizer = TAPML_SANITIZER,
    .id = "org.tapml.decoders",
    .version = "0.1.0",
    .vendor = "TapML",
    .license = "Apache-2.0",
    .n_components = sizeof(components) / sizeof(components[0]),
    .components = components,
};

tapml_status tapml_plugin_query_v1(const tapml_query *query, const tapml_plugin **out_plugin)
{
    if (!TAPML_HAS(tapml_query, query, host_version)) {
        return TAPML_ABI_MISMATCH;
    }
    *out_plugin = &plugin;
    return TAPML_OK;
}
