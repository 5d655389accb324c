// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The metadata of a run, kept in its store: a restart that differs is refused with the difference.
// One thread; messages name key, found and expected value.
#pragma once

#include "config/run_config.h"
#include "model/prompts.h"
#include "run/run_judge.h"
#include "run/setup.h"

struct arena;
struct store;

// Writes the metadata of a new run, or compares them with those of an earlier start.
tapml_status run_metadata_settle(struct store *store,
                                 const struct run_config *config,
                                 const struct setup *setup,
                                 const struct prompts *prompts) STATUS_USED;

// The metadata of a run over the cases of another store ([source] store), which this one has taken
// over: its targets, the instances that have cases, where limits come from. RUN_METADATA_STORE says
// that it is one, and is the path of the other store.
#define RUN_METADATA_STORE "source.store"
tapml_status run_metadata_settle_cases(struct store *store,
                                       const struct run_config *config,
                                       const struct setup *setup) STATUS_USED;

// The targets of the run alone, as its file has them by now, for a command that replays cases.
tapml_status run_metadata_settle_targets(struct store *store,
                                         const struct run_config *config) STATUS_USED;

// What the model of a run is called, in `arena`: the last part of the path of its folder, else as
// libtapml-carve was told; "" where neither is known, NULL where there is no memory.
const char *run_metadata_model_name(struct store *store, struct arena *arena);

// What sees the calls of a place ("source" or a target's name), under this and the name: as a
// report tells it, and as the run's file has it, for commands that open the place again. For these
// alone, where its machine is.
#define RUN_METADATA_OBSERVERS "observers."
#define RUN_METADATA_OBSERVE   "observe."
#define RUN_METADATA_URL       "url."
#define RUN_METADATA_LISTEN    "listen."

// What the weights of a target went through (exec/ring), as sentences, under this and its name.
#define RUN_METADATA_RING "ring."

// Which settings of `tapml-host tune` a target's kernels have (run/winners), as a sentence, under
// this and its name.
#define RUN_METADATA_TUNING "tuning."

// What a command that is not given the run's file needs to find its plugins (run/follow_up.h), and
// the plugin's component that orders what is moved, where one was asked.
#define RUN_METADATA_ARGUMENTS "run.arguments"
#define RUN_METADATA_POLICY    "offload.policy"

// "1" where the model's text cannot be read, so that prompts are ids alone.
#define RUN_METADATA_NO_TEXT "run.no-text"

// The keys of a model's config.json that are metadata of the run, under RUN_METADATA_MODEL_CONFIG
// and the key, as far as the file has them.
#define RUN_METADATA_MODEL_CONFIG "model.config."
enum { RUN_METADATA_CONFIG_TEXTS = 3, RUN_METADATA_CONFIG_NUMBERS = 9 };
extern const char *const run_metadata_config_texts[RUN_METADATA_CONFIG_TEXTS];
extern const char *const run_metadata_config_numbers[RUN_METADATA_CONFIG_NUMBERS];
