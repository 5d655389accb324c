// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A backend (tapml/backend.h) whose devices compute in ordinary memory, in the call itself. The
// plugin says which devices there are and what their ops do; buffers, queues and timelines are made
// here. An op finds the bytes of a tensor with memory_at (memory/object.h).
#ifndef TAPML_MEMORY_BACKEND_H
#define TAPML_MEMORY_BACKEND_H

#include <tapml/backend.h>
#include <tapml/host.h>

#ifdef __cplusplus
extern "C" {
#endif

// The devices of a component. All is borrowed, and outlives the root.
struct memory_component {
    uint32_t count;
    const tapml_device_info *const *infos; // The default first.
    const void *const *devices;            // Of the plugin, one for each.

    // As of `tapml_backend`. `device` is a struct memory_object, whose `device` is the plugin's.
    tapml_status (*ops)(tapml_object *device,
                        tapml_call *call,
                        const tapml_op_impl *const **out_list,
                        uint32_t *out_count);
    tapml_status (*supports)(tapml_object *device,
                             tapml_call *call,
                             const tapml_op *op,
                             const tapml_value *args,
                             uint32_t n_args,
                             tapml_support *answer);

    // What a device offers beside (TAPML_IDENTITY, ...) TAPML_MEMORY_HANDLES, which each has; NULL
    // where none does.
    const void *(*interface_of)(tapml_object *device, const char *id);

    // Called with the root before it is freed, where the plugin has to end something; or NULL.
    void (*end)(tapml_object *root);
};

// Makes the root object of a component, with `extra_bytes` of memory of the plugin behind it, which
// lives as long (`data` of the memory_object); it is zero. The plugin may set `component` of the
// root later, in `create`, where `component` is NULL here. `host` outlives the root.
tapml_status memory_backend_create(const tapml_host *host,
                                   tapml_call *call,
                                   const struct memory_component *component,
                                   uint64_t extra_bytes,
                                   tapml_object **out_root);

#ifdef __cplusplus
}
#endif

#endif
