// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/file.h"
#include "config/options.h"
#include "run/case_weights.h"
#include "run/run_lock.h"
#include "run/setup.h"
#include "run/shard_cases.h"
#include "store/merge.h"
#include "store/store.h"
#include "store/store_open.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct options_spec specs[] = {
    {"--into", "DIR", "the folder that receives; made if it is absent"},
    {"--model", "PATH", "of inline: the weights' folder; by default that of the run"},
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_store_manual = {
    .usage = "tapml-host store merge DIR [DIR ...] --into DIR\n"
             "tapml-host store remove RUN DIR\n"
             "tapml-host store inline DIR [--model PATH]",
    .about = "merge adds the prompts, cases and results of the runs in the folders to the "
             "store of another folder. Rows that both have must agree: each that does not "
             "is printed, the row of --into stays, and the exit code is 1. The folders "
             "that are merged are only read. Cases without a result are counted, and shards "
             "(--shard I/N) that are not among them are named.\n"
             "remove takes out what the run with this id has written (table run).\n"
             "inline puts the weights of its cases into a store, which is replayed without the "
             "model from then on.",
    .specs = specs,
};

// The store of a folder, to be written: no host works there meanwhile.
struct receiver {
    struct run_lock *lock;
    struct store *store;
};

static tapml_status open_receiver(const char *folder, int create, struct receiver *out_receiver)
{
    TAPML_TRY(run_lock_take(folder, &out_receiver->lock));
    char *path = file_join(folder, "run.tapmlrun");
    const tapml_status status =
        path != NULL ? store_open(path, create, &out_receiver->store) : status_no_memory();

    alloc_free(path);
    return status;
}

static tapml_status close_receiver(struct receiver *receiver, tapml_status status)
{
    store_close(receiver->store);
    if (receiver->lock != NULL) {
        run_lock_end(receiver->lock, (int)outcome_of(status),
                     status == TAPML_OK ? "" : status_message());
    }
    run_lock_release(receiver->lock);
    return status;
}

static void print_disagreement(void *user, const char *sentence)
{
    (void)printf("disagreement: %s: %s\n", (const char *)user, sentence);
}

static void print_counts(const char *what, const struct merge_counts *counts)
{
    (void)printf("%s: %" PRId64 " prompts, %" PRId64 " calls, %" PRId64 " cases, %" PRId64
                 " results",
                 what, counts->prompts, counts->calls, counts->cases, counts->results);
    if (counts->trials > 0) {
        (void)printf(", %" PRId64 " trials of texts", counts->trials);
    }
    (void)printf("\n");
}

static tapml_status merge_one(struct store *into, const char *folder, int64_t *io_disagreements)
{
    struct store *from = NULL;
    struct merge_counts counts = {0};
    char *path = file_join(folder, "run.tapmlrun");
    tapml_status status = path != NULL ? store_open_to_read(path, &from) : status_no_memory();

    alloc_free(path);
    if (status == TAPML_OK) {
        status = merge_run(into, from, print_disagreement, (void *)(uintptr_t)folder, &counts);
    }
    store_close(from);
    if (status == TAPML_OK) {
        print_counts(folder, &counts);
        *io_disagreements += counts.disagreements;
    }
    return status;
}

// Before the folder is made: a refusal leaves nothing behind.
static tapml_status check_folders(const struct options *options)
{
    for (size_t i = 1; i < options->plain_count; i++) {
        char *path = file_join(options->plain[i], "run.tapmlrun");
        const int is_there = path != NULL && file_exists(path);

        alloc_free(path);
        if (!is_there) {
            return status_fail(TAPML_NOT_FOUND, "there is no store in '%s'", options->plain[i]);
        }
    }
    return TAPML_OK;
}

static tapml_status
merge(const char *into, const struct options *options, int64_t *out_disagreements)
{
    struct receiver receiver = {NULL, NULL};

    TAPML_TRY(check_folders(options));
    TAPML_TRY(file_make_folder(into));
    tapml_status status = open_receiver(into, 1, &receiver);

    for (size_t i = 1; status == TAPML_OK && i < options->plain_count; i++) {
        status = merge_one(receiver.store, options->plain[i], out_disagreements);
    }
    if (status == TAPML_OK) {
        status = shard_cases_print_missing(receiver.store);
    }
    return close_receiver(&receiver, status);
}

static tapml_status remove_run(const char *id, const char *folder)
{
    struct receiver receiver = {NULL, NULL};
    struct merge_counts counts = {0};
    tapml_status status = open_receiver(folder, 0, &receiver);

    if (status == TAPML_OK) {
        status = merge_remove(receiver.store, id, &counts);
    }
    if (status == TAPML_OK) {
        print_counts("removed", &counts);
    }
    return close_receiver(&receiver, status);
}

static tapml_status
put_weights(const struct command *command, const struct options *options, const char *folder)
{
    struct receiver receiver = {NULL, NULL};
    struct setup setup;

    TAPML_TRY(check_folders(options));
    TAPML_TRY(setup_open(command->program, options, NULL, &setup));
    tapml_status status = open_receiver(folder, 0, &receiver);

    if (status == TAPML_OK) {
        status = case_weights_inline(&setup, receiver.store, options_get(options, "--model"));
    }
    status = close_receiver(&receiver, status);
    setup_close(&setup);
    return status;
}

static tapml_status
do_action(const struct command *command, const struct options *options, int64_t *out_disagreements)
{
    const char *action = options->plain_count > 0 ? options->plain[0] : "";
    const char *into = options_get(options, "--into");

    if (strcmp(action, "merge") == 0 && options->plain_count > 1 && into != NULL) {
        return merge(into, options, out_disagreements);
    }
    if (strcmp(action, "remove") == 0 && options->plain_count == 3 && into == NULL) {
        return remove_run(options->plain[1], options->plain[2]);
    }
    if (strcmp(action, "inline") == 0 && options->plain_count == 2 && into == NULL) {
        return put_weights(command, options, options->plain[1]);
    }
    return status_fail(TAPML_INVALID, "store takes 'merge DIR [DIR ...] --into DIR', 'remove RUN "
                                      "DIR' or 'inline DIR', see --help");
}

enum outcome command_store_main(const struct command *command)
{
    struct options options;
    int64_t disagreements = 0;
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_store_manual));
    }
    if (status == TAPML_OK) {
        status = do_action(command, &options, &disagreements);
    }
    return status == TAPML_OK && disagreements > 0 ? OUTCOME_WRONG : outcome_report(status);
}
