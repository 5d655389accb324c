// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Components that are architectures, for the entry of a plugin.
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

#endif
