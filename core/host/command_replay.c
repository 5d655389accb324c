// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "host/command.h"

#include "host/interrupt.h"
#include "host/progress.h"
#include "host/report.h"
#include "host/setup.h"

#include <stdio.h>

enum { FAILURES_SHOWN = 20 };

static const struct options_spec specs[] = {
    {"--backend", "B", "COMPONENT or COMPONENT:DEVICE"},
    {"--case", "ID", "one case alone"},
    {"--model", "DIR", "where the weights are; the folder of the run where absent"},
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

static tapml_status show(void *user, size_t done, size_t all)
{
    return progress_show(user, done, all);
}

// The weights of the run's model. A store whose model is gone may carry its weights itself.
static tapml_status
open_weights(struct store *store, const struct options *options, struct checkpoint **out_checkpoint)
{
    char folder[4096];
    const char *given = options_get(options, "--model");
    const char *known = given != NULL ? given : store_fact(store, "model.path");

    (void)snprintf(folder, sizeof(folder), "%s", known != NULL ? known : "");
    if (known == NULL) {
        return TAPML_OK;
    }
    const tapml_status status = checkpoint_open(folder, out_checkpoint);

    return status == TAPML_NOT_FOUND && given == NULL ? TAPML_OK : status;
}

static size_t count_bad(const struct verdict_list *list)
{
    size_t bad = 0;

    for (size_t i = 0; i < list->count; i++) {
        bad += list->items[i].kind == VERDICT_FAIL || list->items[i].kind == VERDICT_ERROR;
    }
    return bad;
}

static tapml_status replay(struct setup *setup,
                           const struct options *options,
                           struct store *store,
                           struct checkpoint **checkpoint,
                           size_t *out_bad)
{
    const char *backend = options_get(options, "--backend");
    struct verdict_list list;
    struct progress progress;
    int64_t case_id = 0;

    TAPML_TRY(options_i64(options, "--case", 0, 1, INT64_MAX, &case_id));
    TAPML_TRY(open_weights(store, options, checkpoint));
    if (backend == NULL) {
        TAPML_TRY(setup_default_backend(setup, &backend));
    }
    TAPML_TRY(setup_place(setup, "target", backend));
    progress_begin(&progress, "replay", 0);
    TAPML_TRY(verdict_all(&(struct verdict_options){.registry = setup->registry,
                                                    .store = store,
                                                    .target = backend,
                                                    .backend = setup->backends[0],
                                                    .checkpoint = *checkpoint,
                                                    .case_id = case_id,
                                                    .fresh = 1,
                                                    .progress = show,
                                                    .user = &progress},
                          &list));
    *out_bad = count_bad(&list);
    progress_end(&progress, "%zu cases, %zu failed", list.count, *out_bad);
    const tapml_status status = report_print_verdicts(&list, FAILURES_SHOWN);

    verdict_list_release(&list);
    return status;
}

enum outcome command_replay_main(const struct command *command)
{
    struct options options;
    struct setup setup;
    struct store *store = NULL;
    struct checkpoint *checkpoint = NULL;
    size_t bad = 0;
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        options_help("replay STORE --backend B [--case ID]",
                     "Replays the cases of a store (a run's run.tapmlrun) on a backend.\n", specs);
        return OUTCOME_OK;
    }
    if (status == TAPML_OK && options.plain_count != 1) {
        status = status_fail(TAPML_INVALID, "one store expected, %zu given", options.plain_count);
    }
    if (status == TAPML_OK) {
        status = store_open(options.plain[0], 0, &store);
    }
    if (status != TAPML_OK) {
        return outcome_report(status);
    }
    status = setup_open(command->program, &options, NULL, &setup);
    if (status == TAPML_OK) {
        interrupt_watch();
        status = replay(&setup, &options, store, &checkpoint, &bad);
        (void)outcome_report(status);
        setup_close(&setup);
    } else {
        (void)outcome_report(status);
    }
    checkpoint_close(checkpoint);
    store_close(store);
    return status != TAPML_OK ? outcome_of(status) : bad > 0 ? OUTCOME_WRONG : OUTCOME_OK;
}
