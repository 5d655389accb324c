// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "note.h"
#include "stack.h"

#include <tapml/plugin.h>

// A component for each architecture: its model type is its id.
#define ARCHITECTURE(name_, title_)                                                                \
    static tapml_status create_##name_(const tapml_component *component, const tapml_host *host,   \
                                       tapml_call *call, tapml_object **out_root)                  \
    {                                                                                              \
        return stack_create(&describe_##name_, host, call, out_root);                              \
    }                                                                                              \
    static const tapml_component name_ = {                                                         \
        .hdr = TAPML_HDR(tapml_component),                                                         \
        .kind = TAPML_KIND_MODEL,                                                                  \
        .id = #name_,                                                                              \
        .title = title_,                                                                           \
        .host_needs = model_host_needs,                                                            \
        .create = create_##name_,                                                                  \
    };

ARCHITECTURE(mamba2, "Mamba-2: a scan over a matrix of each head")
ARCHITECTURE(qwen3_next, "Qwen3-Next: gated delta rule and gated attention, experts")
ARCHITECTURE(rwkv7, "RWKV-7: a matrix of each head that forgets along a direction")

static const tapml_component *const components[] = {&mamba2, &qwen3_next, &rwkv7};

static const tapml_plugin plugin = {
    .hdr = TAPML_HDR(tapml_plugin),
    .abi_major = TAPML_ABI_MAJOR,
    .abi_built = TAPML_ABI_MINOR,
    .abi_needed = TAPML_TARGET_MINOR,
    .sanitizer = TAPML_SANITIZER,
    .id = "org.tapml.recurrent",
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
