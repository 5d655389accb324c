// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The entry of a plugin that is a driver table and nothing else.
#ifndef TAPML_GPU_ENTRY_H
#define TAPML_GPU_ENTRY_H

#include <tapml/gpu/backend.h>
#include <tapml/gpu/entries.h>
#include <tapml/plugin.h>

// Defines the plugin of these names, those of its plugin.ini, with one component: the backend `id_`
// over `driver_table`. The arguments are string literals; no semicolon follows.
#define GPU_PLUGIN(plugin_id_, version_, vendor_, license_, id_, title_)                           \
    static tapml_status probe(const tapml_component *component, const tapml_host *host,            \
                              tapml_call *call)                                                    \
    {                                                                                              \
        return gpu_backend_probe(&driver_table, host, call);                                       \
    }                                                                                              \
    static tapml_status create(const tapml_component *component, const tapml_host *host,           \
                               tapml_call *call, tapml_object **out_root)                          \
    {                                                                                              \
        return gpu_backend_create(&driver_table, host, call, out_root);                            \
    }                                                                                              \
    static const tapml_component backend = {                                                       \
        .hdr = TAPML_HDR(tapml_component),                                                         \
        .kind = TAPML_KIND_BACKEND,                                                                \
        .id = id_,                                                                                 \
        .title = title_,                                                                           \
        .host_needs = (const char *const[]){TAPML_HOST_CORE, NULL},                                \
        .probe = probe,                                                                            \
        .create = create,                                                                          \
    };                                                                                             \
    TAPML_PLUGIN(plugin_id_, version_, vendor_, license_, &backend)

#endif
