// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What every command that runs a model needs: pool, plugins, model, tokenizer, open backends.
#pragma once

#include "config/isolation.h"
#include "config/options.h"
#include "exec/residency.h"
#include "exec/session.h"
#include "model/special.h"
#include "model/tokenizer.h"
#include "plugin/model.h"
#include "plugin/registry.h"

struct ini;

struct setup {
    const char *program;   // Borrowed.
    const struct ini *ini; // Of the run, or NULL. Borrowed.
    struct arena *arena;   // Of what outlives the backends: schemas that came from a worker.
    struct pool *pool;
    struct registry *registry;
    struct model *model;         // NULL until setup_model.
    struct tokenizer *tokenizer; // NULL where the model has none, or one that is not understood.
    const char *no_text;         // Why that is not understood; NULL: it is, or there is none.
    struct special special;
    struct backend *backends[SESSION_PLACES_MAX];
    struct backend *inner[SESSION_PLACES_MAX];     // What a loopback is around; or NULL.
    struct residency *weights[SESSION_PLACES_MAX]; // On their devices, shared by all sessions.
    const char *places[SESSION_PLACES_MAX];        // Borrowed.
    uint32_t place_count;
};

// The options that all commands with plugins have: --plugin, --safe, --threads.
#define SETUP_OPTIONS                                                                              \
    {"--plugin", "FILE", "loads a plugin's library in addition to those found"},                   \
        {"--safe", NULL, "searches for plugins in the system's folder only"},                      \
        {"--threads", "N", "threads of the pool; by default one for each processor"},              \
    {                                                                                              \
        "--help", NULL, "prints this"                                                              \
    }

// Makes the pool and scans for plugins. `ini` may be NULL. `program` is argv[0]'s file.
tapml_status setup_open(const char *program,
                        const struct options *options,
                        const struct ini *ini,
                        struct setup *out_setup) STATUS_USED;

// The same where the caller asks registry_check_option of every entry.
tapml_status setup_open_check(const char *program,
                              const struct options *options,
                              const struct ini *ini,
                              struct setup *out_setup) STATUS_USED;
void setup_close(struct setup *setup);

// The options of all commands that open a model: --architecture, --unknown-keys.
#define SETUP_MODEL_OPTIONS                                                                        \
    {"--architecture", "ID", "takes this architecture instead of asking all that are installed"},  \
    {                                                                                              \
        "--unknown-keys", "WORD",                                                                  \
            "refuse (default) or allow keys of config.json that "                                  \
            "the architecture does not read"                                                       \
    }

// Reads the options of SETUP_MODEL_OPTIONS; the other members of `*options` stay.
tapml_status setup_read_model(const struct options *given,
                              struct model_options *options) STATUS_USED;

// Opens the model and, where there are any, its tokenizer and special ids. A tokenizer.json that is
// not understood is no failure: the sentence stays in `no_text` until the setup is closed.
tapml_status setup_model(struct setup *setup, const struct model_options *options) STATUS_USED;

// Logs in one sentence that the tokenizer.json is not understood, if it is not. A command calls it
// once it knows that it needs no text.
void setup_warn_no_text(const struct setup *setup);

// Opens a backend as the next place; `place` is borrowed.
tapml_status setup_place(struct setup *setup, const char *place, const char *backend) STATUS_USED;

// Opens the backends of all options "--target NAME=BACKEND" as places.
tapml_status setup_targets(struct setup *setup, const struct options *options) STATUS_USED;

// The same, where `how` says. `rules` are planted in the worker; there are none otherwise.
tapml_status setup_place_isolated(struct setup *setup,
                                  const char *place,
                                  const char *backend,
                                  const struct isolation *how,
                                  const struct fault_rule *rules,
                                  size_t rule_count) STATUS_USED;

// Takes the next place for a backend that cannot be opened: it has none, and those behind keep
// their numbers.
tapml_status setup_place_absent(struct setup *setup, const char *place) STATUS_USED;

// The backend of the place `index` as one more place, with reduced activations (exec/reduced).
tapml_status setup_place_reduced(struct setup *setup,
                                 const char *place,
                                 uint32_t index,
                                 enum activation activation) STATUS_USED;

// The plan that gives everything to the place that was added last. The caller owns it.
tapml_status setup_plan(const struct setup *setup, struct plan **out_plan) STATUS_USED;

// Reads the option --activations; f32 where it is absent. TAPML_INVALID for what is none.
tapml_status setup_read_activations(const struct options *options,
                                    enum activation *out_activation) STATUS_USED;

// The backend for commands that were told none: the first component that calibrates, else the first
// backend that can be used. TAPML_UNAVAILABLE where there is none.
tapml_status setup_default_backend(struct setup *setup, const char **out_name) STATUS_USED;

// Ids of the model's vocabulary: the width of "logits", or 0 where the model has none.
int64_t setup_vocabulary(const struct setup *setup);

// Refuses to choose `decode` tokens where the model, an encoder, has no logits.
tapml_status setup_check_decode(const struct setup *setup, int64_t decode) STATUS_USED;
