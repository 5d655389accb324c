// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A plugin and its components, from found to created. The inventory owns them.
//
// One thread, that of the registry. A failure is a state with a sentence, no status.
#pragma once

#include "base/arena.h"
#include "plugin/handshake.h"
#include "plugin/services.h"

#include <tapml/backend.h>

struct plugin {
    struct manifest manifest; // `id` is NULL if it could not be read.
    const char *path;         // Of the manifest; of the library if there is none.
    const char *library;      // Absolute.
    unsigned tier;
    struct handshake_file file;     // The library when it was found.
    const tapml_plugin *descriptor; // NULL until opened.
    const char *doubt;  // Why other users can change a plugin of tier 2; NULL: none can.
    int is_doubted;     // That was logged.
    const char *remark; // That, and what opening it changed of the process; or "".

    // Of all its components; CANDIDATE_USABLE as long as there is no reason against it.
    enum candidate_state state;
    const char *sentence;
};

enum component_stage { COMPONENT_FOUND, COMPONENT_PROBED, COMPONENT_CREATED };

struct component {
    struct candidate entry; // State and texts for lists.
    struct plugin *plugin;
    const struct manifest_component *manifest; // NULL: the plugin cannot be read.
    const tapml_component *descriptor;         // NULL until the plugin is open.
    struct services services;
    struct tapml_call call;
    enum component_stage stage;
    tapml_object *root;
    const void *table;          // Of its kind.
    const tapml_op *const *ops; // Of a backend's first device; NULL until they were asked for.
    size_t op_count;
    int is_host_memory;         // Known with `ops`.
    int is_refused_for_options; // Because of the value of an option.
    int is_elsewhere;           // Another process opens it; here only if opened by name.
    int is_vetted;              // The registry's `vet` was called.
    struct component *created_before;
};

// Sets the state of a component, or of a plugin, with the message of base/status as its sentence,
// copied into `arena`.
void component_refuse(struct component *component, struct arena *arena, enum candidate_state state);
void component_refuse_plugin(struct plugin *plugin,
                             struct arena *arena,
                             enum candidate_state state);

// Logs, once, that other users can change a plugin that is going to be used here or elsewhere.
void component_warn(struct component *component);

// Opens the plugin of a component, probes the component and creates it, as far as that succeeds.
// Its state is final then, except for the ops of its devices. Does nothing if that was done before.
// Returns whether the component is usable.
//
// `chain` is the head of the list of probed components, the last one first: the order in which they
// are closed.
int component_ready(struct component *component, struct arena *arena, struct component **chain);

// Releases the root and shuts the component down.
void component_close(struct component *component);

// Whether the component is of kind "backend".
int component_is_backend(const struct component *component);

// Whether its manifest says `devices = on-use`: listing its devices is expensive, so they are
// listed only when one is used.
int component_is_asked_late(const struct component *component);
