// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Architectures: the plugin that recognises a config, and the graph it builds.
//
// One thread. Failures of the plugin name it.
#pragma once

#include "base/status.h"
#include "graph/encode.h"
#include "graph/graph.h"
#include "model/config.h"
#include "model/weights.h"
#include "plugin/registry.h"

struct model;

struct model_options {
    const char *folder;       // Of the model.
    const char *architecture; // Component id that settles the match; or NULL.
    int allow_unknown_keys;
    int without_weights; // Builds from the config alone.

    // What weights are encoded as at load, where that can be; NULL: they stay as they are.
    const tapml_encoding *encoding;
};

// Reads config and weights, asks every architecture for its score, lets the best build the graph
// and checks that every key was understood. A tie names both. The caller owns the model.
tapml_status model_open(struct registry *registry,
                        const struct model_options *options,
                        struct model **out_model) STATUS_USED;
void model_close(struct model *model);

const struct graph *model_graph(const struct model *model);
const struct checkpoint *model_checkpoint(const struct model *model); // NULL: without weights.
const char *model_architecture(const struct model *model);            // Component id.
const char *model_folder(const struct model *model);

// What encoding the weights cost; empty where they stay as they are.
const struct encode_account *model_losses(const struct model *model);

// Appends what became of the keys of config.json, as config_account does.
void model_account(const struct model *model, struct text *out_text);

// Of config, checkpoint and graph.
struct hash model_hash(const struct model *model);

// What an input of TAPML_FROM_FILL is computed for: tokens first .. first + count - 1 of a sequence
// whose longest known length is `length`.
struct model_span {
    int64_t first, count, length;
};

// Computes the input `input` into `target`, which is dense, as tapml_model.fill says.
tapml_status model_fill(struct model *model,
                        const char *input,
                        struct model_span span,
                        void *target,
                        uint64_t target_bytes) STATUS_USED;
