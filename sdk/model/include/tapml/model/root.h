// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// An architecture as two functions, and the root object of its component, of kind tapml.model/1.
#ifndef TAPML_MODEL_ROOT_H
#define TAPML_MODEL_ROOT_H

#include <tapml/model/context.h>

#ifdef __cplusplus
extern "C" {
#endif

struct model_architecture {
    const char *model_type;  // "model_type" in the config,
    const char *class_name;  // or, where that is absent, the first of "architectures".
    const char *old_types;   // Other names of the type, with "|" between them. NULL: none.
    const void *description; // For the functions, which say model_fail where something is wrong.

    // Builds the graph of a config: `config`, `weights` and `graph` of the context are there.
    void (*build)(struct model_context *context, const void *description);

    // Writes rows of an input that the graph has: `config` is there.
    void (*fill)(struct model_context *context,
                 const void *description,
                 const struct model_fill *fill);
};

// What a component's `create` returns, whose `host_needs` are model_host_needs. `architecture` is
// copied; what it points to is constant and stays. The root's memory is the host's.
tapml_status model_root_create(const struct model_architecture *architecture,
                               const tapml_host *host,
                               tapml_call *call,
                               tapml_object **out_root);

#ifdef __cplusplus
}
#endif

#endif
