// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Architectures: finds the plugin that recognises a config and lets it build the graph.
//
// One thread. Failures are those of the model's files, TAPML_NO_MEMORY, and those of the plugin,
// with its name.
#pragma once

#include "base/status.h"
#include "graph/encode.h"
#include "graph/graph.h"
#include "graph/group.h"
#include "graph/sharding.h"
#include "graph/state_type.h"
#include "model/config.h"
#include "model/weights.h"
#include "plugin/registry.h"

struct model;

struct model_options {
    const char *folder;       // Of the model, or its GGUF file. With `config` a name, for messages.
    const char *config;       // NULL; or the text of config.json, with `without_weights`.
    const char *architecture; // Id of the component to use; NULL: the one with the best score.
    int allow_unknown_keys;
    int without_weights; // Builds from the config alone.

    // Whose weights it has, where they lie, but for those that `delta` and `adapter` change: a
    // model of the same folder, with weights and not divided, that outlives it. NULL: those of the
    // folder.
    const struct model *base;
    const char *delta;   // The file of the difference of a fine-tune (model/delta.h), or NULL.
    int keeps_beside;    // The base's weights stay, its changes are beside them where they can be.
    const char *adapter; // The folder of a LoRA adapter (model/adapter.h), or NULL.

    // The encoding that weights get at load, if it fits them; NULL: they stay as they are.
    const tapml_encoding *encoding;

    enum state_type state;           // Of its keys and values.
    const struct group_rule *groups; // Ops that become one.
    size_t group_count;
    const struct sharding_options *sharding; // Over several places, or NULL.
    int plain_inputs; // Inputs of quantised weights stay as they are, whatever the files say.
};

// Reads config and weights, gets the score of every architecture, lets the best one build the graph
// and checks that every key was read. If two have the best score the message names both. The caller
// owns the model; the registry outlives it. `model_close` accepts NULL.
tapml_status model_open(struct registry *registry,
                        const struct model_options *options,
                        struct model **out_model) STATUS_USED;
void model_close(struct model *model);

// Parts of the model, which live as long as the model.
const struct graph *model_graph(const struct model *model);
const struct checkpoint *model_checkpoint(const struct model *model); // NULL: without weights.
const char *model_architecture(const struct model *model);            // Component id.
const char *model_folder(const struct model *model);

// How the graph is divided over places, and the bytes of weights that were copied for it; NULL
// where it is not. The graph that it was decided for is `graph` of it.
const struct sharding *model_sharding(const struct model *model, uint64_t *out_copied);

// Gives the graph's states of keys and values another type, as a comparison needs it: the hash
// stays that of the type with which the model was opened. No session uses the model.
tapml_status model_set_state(struct model *model, enum state_type type) STATUS_USED;

// The losses by encoding the weights; empty if they stay as they are.
const struct encode_account *model_losses(const struct model *model);

// Appends which keys of config.json were read, as config_account does.
void model_account(const struct model *model, struct text *out_text);

// The hash of config, checkpoint and graph.
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
