// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "model/checkpoint.h"
#include "report/querying.h"
#include "run/case_weights.h"
#include "run/pack.h"
#include "run/setup.h"
#include "store/query.h"
#include "store/store.h"
#include "store/store_open.h"

#include <stdio.h>
#include <string.h>

enum { SECONDS = 60, MEMORY_MIB = 1024, ROWS = 1000000000 };

static const struct options_spec specs[] = {
    {"--where", "SQL", "a condition over the columns of the views cases and verdicts"},
    {"--out", "FILE", "the pack, in place of what is there"},
    {"--redact", "WORDS", "prompts: leaves out what has their tokens, and their hashes"},
    {"--model", "PATH", "the weights' folder, a name or a GGUF file; by default those of the run"},
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_pack_manual = {
    .usage = "tapml-host pack DIR --where SQL --out FILE [--redact prompts]",
    .about = "Writes chosen cases of the run in a folder to one file, with the bytes of their "
             "weights, for machines without the model: 'tapml-host replay' and "
             "'tapml-plugin-check --replay' take it. The condition is that of a query "
             "(docs/query.md) over the columns of cases and verdicts, which are NULL where a case "
             "has no result: \"op = 'tapml.attention' AND verdict = 'fail'\". The same condition "
             "over the same run gives the same bytes.",
    .specs = specs,
};

struct packing {
    const struct options *options;
    struct setup setup;
    struct store *store;
    struct checkpoint *checkpoint;
    int64_t *ids;
    size_t count, capacity;
};

static tapml_status take_id(void *user, struct query *query)
{
    struct packing *packing = user;
    void *ids = packing->ids;

    if (!alloc_grow(&ids, &packing->capacity, packing->count, sizeof(*packing->ids))) {
        return status_no_memory();
    }
    packing->ids = ids;
    packing->ids[packing->count++] = query_value(query, 0).integer;
    return TAPML_OK;
}

static tapml_status choose(struct packing *packing, const char *where)
{
    const char *const folders[] = {packing->options->plain[0]};
    struct querying_options querying = {.folders = folders,
                                        .folder_count = 1,
                                        .seconds = SECONDS,
                                        .memory_mib = MEMORY_MIB,
                                        .rows = ROWS,
                                        .take = take_id,
                                        .user = packing};
    struct text sql, none;

    text_init(&sql);
    text_init(&none);
    query_views_choose(where, &sql);
    tapml_status status = text_status(&sql);

    if (status == TAPML_OK) {
        querying.sql = sql.data;
        status = querying_run(&querying, &none);
    }
    text_release(&sql);
    text_release(&none);
    return status;
}

static tapml_status read_redaction(const struct options *options, int *out_redacts)
{
    const char *word = options_get(options, "--redact");

    *out_redacts = word != NULL;
    return word == NULL || strcmp(word, "prompts") == 0
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "--redact is '%s', expected 'prompts'", word);
}

static tapml_status open_store(struct packing *packing)
{
    char *path = file_join(packing->options->plain[0], "run.tapmlrun");
    const tapml_status status =
        path != NULL ? store_open_to_read(path, &packing->store) : status_no_memory();

    alloc_free(path);
    return status == TAPML_OK ? store_begin_to_read(packing->store) : status;
}

static tapml_status write_pack(struct packing *packing, const char *where, const char *path)
{
    struct pack_options options = {.registry = packing->setup.registry,
                                   .store = packing->store,
                                   .checkpoint = packing->checkpoint,
                                   .ids = packing->ids,
                                   .count = packing->count,
                                   .where = where};
    struct pack_counts counts;

    TAPML_TRY(read_redaction(packing->options, &options.redacts));
    TAPML_TRY(pack_write(path, &options, &counts));
    (void)printf("%s: %zu cases", path, counts.cases);
    if (counts.left_out > 0) {
        (void)printf("; %zu others have tokens of prompts and are left out", counts.left_out);
    }
    (void)printf("\n");
    return TAPML_OK;
}

static tapml_status run(const struct command *command, struct packing *packing)
{
    const struct options *options = packing->options;
    const char *where = options_get(options, "--where"), *path = options_get(options, "--out");
    int redacts = 0;

    if (options->plain_count != 1 || where == NULL || path == NULL) {
        return status_fail(TAPML_INVALID, "the folder of a run, --where and --out expected");
    }
    TAPML_TRY(read_redaction(options, &redacts));
    TAPML_TRY(file_try_writing(path));
    interrupt_watch();
    TAPML_TRY(choose(packing, where));
    TAPML_TRY(open_store(packing));
    TAPML_TRY(setup_open(command->program, options, NULL, &packing->setup));
    TAPML_TRY(case_weights_open(&packing->setup, packing->store, options_get(options, "--model"),
                                &packing->checkpoint));
    return write_pack(packing, where, path);
}

enum outcome command_pack_main(const struct command *command)
{
    struct options options;
    struct packing packing = {.options = &options};
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_pack_manual));
    }
    if (status == TAPML_OK) {
        status = run(command, &packing);
    }
    const enum outcome outcome = outcome_report(status);

    setup_close(&packing.setup);
    checkpoint_close(packing.checkpoint);
    store_close(packing.store);
    alloc_free(packing.ids);
    return outcome;
}
