// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// tapml-host: takes a language model from a platform where it runs well to one where it does not
// yet.

#include "commands/command.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct entry {
    const char *name;
    enum outcome (*main)(const struct command *command);
    const char *about;
};

static const struct entry entries[] = {
    {"--config", command_run_main, "carve, replay, offload and report, by an INI file"},
    {"--check-config", command_check_main, "report all errors of an INI file, without running it"},
    {"--explain", command_explain_main, "explain a key of the INI file; without KEY list all keys"},
    {"generate", command_generate_main, "continue a prompt, on any backend or plan"},
    {"eval", command_eval_main, "compare a model with expected.safetensors beside it"},
    {"perplexity", command_perplexity_main, "measure how well a model predicts a text"},
    {"tokenize", command_tokenize_main, "print the ids of texts, and their texts again"},
    {"status", command_status_main, "print the progress of a run, during the run or later"},
    {"store", command_store_main, "merge stores of one run, or remove what was merged"},
    {"report", command_report_main, "write the report of a run anew, from its store alone"},
    {"compare", command_compare_main, "print what two runs differ in, or where two dumps diverge"},
    {"graph", command_graph_main, "print a model's graph, as text or for Graphviz"},
    {"models", command_models_main, "list the published models that are known, and their sizes"},
    {"replay", command_replay_main, "replay the cases of a store on a backend"},
    {"show", command_show_main, "list the cases of a store, or show what is in one"},
    {"export", command_export_main, "write a case as arrays of NumPy and a test"},
    {"import", command_import_main, "make cases of what another program has dumped"},
    {"judge", command_judge_main, "judge a kernel that was not written for TapML"},
    {"check-device", command_check_device_main,
     "test a device's memory and queue, without a model"},
    {"plugins", command_plugins_main, "list the plugins that were found, with their states"},
    {"devices", command_devices_main, "list the devices, or print the figures of one as a file"},
    {"forecast", command_forecast_main, "what a device would make of a model, before any kernel"},
    {"ops", command_ops_main, "list the ops and the backends that have them"},
};

static void print_help(void)
{
    (void)puts("usage: tapml-host --config run.ini\n"
               "       tapml-host --check-config run.ini\n"
               "       tapml-host --explain [KEY]\n"
               "       tapml-host COMMAND [OPTIONS]\n");
    for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
        (void)printf("  %-14s  %s\n", entries[i].name, entries[i].about);
    }
    (void)puts(
        "\n'tapml-host COMMAND --help' explains a command.\n"
        "Exit codes: 0 success, 1 a target is wrong or two runs differ, 2 usage or configuration,\n"
        "3 the environment lacks something, 130 interrupted.");
}

// The options of a run, a check and an explanation stand in any order; what names none of them is a
// run's.
static const struct entry *find_option(int argc, char **argv)
{
    for (int at = 1; at < argc; at++) {
        for (size_t i = 1; i < sizeof(entries) / sizeof(*entries); i++) {
            const size_t length = strlen(entries[i].name);

            if (strncmp(entries[i].name, "--", 2) == 0 &&
                strncmp(argv[at], entries[i].name, length) == 0 &&
                (argv[at][length] == '\0' || argv[at][length] == '=')) {
                return &entries[i];
            }
        }
    }
    return &entries[0];
}

// The file that runs, whatever it was called by: a name that was found by PATH has no folder, and
// one of that name in the current folder is another file. NULL where nothing says it.
static const char *find_program(const char *called, char *out_path, size_t size)
{
    const ssize_t length = readlink("/proc/self/exe", out_path, size);

    if (length > 0 && (size_t)length < size) {
        out_path[length] = '\0';
        return out_path;
    }
    return strchr(called, '/') != NULL ? called : NULL;
}

static enum outcome run(int argc, char **argv)
{
    char path[PATH_MAX];
    const char *program = argc > 0 ? find_program(argv[0], path, sizeof(path)) : NULL;

    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        print_help();
        return argc < 2 ? OUTCOME_USAGE : OUTCOME_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        (void)puts("tapml-host " TAPML_VERSION);
        return OUTCOME_OK;
    }
    if (strncmp(argv[1], "--", 2) == 0) {
        const struct entry *entry = find_option(argc, argv);

        return entry->main(&(struct command){program, argc - 1, argv + 1});
    }
    for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
        if (strcmp(argv[1], entries[i].name) == 0) {
            return entries[i].main(&(struct command){program, argc - 2, argv + 2});
        }
    }
    (void)fprintf(stderr, "tapml-host: unknown command '%s', see --help\n", argv[1]);
    return OUTCOME_USAGE;
}

int main(int argc, char **argv)
{
    // A file at its limit is a failed write with a sentence, and not the end.
    (void)signal(SIGXFSZ, SIG_IGN);
    return (int)outcome_finish(run(argc, argv));
}
