// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The commands of tapml-host, one file each. All take what stands behind their name, as their
// manual says.
#pragma once

#include "config/options.h"
#include "run/outcome.h"

struct command {
    const char *program; // The file of this program, beside which plugins are found; or NULL.
    int argc;
    char **argv;
};

struct command_entry {
    const char *name; // "ops", or an option that is a command: "--config".
    enum outcome (*main)(const struct command *command);
    const char *about; // A few words.
    const struct options_manual *manual;
};

// The commands in the order of help, the first of which is what options alone mean; NULL past the
// last. And the one of a name, or NULL.
const struct command_entry *command_list_at(size_t index);
const struct command_entry *command_list_find(const char *name);

// What tapml-host takes in place of a command.
extern const struct options_manual command_list_manual;

// `tapml-host --describe`: all that it takes, as JSON (run/manual.h).
tapml_status command_describe_print(void) STATUS_USED;

// `tapml-host help [COMMAND]`: all commands, or one.
enum outcome command_help_main(const struct command *command);
extern const struct options_manual command_help_manual;

// `tapml-host --config run.ini`: carve, replay, offload, report.
enum outcome command_run_main(const struct command *command);
extern const struct options_manual command_run_manual;

// `tapml-host --check-config FILE`: all that is wrong with it, without running it.
enum outcome command_check_main(const struct command *command);
extern const struct options_manual command_check_manual;

// `tapml-host --explain KEY`: what a key of a run's INI file does.
enum outcome command_explain_main(const struct command *command);
extern const struct options_manual command_explain_manual;

// From a prompt to text, on any backend or plan.
enum outcome command_generate_main(const struct command *command);
extern const struct options_manual command_generate_manual;

// What changes from a base to a fine-tune, as a file.
enum outcome command_delta_main(const struct command *command);
extern const struct options_manual command_delta_manual;

// A model against what Hugging Face computes.
enum outcome command_eval_main(const struct command *command);
extern const struct options_manual command_eval_manual;

// How well a model predicts a text, and how far it is from the source there.
enum outcome command_perplexity_main(const struct command *command);
extern const struct options_manual command_perplexity_manual;

// Texts to ids and back, by the tokenizer of a folder.
enum outcome command_tokenize_main(const struct command *command);
extern const struct options_manual command_tokenize_manual;

// Faster settings of a device's kernels, that are right.
enum outcome command_tune_main(const struct command *command);
extern const struct options_manual command_tune_manual;

// A model's graph as text, or for Graphviz.
enum outcome command_graph_main(const struct command *command);
extern const struct options_manual command_graph_manual;

// The published models that are known by name.
enum outcome command_models_main(const struct command *command);
extern const struct options_manual command_models_manual;

// The memory and the queue of a device, without a model.
enum outcome command_check_device_main(const struct command *command);
extern const struct options_manual command_check_device_manual;

// The cases of a store on a backend.
enum outcome command_replay_main(const struct command *command);
extern const struct options_manual command_replay_manual;

// The cases of a store, and what is in one of them.
enum outcome command_show_main(const struct command *command);
extern const struct options_manual command_show_manual;

// Chosen cases of a run in one file, with their weights.
enum outcome command_pack_main(const struct command *command);
extern const struct options_manual command_pack_manual;

// Bundles and packs by their tags, wherever they lie.
enum outcome command_find_main(const struct command *command);
extern const struct options_manual command_find_manual;

// A case of a store as files for people without TapML.
enum outcome command_export_main(const struct command *command);
extern const struct options_manual command_export_manual;

// What another program has dumped becomes cases.
enum outcome command_import_main(const struct command *command);
extern const struct options_manual command_import_manual;

// A kernel of an op that was not written for TapML.
enum outcome command_judge_main(const struct command *command);
extern const struct options_manual command_judge_manual;

// What plugins were found, and in which state.
enum outcome command_plugins_main(const struct command *command);
extern const struct options_manual command_plugins_manual;

// Which backend has which op.
enum outcome command_ops_main(const struct command *command);
extern const struct options_manual command_ops_manual;

// The devices of all backends, and the figures of one as a file.
enum outcome command_devices_main(const struct command *command);
extern const struct options_manual command_devices_manual;

// Another machine, paired with this user.
enum outcome command_pair_main(const struct command *command);
extern const struct options_manual command_pair_manual;

// What a device that is known by its figures would make of a model.
enum outcome command_forecast_main(const struct command *command);
extern const struct options_manual command_forecast_manual;

// How far a run is, read from outside.
enum outcome command_status_main(const struct command *command);
extern const struct options_manual command_status_manual;

// What changes beside a run, and what that has done to its verdicts.
enum outcome command_watch_main(const struct command *command);
extern const struct options_manual command_watch_manual;

// Which cases of a run are worth replaying within a budget.
enum outcome command_select_main(const struct command *command);
extern const struct options_manual command_select_manual;

// How many places to take for a run, and whether to keep them.
enum outcome command_cost_main(const struct command *command);
extern const struct options_manual command_cost_manual;

// Which operator, target or backend is worst.
enum outcome command_rank_main(const struct command *command);
extern const struct options_manual command_rank_manual;

// Plans of a run: the best is searched for, one is shown, two are compared.
enum outcome command_plan_main(const struct command *command);
extern const struct options_manual command_plan_manual;

// Stores of one run are merged, and what came is removed again.
enum outcome command_store_main(const struct command *command);
extern const struct options_manual command_store_manual;

// The report of a run from its store, without model and plugins.
enum outcome command_report_main(const struct command *command);
extern const struct options_manual command_report_manual;

// A question in SQL over the stores of runs.
enum outcome command_query_main(const struct command *command);
extern const struct options_manual command_query_manual;

// A site of pages with the verdicts of runs, to share.
enum outcome command_publish_main(const struct command *command);
extern const struct options_manual command_publish_manual;

// What a run carves, for runs on other machines.
enum outcome command_serve_main(const struct command *command);
extern const struct options_manual command_serve_manual;

// What runs differ in, from their stores; or where two dumps diverge.
enum outcome command_compare_main(const struct command *command);
extern const struct options_manual command_compare_manual;
