// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include <string.h>

static const struct options_spec specs[] = {
    {"--help", NULL, "prints this; COMMAND --help explains a command"},
    {"--version", NULL, "prints the version"},
    {"--describe", NULL,
     "prints commands, options and keys as JSON, of which manual pages are made"},
    {NULL, NULL, NULL},
};

const struct options_manual command_list_manual = {
    .usage = "tapml-host --config FILE\n"
             "tapml-host --check-config FILE\n"
             "tapml-host --explain [KEY]\n"
             "tapml-host COMMAND [OPTIONS]\n"
             "tapml-host help [COMMAND]",
    .about = "Takes a language model from a platform where it runs well to one where it does not "
             "yet: op by op, with tests that were carved from the model itself.",
    .specs = specs,
};

static const struct command_entry entries[] = {
    {"--config", command_run_main, "carve, replay, offload and report, by an INI file",
     &command_run_manual},
    {"--check-config", command_check_main, "report all errors of an INI file, without running it",
     &command_check_manual},
    {"--explain", command_explain_main, "explain a key of the INI file; without KEY list all keys",
     &command_explain_manual},
    {"generate", command_generate_main, "continue a prompt, on any backend or plan",
     &command_generate_manual},
    {"eval", command_eval_main, "compare a model with expected.safetensors beside it",
     &command_eval_manual},
    {"perplexity", command_perplexity_main, "measure how well a model predicts a text",
     &command_perplexity_manual},
    {"tokenize", command_tokenize_main, "print the ids of texts, and their texts again",
     &command_tokenize_manual},
    {"status", command_status_main, "print the progress of a run, during the run or later",
     &command_status_manual},
    {"cost", command_cost_main,
     "say how many places to take, and whether to keep them, for a deadline", &command_cost_manual},
    {"watch", command_watch_main, "replay what a change has made stale, and tell what has turned",
     &command_watch_manual},
    {"select", command_select_main, "choose the cases that are worth replaying within a budget",
     &command_select_manual},
    {"rank", command_rank_main, "find the worst operator, target or backend with few replays",
     &command_rank_manual},
    {"tune", command_tune_main, "find faster settings of a device's kernels, gated by cases",
     &command_tune_manual},
    {"plan", command_plan_main, "search for the best plan of a run, show one, compare two",
     &command_plan_manual},
    {"store", command_store_main, "merge stores of one run, or remove what was merged",
     &command_store_manual},
    {"report", command_report_main, "write the report of a run anew, from its store alone",
     &command_report_manual},
    {"query", command_query_main, "answer a question in SQL over the stores of runs",
     &command_query_manual},
    {"compare", command_compare_main, "print what two runs differ in, or where two dumps diverge",
     &command_compare_manual},
    {"publish", command_publish_main, "write a site with the verdicts of runs, to share",
     &command_publish_manual},
    {"serve", command_serve_main, "let runs on other machines have what a run carves",
     &command_serve_manual},
    {"graph", command_graph_main, "print a model's graph, as text or for Graphviz",
     &command_graph_manual},
    {"models", command_models_main, "list the published models that are known, and their sizes",
     &command_models_manual},
    {"replay", command_replay_main, "replay the cases of a store on a backend",
     &command_replay_manual},
    {"delta", command_delta_main, "write what changes from a base to a fine-tune, or apply it",
     &command_delta_manual},
    {"show", command_show_main, "list the cases of a store, or show what is in one",
     &command_show_manual},
    {"pack", command_pack_main, "write chosen cases of a run to one file, with their weights",
     &command_pack_manual},
    {"find", command_find_main, "find bundles and packs again, by their tags",
     &command_find_manual},
    {"export", command_export_main, "write a case as arrays of NumPy and a test",
     &command_export_manual},
    {"import", command_import_main, "make cases of what another program has dumped",
     &command_import_manual},
    {"judge", command_judge_main, "judge a kernel that was not written for TapML",
     &command_judge_manual},
    {"check-device", command_check_device_main, "test a device's memory and queue, without a model",
     &command_check_device_manual},
    {"plugins", command_plugins_main, "list the plugins that were found, with their states",
     &command_plugins_manual},
    {"devices", command_devices_main, "list the devices, or print the figures of one as a file",
     &command_devices_manual},
    {"pair", command_pair_main, "pair this user with a machine that has targets",
     &command_pair_manual},
    {"forecast", command_forecast_main, "what a device would make of a model, before any kernel",
     &command_forecast_manual},
    {"ops", command_ops_main, "list the ops and the backends that have them", &command_ops_manual},
    {"help", command_help_main, "explain a command, or list all commands", &command_help_manual},
};

const struct command_entry *command_list_at(size_t index)
{
    return index < sizeof(entries) / sizeof(*entries) ? &entries[index] : NULL;
}

const struct command_entry *command_list_find(const char *name)
{
    for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
        if (strcmp(name, entries[i].name) == 0) {
            return &entries[i];
        }
    }
    return NULL;
}
