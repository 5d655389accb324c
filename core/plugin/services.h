// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The functions of the host for one component: the tables of tapml/host.h and tapml/model.h, and
// the record of a call into a plugin.
//
// A component's services are called from the thread that calls the component.
#pragma once

#include "base/pool.h"
#include "base/status.h"
#include "plugin/manifest.h"

#include <tapml/host.h>

#include <stdatomic.h>

enum { SERVICES_TEXT_BYTES = 2048 };

// The message of a failed call into a plugin. Reused from call to call.
struct tapml_call {
    atomic_flag busy; // Held while a text is written: `fail` and `blame` come from any thread.
    uint64_t blamed;  // The op call on its queue that the error comes from, from 1; 0: none named.
    char text[SERVICES_TEXT_BYTES];
};

// One component's host. Borrows all that it points to; must not move while the component lives.
struct services {
    tapml_host host; // The table that the component gets.
    const struct manifest_component *component;
    const struct ini *ini; // Of the run, or NULL.
    struct pool *pool;     // NULL: one thread.
};

// `abi_minor` is the smaller one of host and plugin.
void services_init(struct services *services,
                   const struct manifest_component *component,
                   uint32_t abi_minor);

// Whether this host has the interface `id`. [any]
int services_has(const char *id);

// To be called before a call into a plugin: clears the message of the last call, and the one of the
// host's own functions.
void services_begin(struct tapml_call *call);

// To be called after it: returns `status`. The message of a failure is put into base/status, after
// `who` and `method`. If the plugin gave no message, that of the host's function which failed
// inside the call stays.
tapml_status services_end(const struct tapml_call *call,
                          tapml_status status,
                          const char *who,
                          const char *method) STATUS_USED;
