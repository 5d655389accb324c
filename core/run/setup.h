// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What every command that runs a model needs: pool, plugins, model, tokenizer, open backends.
#pragma once

#include "config/options.h"
#include "config/sharding_file.h"
#include "exec/place.h"
#include "exec/session.h"
#include "plugin/encodings.h"
#include "plugin/model.h"
#include "plugin/registry.h"
#include "run/timelines.h"
#include "run/worker_options.h"
#include "tokenizer/special.h"
#include "tokenizer/tokenizer.h"

struct ini;

struct setup {
    const char *program;   // Borrowed.
    const struct ini *ini; // Of the run, borrowed; or what the options --option say; or NULL.
    struct ini *given;     // That of the options; or NULL.
    struct arena *arena;   // Of what outlives the backends: schemas that came from a worker.
    struct pool *pool;
    const char *const *plugins; // Those of --plugin, ended by NULL; their texts are borrowed.
    int is_safe;                // --safe.
    int refuses_named;          // What is named and cannot be used ends the command.
    int ignores_winners;        // Of 'tapml-host tune': devices are as they come.
    struct registry *registry;
    struct plugin_encodings encodings; // Of the registry.
    struct model *model;               // NULL until setup_model.
    struct tokenizer *tokenizer; // NULL where the model has none, or one that is not understood.
    const char *no_text;         // Why that is not understood; NULL: it is, or there is none.
    struct special special;
    struct place_isolation isolation;         // Of what setup_place opens,
    int is_isolation_given;                   // by options; else setup_isolation chooses.
    const char *observers;                    // Of what setup_place opens; or NULL.
    struct ring_settings ring;                // Likewise.
    struct sharding_file sharding;            // Of the model, by --sharding; or zeroed.
    struct place *places[SESSION_PLACES_MAX]; // Own, in the order in which they were added.
    uint32_t place_count;
    struct timelines timelines; // Those of the options, by which each place is drawn.
};

// The options that all commands with plugins have: --plugin, --safe, --threads.
#define SETUP_OPTIONS                                                                              \
    {"--plugin", "FILE",                                                                           \
     "loads a plugin, by its library or manifest, in addition to those found; it has to be "       \
     "usable"},                                                                                    \
        {"--safe", NULL, "searches for plugins in the system's folder only"},                      \
        {"--threads", "N", "threads of the pool; by default one for each processor"},              \
    {                                                                                              \
        "--help", NULL, "prints this"                                                              \
    }

// Those of commands that choose where a backend runs unless they are told (setup_isolation).
#define SETUP_ISOLATION_OPTIONS                                                                    \
    {"--isolation", "never|always|loopback",                                                       \
     "always: in a worker process; by default always for a plugin that was not installed with "    \
     "the host, never for others"},                                                                \
        WORKER_LIMIT_OPTIONS, WORKER_FAR_OPTIONS

// That of commands that use components of plugins without a run's file.
#define SETUP_COMPONENT_OPTION                                                                     \
    {                                                                                              \
        "--option", "COMPONENT.NAME=TEXT",                                                         \
            "an option of a plugin's component; may be given several times"                        \
    }

// Those of them whose backends can be observed (setup_take_observers).
#define SETUP_OBSERVER_OPTIONS                                                                     \
    {"--observe", "ID", "an observer of a plugin sees each call; may be given several times"},     \
        SETUP_COMPONENT_OPTION

// Makes the pool and scans for plugins. TAPML_INVALID if one that is named cannot be used
// (registry_check_named). `ini` may be NULL: then options of components are those of
// --option, TAPML_INVALID if one is none, or if there are both. `program` is argv[0]'s file.
tapml_status setup_open(const char *program,
                        const struct options *options,
                        const struct ini *ini,
                        struct setup *out_setup) STATUS_USED;

// The same where the caller asks registry_check_option of every entry, and registry_check_named of
// every candidate.
tapml_status setup_open_check(const char *program,
                              const struct options *options,
                              const struct ini *ini,
                              struct setup *out_setup) STATUS_USED;

// The same where the caller tells the state of every candidate.
tapml_status setup_open_to_list(const char *program,
                                const struct options *options,
                                const struct ini *ini,
                                struct setup *out_setup) STATUS_USED;

// The same in a process that is there for a plugin, and may be lost with it: none is tried in a
// worker before it is opened.
tapml_status setup_open_bare(const char *program,
                             const struct options *options,
                             const struct ini *ini,
                             struct setup *out_setup) STATUS_USED;
void setup_close(struct setup *setup);

// The options of all commands that open a model: --architecture, --unknown-keys,
// --quantised-inputs, --delta, --adapter.
#define SETUP_MODEL_OPTIONS                                                                        \
    {"--delta", "FILE", "what 'tapml-host delta make' has made of a fine-tune of the model"},      \
        {"--adapter", "DIR", "a LoRA adapter on the model, as PEFT publishes it: docs/deltas.md"}, \
        {"--architecture", "ID",                                                                   \
         "takes this architecture instead of asking all that are installed"},                      \
        {"--unknown-keys", "refuse|allow",                                                         \
         "keys of config.json that the architecture does not read; refused by default"},           \
    {                                                                                              \
        "--quantised-inputs", "stored|plain",                                                      \
            "stored (default): inputs of quantised weights are rounded as the checkpoint says"     \
    }

