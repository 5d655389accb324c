// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the INI file of a run says, and what follows from it. config/run_file.h reads the file; to
// add a key, see config/keys.h.
#pragma once

#include "base/ini.h"
#include "base/status.h"
#include "config/isolation.h"
#include "config/problems.h"
#include "exec/plan.h"
#include "offload/loop.h"
#include "plugin/model.h"
#include "verify/fault_rule.h"

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

// Frees the texts of the file. It may be called once run_file.h has filled `config`, also in part.
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

// Whether [target.`name`] is there; and the name of a target, or "source", that is nearest to
// `name`, or NULL.
int run_config_has_target(const struct run_config *config, const char *name);
const char *run_config_nearest_target(const struct run_config *config, const char *name);

// Every rule of [plan] must be one, and name a place that the file has.
tapml_status run_config_check_plan(const struct run_config *config,
                                   struct problems *problems) STATUS_USED;

// Tokens that a prompt may have, beside what is decoded.
size_t run_config_room(const struct run_config *config);

// What `target` is wanted to run: the rules of [plan], with other targets' places left on the
// source; everything where there is no [plan].
tapml_status run_config_goal(const struct run_config *config,
                             const char *target,
                             struct plan **out_plan) STATUS_USED;
