// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The architecture that is checked, in a host as tapml-host is one, and a configuration that it
// knows: that of the user's model, or of a published one (conf/models).
//
// One thread.
#pragma once

#include "graph/graph.h"
#include "kit/kit_check.h"
#include "plugin/model.h"

struct component;

struct kit_model {
    struct registry *registry;
    struct component *component; // The architecture.
    char *config;                // The text of its config.json.
    char name[128];              // Of the model, for messages.
};

// Opens the host and finds the configuration. Where there is none the check is skipped. Returns
// whether all is there; the caller closes it in either case.
int kit_model_open(const struct kit_subject *subject,
                   struct kit_result *io_result,
                   struct kit_model *out_model);
void kit_model_close(struct kit_model *model);

// How well the architecture says that it fits a configuration. A failure has a message.
tapml_status
kit_model_match(const struct kit_model *model, const char *config, uint32_t *out_score) STATUS_USED;

// Builds the graph of a configuration by the architecture: without weights where `folder` is NULL,
// else from config.json and weights there. The caller closes the model.
tapml_status kit_model_build(const struct kit_model *model,
                             const char *config,
                             const char *folder,
                             struct model **out_model) STATUS_USED;

// How one file of weights differs from what a graph expects.
struct kit_model_change {
    const char *lacks;  // A weight that is not there; or NULL.
    const char *longer; // One whose first axis is longer by one; or NULL.
};

// Writes config.json and model.safetensors into `folder`: all weights of the graph, in f32, as
// zeros that take no room on a disk. TAPML_UNAVAILABLE where they cannot be written.
tapml_status kit_model_write(const struct kit_model *model,
                             const struct graph *graph,
                             const struct kit_model_change *change,
                             const char *folder) STATUS_USED;
