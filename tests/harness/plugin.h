// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tapml/backend.h>

#include <stdbool.h>
#include <stddef.h>

// A backend plugin of the build, opened without the core: a real host table of the smallest kind, a
// device and a queue. For the tests of plugins, which then fail for no one else's faults.
struct plugin;

// The host's part of a call: what `core->fail` was told last. Zeroed to begin with.
struct tapml_call {
    tapml_status code;
    char message[512];
};

struct plugin_options {
    const char *library;   // Below the build's root: "plugins/cpu/tapml-cpu.so".
    const char *component; // "reference"
    const char *device;    // "f64"; NULL is the first.
    uint32_t threads;      // Of parallel_for; 0 is a host without a pool.

    // Keys and values in turn for `core->option`, ended by NULL; or NULL. Borrowed until the close.
    const char *const *options;
};

// Opens a plugin, a device and a queue. On failure `call` says why: TAPML_UNAVAILABLE is a skip.
// The library stays mapped for ever, as a host would have it.
tapml_status
plugin_open(const struct plugin_options *options, tapml_call *call, struct plugin **out_plugin);

// Releases everything and shuts the component down. Returns the number of allocations that the
// plugin has not given back, or has given back with another size or alignment. NULL is allowed.
size_t plugin_close(struct plugin *plugin);

// What was opened.
const tapml_backend *plugin_table(const struct plugin *plugin);
const tapml_device_info *plugin_info(const struct plugin *plugin);
tapml_object *plugin_root(const struct plugin *plugin);
tapml_object *plugin_device(const struct plugin *plugin);
tapml_object *plugin_queue(const struct plugin *plugin);

// Allocations that the plugin has asked for so far.
size_t plugin_allocation_count(const struct plugin *plugin);

// From now on the host has no memory for the plugin, or has some again.
void plugin_refuse_memory(struct plugin *plugin, bool refused);

// Ranges into which parallel_for has cut work so far: more than one a call where threads shared it.
size_t plugin_range_count(const struct plugin *plugin);

// Waits until all that is queued is done.
tapml_status plugin_wait(struct plugin *plugin, tapml_call *call);

// Calls `op` with one value for each parameter and waits until it is done. TAPML_UNIMPLEMENTED
// where the device lacks the op.
tapml_status
plugin_apply(struct plugin *plugin, const tapml_op *op, const tapml_value *args, tapml_call *call);

// What the device answers to `op` with these arguments.
tapml_support plugin_supports(struct plugin *plugin, const tapml_op *op, const tapml_value *args);
