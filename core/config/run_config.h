// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the INI file of a run says, and what follows from it. config/run_file.h reads the file; to
// add a key, see config/keys.h.
#pragma once

#include "base/ini.h"
#include "base/rate.h"
#include "base/status.h"
#include "choose/choice.h"
#include "config/device_file.h"
#include "config/device_pool.h"
#include "config/problems.h"
#include "config/watch_settings.h"
#include "exec/place.h"
#include "exec/plan.h"
#include "graph/group.h"
#include "offload/loop.h"
#include "plugin/model.h"
#include "verify/fault_rule.h"
#include "verify/invariance_axis.h"

enum {
    RUN_CONFIG_TARGETS_MAX = 7,
    RUN_CONFIG_POOLS_MAX = RUN_CONFIG_TARGETS_MAX,
    RUN_CONFIG_FAULTS_MAX = 32,
    RUN_CONFIG_FORECASTS_MAX = 16,
    RUN_CONFIG_GROUPS_MAX = 16
};

// A [fault.N]: what is injected on a target, to test the tool.
struct run_config_fault {
    const char *target;
    struct fault_rule rule;
};

// A [forecast.NAME]: a device that is known by its figures.
struct run_config_forecast {
    const char *name, *path;
    enum activation activation;
    struct device_file device; // What is in the file. Owned by the configuration,
    char *figures;             // and so is the text of it.
};

// The key [source] store, in whose presence nothing is needed that runs a model.
#define RUN_CONFIG_STORE "source.store"

// A copy refers to what the original owns, of which one is released.
struct run_config {
    struct ini ini; // Owns the texts.
    const char *path;
    const char *dir;
    const char *prompts;
    int64_t decode, capacity, chunk;
    int keep_all;
    int is_coordinated;    // Targets are side by side and keep step (run/case_rounds.h).
    const char *comparers; // Components of plugins that measure outputs, blanks between; or NULL.
    const char *store;     // [source] store: cases of others, and no model is run; or NULL.
    const char *model;     // Or NULL, beside `store`.
    const char *delta;     // Of a fine-tune of the model; or NULL.
    const char *adapter;   // On the model; or NULL.
    const char *architecture; // Or NULL.
    int allow_unknown_keys;
    int plain_inputs;
    const char *weights;            // "stored", or the word of an encoding,
    const tapml_encoding *encoding; // and that, by run_config_find_encoding; NULL: as stored.
    enum state_type state;
    struct place_settings source;
    int64_t source_workers; // Processes that carve.
    const char *shared;     // A folder of what others have carved (run/shared_carving.h); or NULL.
    struct place_settings targets[RUN_CONFIG_TARGETS_MAX]; // "gpu" of [target.gpu].
    size_t target_count;
    struct device_pool pools[RUN_CONFIG_POOLS_MAX]; // In the order of the file.
    size_t pool_count;
    struct group_rule groups[RUN_CONFIG_GROUPS_MAX]; // In the order of the file.
    size_t group_count;
    int64_t offload_prompts;
    enum loop_mode mode;
    const char *policy; // A component of a plugin that orders the kinds to be moved; or NULL.
    const char *select_budget;     // As the file says it, or NULL: all cases are replayed.
    const char *select_policy;     // A component that chooses within it; or NULL.
    const char *order_policy;      // A component that orders what is replayed; or NULL.
    struct choice_settings choice; // What follows from these: run/policies.h opens policies.
    const char *invariance_text;   // [check], as the file says it; or NULL,
    const char *stress_text;       // likewise,
    struct invariance_settings invariance; // and what follows from that.
    struct sharding_options sharding;      // [shard]; without a mesh where it is not there.
    int64_t cache_mib; // Of the store's pages, that stay in memory; 0: as SQLite chooses.
    int64_t ahead;     // Cases on their way to a worker at once, at most; 0: tuned.
    struct watch_settings watch;
    struct run_config_fault faults[RUN_CONFIG_FAULTS_MAX]; // In the order of the file.
    size_t fault_count;
    struct run_config_forecast forecasts[RUN_CONFIG_FORECASTS_MAX]; // In the order of the file.
    size_t forecast_count;
    struct fault_rule *rules; // The same by target: those of `targets`. Owned.
};

// Frees the texts of the file and the rules. It may be called once run_file.h has filled `config`,
// also in part.
void run_config_release(struct run_config *config);

// Finds the encoding of `weights`, which a plugin may bring: behind `encodings_add`.
// TAPML_INVALID names the file, and the words that there are.
tapml_status run_config_find_encoding(struct run_config *config) STATUS_USED;

// What the model is opened with; its encoding has been found.
struct model_options run_config_model(const struct run_config *config);

// What cannot be done on `graph`: rules of [plan] that match no op, faults that nothing triggers.
void run_config_match(const struct run_config *config,
                      const struct graph *graph,
                      struct problems *problems);

// Whether [target.`name`] is there; and the name of a target, or "source", that is nearest to
// `name`, or NULL.
int run_config_has_target(const struct run_config *config, const char *name);
const char *run_config_nearest_target(const struct run_config *config, const char *name);

// The settings of [target.`name`], for a command that is given --target. TAPML_INVALID if the file
// has no such section, or there is no file.
tapml_status run_config_find_target(const struct run_config *config,
                                    const char *name,
                                    struct place_settings *out_settings) STATUS_USED;

// Devices of which the `target`th target has one after the other, or all at once; NULL: it has no
// pool, and one device.
const struct device_pool *run_config_pool(const struct run_config *config, size_t target);

// What a place costs, `rate` of [source] or [target.`name`] (base/rate); no rate where its section
// has none that can be read.
struct rate run_config_rate(const struct run_config *config, const char *name);

// Every rule of [plan] must be one, and name a place that the file has.
tapml_status run_config_check_plan(const struct run_config *config,
                                   struct problems *problems) STATUS_USED;

// What chooses or orders kept cases; NULL: all are replayed as they were carved.
const struct choice_settings *run_config_choice(const struct run_config *config);

// Tokens that a prompt may have, beside what is decoded.
size_t run_config_room(const struct run_config *config);

// What `target` is wanted to run: the rules of [plan], with other targets' places left on the
// source; everything where there is no [plan].
tapml_status run_config_goal(const struct run_config *config,
                             const char *target,
                             struct plan **out_plan) STATUS_USED;
