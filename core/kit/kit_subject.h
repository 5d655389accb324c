// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The plugin that a check is made on: its files, and from level `load` on its description.
//
// One thread. All texts live as long as the subject.
#pragma once

#include "kit/kit_check.h"
#include "plugin/manifest.h"

#include <tapml/plugin.h>

struct stand_in;

struct kit_subject {
    const char *library;         // Absolute path.
    const char *manifest_path;   // Of <id>.tapml, or NULL: the library's note alone.
    struct manifest manifest;    // That file's, else the note's.
    const char *component;       // Id of the one that is checked; of a check of the plugin NULL.
    const char *device;          // Id, or NULL: the first one.
    uint32_t minor;              // Of the host that is stood in for.
    uint64_t seed;               // Of what is drawn.
    int number;                  // Of the check,
    const char *what;            // and what it is made by.
    const char *replay;          // A store that somebody brings; or NULL.
    const char *model;           // A model for architectures, as a user writes it; or NULL.
    struct ini options;          // Of components (kit/kit_options.h); all zeros: none.
    uint64_t soak_s;             // How long P-01 lasts.
    const char *const *others;   // Paths of plugins beside it, ended by NULL; or NULL.
    tapml_plugin_query_fn query; // NULL until it is opened.
    const tapml_plugin *plugin;  // Its description.
    const tapml_component *descriptor; // Of `component`.
};

// Reads the manifest of a library, or of a path that ends in ".tapml". TAPML_NOT_FOUND and
// TAPML_INVALID name the file. The caller releases the subject.
tapml_status kit_subject_read(const char *path, struct kit_subject *out_subject) STATUS_USED;
void kit_subject_release(struct kit_subject *subject);

// Opens the library as a host does, without asking it anything. TAPML_INVALID says why it cannot
// be. It stays mapped for the life of the process.
tapml_status kit_subject_open(struct kit_subject *subject) STATUS_USED;

// The question of a host of this minor. Its texts are static.
tapml_query kit_subject_question(uint32_t minor);

// Asks for the description, and finds the component. TAPML_ABI_MISMATCH.
tapml_status kit_subject_ask(struct kit_subject *subject) STATUS_USED;

// The manifest's entry of the component; NULL if there is none.
const struct manifest_component *kit_subject_component(const struct kit_subject *subject);

// A host for the component, of the subject's minor. TAPML_NO_MEMORY. The caller owns
// it.
tapml_status kit_subject_host(const struct kit_subject *subject,
                              struct stand_in **out_host) STATUS_USED;
