// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The innermost backend: one open device of a loaded plugin, with one queue and one timeline.
//
// It checks every call against the schema before the plugin gets it, and finds the instance to
// which an error of queued work belongs. After such an error it creates a new queue, so that later
// work is not affected; a lost device stays lost.
//
// One thread. A failure of the plugin names component and method. After TAPML_DEVICE_LOST every
// call fails with it.
#pragma once

#include "device/backend.h"
#include "schema/catalogue.h"

struct device_options {
    const tapml_backend *table; // Complete: see `device_table_check`.
    tapml_object *root;
    const char *device; // Id, or NULL for the first.
    const char *component;
    const char *plugin;
    const char *plugin_version;
    const char *build_id;        // Of the library.
    struct catalogue *catalogue; // Takes in the device's ops.
};

// Opens a device. All that `options` points to outlives it. The caller owns the backend.
// TAPML_NOT_FOUND names the devices that exist; TAPML_UNAVAILABLE if there is none;
// TAPML_ABI_MISMATCH if the plugin has an op with other parameters than the catalogue's, or structs
// that are too short.
tapml_status device_open(const struct device_options *options,
                         struct backend **out_backend) STATUS_USED;

// The ops of an open device; their schemas live as long as the plugin.
size_t device_op_count(const struct backend *backend);
const tapml_op *device_op_at(const struct backend *backend, size_t index);
