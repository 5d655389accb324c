// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A host of one component that counts what it gives: the services of plugin/services.h, with memory
// that is counted, may run out, and shows what was written beside it.
//
// The component's calls are made as they come, without the checks of the façade, so that what a
// plugin does wrong is seen where it does it.
//
// A stand-in belongs to one thread; the component may use its services from any.
#pragma once

#include "plugin/services.h"

#include <tapml/plugin.h>

struct stand_in;
struct ini;
struct manifest_component;

struct stand_in_options {
    const tapml_component *component;          // Borrowed, as is
    const struct manifest_component *manifest; // what its manifest says of it.
    const struct ini *ini; // With its options in [component.ID]; or NULL. Borrowed.
    uint32_t minor;        // Of the host that it stands in for: TAPML_ABI_MINOR, or an older one.
};

// Makes the host; nothing of the component is called. TAPML_NO_MEMORY. The caller owns it.
tapml_status stand_in_create(const struct stand_in_options *options,
                             struct stand_in **out_host) STATUS_USED;

// Frees the host; nothing of the component is called. What the component still has of its memory is
// leaked, since it may use it. NULL is allowed.
void stand_in_destroy(struct stand_in *host);

// The record of the calls that are made through this host, emptied. Each call into the plugin gets
// it.
tapml_call *stand_in_call(struct stand_in *host);

// What `fail` was told since, or "".
const char *stand_in_message(const struct stand_in *host);

// The calls of a component's states. Their failures are those of the component, as they are.
tapml_status stand_in_probe(struct stand_in *host);
tapml_status stand_in_open(struct stand_in *host, tapml_object **out_root);
void stand_in_shut(struct stand_in *host);

// What was given and not taken back, of how many; what came back with another size or alignment, or
// with bytes written behind its end.
struct stand_in_memory {
    uint64_t live, live_bytes, count;
    uint64_t mistaken, overrun;
};
struct stand_in_memory stand_in_memory(const struct stand_in *host);

// Calls of `parallel_for` that came from another thread than the one that calls the component: the
// function is of class [object]. Bodies run in the calling thread here.
uint64_t stand_in_foreign_calls(const struct stand_in *host);

// From now on the n-th allocation that is asked for, from 1, and all behind it are refused; 0: none
// is.
void stand_in_refuse(struct stand_in *host, uint64_t n);
