// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tapml/backend.h>
#include <tapml/host.h>

struct reference_device;

// The devices of a component, the default first.
struct device_list {
    uint32_t count;
    const tapml_device_info *const *infos;
    const struct reference_device *const *devices;
    int is_fast; // Some of their ops have fast forms.
};

// Makes the root object of a component, with `extra_bytes` of memory behind it, which lives as
// long. Its devices are those of `list`, which the caller may still set; all are in ordinary
// memory, and a call is done when it returns. `host` outlives it.
tapml_status device_root_new(const tapml_host *host,
                             tapml_call *call,
                             const struct device_list *list,
                             uint64_t extra_bytes,
                             tapml_object **out_root);
