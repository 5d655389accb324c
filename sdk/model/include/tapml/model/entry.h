// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The entry of a plugin of this repository that has architectures and nothing else: a component for
// each, then the plugin.
#ifndef TAPML_MODEL_ENTRY_H
#define TAPML_MODEL_ENTRY_H

#include <tapml/model/context.h>
#include <tapml/plugin.h>

// Defines the component `id_`, also the name of the variable, whose root create_(description_,
// host, call, out_root) makes. No semicolon follows.
#define MODEL_COMPONENT(id_, title_, create_, description_)                                        \
    static tapml_status create_##id_(const tapml_component *component, const tapml_host *host,     \
                                     tapml_call *call, tapml_object **out_root)                    \
    {                                                                                              \
        return create_(description_, host, call, out_root);                                        \
    }                                                                                              \
    static const tapml_component id_ = {                                                           \
        .hdr = TAPML_HDR(tapml_component),                                                         \
        .kind = TAPML_KIND_MODEL,                                                                  \
        .id = #id_,                                                                                \
        .title = title_,                                                                           \
        .host_needs = model_host_needs,                                                            \
        .create = create_##id_,                                                                    \
    };

// Defines the plugin "org.tapml.<id_>" with the components whose addresses follow.
#define MODEL_PLUGIN(id_, ...)                                                                     \
    static const tapml_component *const components[] = {__VA_ARGS__};                              \
    static const tapml_plugin plugin = {                                                           \
        .hdr = TAPML_HDR(tapml_plugin),                                                            \
        .abi_major = TAPML_ABI_MAJOR,                                                              \
        .abi_built = TAPML_ABI_MINOR,                                                              \
        .abi_needed = TAPML_TARGET_MINOR,                                                          \
        .sanitizer = TAPML_SANITIZER,                                                              \
        .id = "org.tapml." id_,                                                                    \
        .version = "0.1.0",                                                                        \
        .vendor = "TapML",                                                                         \
        .license = "Apache-2.0",                                                                   \
        .n_components = sizeof(components) / sizeof(components[0]),                                \
        .components = components,                                                                  \
    };                                                                                             \
    tapml_status tapml_plugin_query_v1(const tapml_query *query, const tapml_plugin **out_plugin)  \
    {                                                                                              \
        if (!TAPML_HAS(tapml_query, query, host_version)) {                                        \
            return TAPML_ABI_MISMATCH;                                                             \
        }                                                                                          \
        *out_plugin = &plugin;                                                                     \
        return TAPML_OK;                                                                           \
    }

#endif
