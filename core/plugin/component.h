// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A candidate and its components, from found to created. The registry owns them.
//
// One thread, that of the registry.
#pragma once

#include "base/arena.h"
#include "plugin/handshake.h"
#include "plugin/services.h"

#include <tapml/backend.h>

struct plugin {
    struct manifest manifest; // `id` is NULL where it could not be read.
    const char *path;         // Of the manifest; of the library where there is none.
    const char *library;      // Absolute.
    unsigned tier;
    struct handshake_file file;     // The library as it was found.
    const tapml_plugin *descriptor; // NULL until opened.

    // Of all components at once; CANDIDATE_USABLE while nothing is against it.
    enum candidate_state state;
    const char *sentence;
};

enum component_stage { COMPONENT_FOUND, COMPONENT_PROBED, COMPONENT_CREATED };

struct component {
    struct candidate entry; // What is said of it.
    struct plugin *plugin;
    const struct manifest_component *manifest; // NULL: stands for a plugin that cannot be read.
    const tapml_component *descriptor;         // NULL until the plugin is open.
    struct services services;
    struct tapml_call call;
    enum component_stage stage;
    tapml_object *root;
    const void *table;          // Of its kind.
    const tapml_op *const *ops; // Backends: what the first device has; NULL until asked.
    size_t op_count;
    int is_host_memory;         // Known with `ops`.
    int is_refused_for_options; // For the value of one, not for its state.
    int is_elsewhere;           // Another process opens it: here only if it is asked for by name.
    struct component *created_before;
};

// Sets a state with the sentence in base/status. The sentence is kept in `arena`.
void component_refuse(struct component *component, struct arena *arena, enum candidate_state state);
void component_refuse_plugin(struct plugin *plugin,
                             struct arena *arena,
                             enum candidate_state state);

// Brings a component as far as it goes: opens the plugin, probes, creates. Then its state is final
// but for the ops of its devices. Does nothing where that was done. Returns whether it is usable.
//
// `chain` is the head of the list of those that were probed, the last one first: the order in which
// they are closed.
int component_ready(struct component *component, struct arena *arena, struct component **chain);

// Releases the root and shuts the component down.
void component_close(struct component *component);

int component_is_backend(const struct component *component);
int component_is_model(const struct component *component);

// Whether its manifest says `devices = on-use`: asking for them is expensive, so it is
// asked when one is used, and not for a list.
int component_is_asked_late(const struct component *component);