// Those of commands that divide a model over places.
#define SETUP_SHARDING_OPTION                                                                      \
    {                                                                                              \
        "--sharding", "FILE",                                                                      \
            "divides the model over the places that this INI file names: docs/sharding.md"         \
    }

// The folder of the model that a user writes as a path or by its name (config/model_path.h); it
// lives as long as the setup.
tapml_status
setup_find_model(struct setup *setup, const char *word, const char **out_folder) STATUS_USED;

// Reads the options of SETUP_MODEL_OPTIONS and SETUP_SHARDING_OPTION, and replaces `folder`, as a
// user writes it, by what setup_find_model finds. The other members of `*options` stay, and so do
// `delta` and `adapter` without theirs.
tapml_status setup_read_model(struct setup *setup,
                              const struct options *given,
                              struct model_options *options) STATUS_USED;

// Reads the word of an option that encodes weights at load, a word of tensor/encoding.h or
// 'stored'. NULL and 'stored' leave `*options` as it is; TAPML_INVALID for what is none.
tapml_status setup_read_weights(const char *word, struct model_options *options) STATUS_USED;

// Opens the model and, where there are any, its tokenizer and special ids. A tokenizer.json that is
// not understood is no failure: the sentence stays in `no_text` until the setup is closed.
tapml_status setup_model(struct setup *setup, const struct model_options *options) STATUS_USED;

// Logs in one sentence that the tokenizer.json is not understood, if it is not. A command calls it
// once it knows that it needs no text.
void setup_warn_no_text(const struct setup *setup);

// Adds a place that is not open; it is the setup's. The texts and faults of `settings` are
// borrowed. TAPML_INVALID if there are SESSION_PLACES_MAX already.
tapml_status setup_add_place(struct setup *setup,
                             const struct place_settings *settings,
                             struct place **out_place) STATUS_USED;

// Opens a place of the setup with the chain that its settings ask for: the device in this process,
// also behind a loopback, or in a worker; faults; observers; reduced activations. After a failure
// it is not open.
tapml_status setup_open_place(struct setup *setup, struct place *place) STATUS_USED;

// Where a backend runs: as setup_take_isolation was told; else in this process if its plugin was
// installed with the host (tier 4 of plugin/search), and in a worker if it is a stranger's.
struct place_isolation setup_isolation(const struct setup *setup, const char *backend);

// Both: a place as setup_isolation says, without anything else. Nothing is added after a failure,
// whose message names the place.
tapml_status setup_place(struct setup *setup, const char *name, const char *backend) STATUS_USED;

// Opens the backends of all options "--target NAME=BACKEND" as places.
tapml_status setup_targets(struct setup *setup, const struct options *options) STATUS_USED;

// Adds another place around `base`, with reduced activations (exec/reduced). `name` is borrowed.
tapml_status setup_place_reduced(struct setup *setup,
                                 const char *name,
                                 const struct place *base,
                                 enum activation activation) STATUS_USED;

// The plan that gives everything to the place that was added last. The caller owns it.
tapml_status setup_plan(const struct setup *setup, struct plan **out_plan) STATUS_USED;

// Reads the option --activations; f32 where it is absent. TAPML_INVALID for what is none.
tapml_status setup_read_activations(const struct options *options,
                                    enum activation *out_activation) STATUS_USED;

// Reads the options of run/worker_options into the setup's `isolation`, for setup_isolation.
tapml_status setup_take_isolation(struct setup *setup, const struct options *options) STATUS_USED;

// Joins the values of an option that may be given several times, with blanks between, as a text
// that lives as long as the setup. `*io_names` stays if there are none. TAPML_NO_MEMORY.
tapml_status setup_take_names(struct setup *setup,
                              const struct options *options,
                              const char *option,
                              const char **io_names) STATUS_USED;

// Reads the options --observe into the setup's `observers`. TAPML_NO_MEMORY.
tapml_status setup_take_observers(struct setup *setup, const struct options *options) STATUS_USED;

// The backend for commands without an option that names one: the first component that calibrates
// and can be used, else the first backend that can; of those installed with the host, unless none
// of them can. TAPML_UNAVAILABLE where there is none.
tapml_status setup_default_backend(struct setup *setup, const char **out_name) STATUS_USED;

// Ids of the model's vocabulary: the width of "logits", or 0 where the model has none.
int64_t setup_vocabulary(const struct setup *setup);

// The same of any model.
int64_t setup_vocabulary_of(const struct model *model);

// Refuses to choose `decode` tokens where the model, an encoder, has no logits.
tapml_status setup_check_decode(const struct setup *setup, int64_t decode) STATUS_USED;
