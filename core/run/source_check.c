// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/source_check.h"

#include "base/arena.h"
#include "base/log.h"
#include "exec/persist.h"
#include "run/setup.h"
#include "store/carved.h"
#include "store/case.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/stored_case.h"
#include "tensor/dtype.h"
#include "verify/replay.h"

#include <stdio.h>
#include <string.h>

enum { FACT_TEXT = 160 };

struct source_check {
    struct store *store;
    const struct setup *setup;
    struct backend *source;
    struct replay *replay;
    size_t different; // Cases that the source computes otherwise now.
    const char *first_op;
};

static int is_same(const struct replay_result *result)
{
    for (uint32_t i = 0; i < result->output_count; i++) {
        const struct replay_output *output = &result->outputs[i];

        if (memcmp(output->expected, output->computed,
                   output->rows * output->width * dtype_bytes(output->dtype)) != 0) {
            return 0;
        }
    }
    return 1;
}

static tapml_status replay_persistently(struct source_check *check,
                                        const struct carved_case *item,
                                        const struct compiled_op *schema,
                                        struct replay_result *out_result)
{
    struct persist persist;
    tapml_status status = TAPML_OK;

    persist_begin(&persist, check->source);
    do {
        status = replay_run(check->replay, item, schema, 0, out_result);
    } while (persist_again(&persist, &status));
    return status;
}

// A source that cannot run its own case any more is another one, too.
static tapml_status
check_case(struct source_check *check, int64_t id, const struct compiled_op *schema)
{
    struct arena *arena = arena_create();
    struct carved_case item;
    struct replay_result result;

    if (arena == NULL) {
        return status_no_memory();
    }
    tapml_status status = stored_case_load(check->store, id, arena, &item);

    if (status == TAPML_OK) {
        status = replay_persistently(check, &item, schema, &result);
    }
    if (status == TAPML_OK && (result.outcome != REPLAY_RAN || !is_same(&result))) {
        check->first_op = check->different == 0 ? schema->op->name : check->first_op;
        check->different++;
    }
    arena_destroy(arena);
    return status;
}

static tapml_status check_op(struct source_check *check, const struct compiled_op *schema)
{
    struct arena *arena = arena_create();
    int64_t *ids = NULL;
    size_t count = 0;

    if (arena == NULL) {
        return status_no_memory();
    }
    tapml_status status = carved_list_op(check->store, schema->op->name, arena, &ids, &count);

    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        status = check_case(check, ids[i], schema);
    }
    arena_destroy(arena);
    return status;
}

static void name_metadata(const tapml_op *op, char out_name[FACT_TEXT])
{
    (void)snprintf(out_name, FACT_TEXT, "source.code.%.120s", op->name);
}

// Ops whose instances come later have been checked by then: their metadata is that of now.
static tapml_status check_ops(struct source_check *check)
{
    const struct graph *graph = model_graph(check->setup->model);
    char name[FACT_TEXT];

    for (uint32_t i = 0; i < graph->op_count; i++) {
        const tapml_op *op = graph->ops[i].op;
        const char *code = backend_identity(check->source, op);

        name_metadata(op, name);
        const char *known = metadata_get(check->store, name);

        if (known != NULL && strcmp(known, code) == 0) {
            continue;
        }
        TAPML_TRY(check_op(check, graph->ops[i].schema));
        TAPML_TRY(metadata_set(check->store, name, code));
    }
    return TAPML_OK;
}

static tapml_status check_all(struct source_check *check)
{
    TAPML_TRY(check_ops(check));
    if (check->different == 0) {
        return TAPML_OK;
    }
    log_line(LOG_WARNING,
             "the source computes %zu carved cases otherwise than before, the first of '%s': all "
             "prompts are carved again",
             check->different, check->first_op);
    return carved_forget(check->store);
}

tapml_status source_check_run(struct store *store, const struct setup *setup)
{
    struct source_check check = {
        .store = store, .setup = setup, .source = setup->places[0]->backend};

    TAPML_TRY(replay_create(check.source, model_checkpoint(setup->model), &check.replay));
    tapml_status status = store_begin(store);

    if (status == TAPML_OK) {
        status = check_all(&check);
        if (status == TAPML_OK) {
            status = store_commit(store);
        }
        if (status != TAPML_OK) {
            store_rollback(store);
        }
    }
    replay_destroy(check.replay);
    return status;
}
