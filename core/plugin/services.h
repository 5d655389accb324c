// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the host offers to one component: the tables of tapml/host.h and tapml/model.h, and the
// record of a call into a plugin.
//
// A component's services are called from the thread that calls the component.
#pragma once

#include "base/pool.h"
#include "base/status.h"
#include "plugin/manifest.h"

#include <tapml/host.h>

#include <stdatomic.h>

enum { SERVICES_TEXT_BYTES = 2048 };

// A chain of calls into a plugin: what it said when it failed. Reused from call to call.
struct tapml_call {
    atomic_flag busy; // Held while a text is written: `fail` and `blame` come from any thread.
    uint64_t blamed;  // The op call on its queue that the error comes from, from 1; 0: none named.
    char text[SERVICES_TEXT_BYTES];
};

// One component's host. Borrows all that it points to; must not move while the component lives.
struct services {
    tapml_host host; // What the component gets.
    const struct manifest_component *component;
    const struct ini *ini; // Of the run, or NULL.
    struct pool *pool;     // NULL: one thread.
};

// `abi_minor` is the smaller one of host and plugin.
void services_init(struct services *services,
                   const struct manifest_component *component,
                   uint32_t abi_minor);

// Whether this host has the interface `id` at all.
int services_has(const char *id);

// Before a call into a plugin: forgets what the last one said, also what the host's own functions
// said to it.
void services_begin(struct tapml_call *call);

// Behind it: gives `status` back; a failure's text goes into the record of base/status, led by
// `who` and `method`. Where the plugin said nothing, that of the host's function which failed
// inside stays.
tapml_status services_end(const struct tapml_call *call,
                          tapml_status status,
                          const char *who,
                          const char *method) STATUS_USED;
