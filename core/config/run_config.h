// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The INI file of a run, checked: every key known, every value of its kind. To add a key: see
// config/keys.h.
#pragma once

#include "base/ini.h"
#include "base/status.h"
#include "config/isolation.h"
#include "config/problems.h"
#include "exec/plan.h"
#include "offload/loop.h"
#include "plugin/model.h"
#include "verify/fault.h"

enum { RUN_CONFIG_TARGETS_MAX = 7, RUN_CONFIG_FAULTS_MAX = 32 };

struct run_config_target {
    const char *name; // "gpu" of [target.gpu]
    const char *backend;
    struct isolation isolation;
    int require_all; // `require = all`: an op that the target refuses is a failure.
    int is_guarded;  // `guard = on`: runs of the model are guarded too, as every replay is.
    enum activation activation;
};

// A [fault.N]: what is planted on a target, to try the tool.
struct run_config_fault {
    const char *target;
    struct fault_rule rule;
};

// What weights are at load.
enum run_config_weights { RUN_CONFIG_STORED, RUN_CONFIG_Q8_0, RUN_CONFIG_Q4_0 };

struct run_config {
    struct ini ini; // Owns the texts.
    const char *path;
    const char *dir;
    const char *prompts;
    int64_t decode, capacity, chunk;
    int keep_all;
    const char *model;
    const char *architecture; // Or NULL.
    int allow_unknown_keys;
    enum run_config_weights weights;
    const char *source;
    struct isolation source_isolation;
    struct run_config_target targets[RUN_CONFIG_TARGETS_MAX];
    size_t target_count;
    int64_t offload_prompts;
    enum loop_mode mode;
    struct run_config_fault faults[RUN_CONFIG_FAULTS_MAX]; // In the order of the file.
    size_t fault_count;
};

// Reads and checks a file: its keys are the table of config/keys.h. Adds all that is wrong to
// `problems`, with file, line, section and key, and the nearest known one; what could be read is
// there all the same. Fails only where the file cannot be read at all.
tapml_status run_config_survey(const char *path,
                               struct problems *problems,
                               struct run_config *out_config) STATUS_USED;

// The same, where any problem is a failure.
tapml_status run_config_load(const char *path, struct run_config *out_config) STATUS_USED;
void run_config_release(struct run_config *config);

// The word of `weights` in the file: "stored", "q8_0", "q4_0".
const char *run_config_weights(const struct run_config *config);

// What the model is opened with.
struct model_options run_config_model(const struct run_config *config);

// The rules of the faults planted on `target`, in the order of the file, whose texts they borrow.
// `out_rules` has room for RUN_CONFIG_FAULTS_MAX. Returns how many there are.
size_t run_config_faults(const struct run_config *config,
                         const char *target,
                         struct fault_rule *out_rules);

// What cannot be done on `graph`: rules of [plan] that match no op, faults that strike nothing.
void run_config_match(const struct run_config *config,
                      const struct graph *graph,
                      struct problems *problems);

// Tokens that a prompt may have, beside what is decoded.
size_t run_config_room(const struct run_config *config);

// What `target` is wanted to run: the rules of [plan], with other targets' places left on the
// source; everything where there is no [plan].
tapml_status run_config_goal(const struct run_config *config,
                             const char *target,
                             struct plan **out_plan) STATUS_USED;
