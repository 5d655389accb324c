// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/case_weights.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "model/adapter.h"
#include "model/checkpoint.h"
#include "model/delta.h"
#include "model/weight_files.h"
#include "store/bundle.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/weight.h"
#include "tensor/tiles.h"

#include <stdio.h>
#include <string.h>

static tapml_status encode_all(struct store *store,
                               struct checkpoint *checkpoint,
                               const tapml_encoding *encoding,
                               struct arena *arena)
{
    struct weight_row *rows = NULL;
    struct encoding_loss loss;
    size_t count = 0;

    TAPML_TRY(weight_list(store, arena, &rows, &count));
    for (size_t i = 0; i < count; i++) {
        const struct checkpoint_tensor *tensor = checkpoint_find(checkpoint, rows[i].name);
        const int is_kept = tensor && tensor->tensor.encoding && // In the blocks of its file.
                            !tiles_are_in(tensor->tensor.encoding);
        if (!is_kept && strcmp(rows[i].dtype, "u8") == 0) {
            TAPML_TRY(checkpoint_encode(checkpoint, rows[i].name, encoding, &loss));
        }
    }
    return TAPML_OK;
}

// Encodes the weights that the run of a store had encoded, of a checkpoint just opened.
static tapml_status encode_as_run(struct store *store, struct checkpoint *checkpoint)
{
    const char *word = metadata_get(store, "model.weights");
    const tapml_encoding *encoding = NULL;
    const tapml_status found = word != NULL ? encoding_read(word, &encoding) : TAPML_OK;

    if (encoding == NULL) {
        return found == TAPML_OK ? TAPML_OK : status_explain(found, "the weights of its run");
    }
    struct arena *arena = arena_create();

    if (arena == NULL) {
        return status_no_memory();
    }
    const tapml_status status = encode_all(store, checkpoint, encoding, arena);

    arena_destroy(arena);
    return status;
}

// What the run had beside the folder of its model, as delta_join and adapter_join take it. A bundle
// comes from someone else, who is not to name files of this machine.
static tapml_status join_as_run(struct store *store,
                                const char *name,
                                tapml_status (*join)(const char *, struct checkpoint *),
                                struct checkpoint *checkpoint)
{
    char path[4096] = "";
    const char *known = bundle_is(store) ? NULL : metadata_get(store, name);

    (void)snprintf(path, sizeof(path), "%s", known != NULL ? known : "");
    return path[0] != '\0' ? join(path, checkpoint) : TAPML_OK;
}

// The checkpoint of a folder, as the run had it.
static tapml_status
open_as_run(struct store *store, const char *folder, struct checkpoint **out_checkpoint)
{
    TAPML_TRY(weight_files_open(folder, out_checkpoint));
    tapml_status status = join_as_run(store, "model.delta", delta_join, *out_checkpoint);

    if (status == TAPML_OK) {
        status = join_as_run(store, "model.adapter", adapter_join, *out_checkpoint);
    }
    if (status == TAPML_OK) {
        status = encode_as_run(store, *out_checkpoint);
    }
    if (status != TAPML_OK) {
        checkpoint_close(*out_checkpoint);
        *out_checkpoint = NULL;
    }
    return status;
}

tapml_status case_weights_open(struct setup *setup,
                               struct store *store,
                               const char *given,
                               struct checkpoint **out_checkpoint)
{
    char folder[4096];
    const int is_own = given == NULL && !bundle_is(store);
    const char *known = is_own ? metadata_get(store, "model.path") : NULL;

    *out_checkpoint = NULL;
    if (given != NULL) {
        TAPML_TRY(setup_find_model(setup, given, &known));
    }
    (void)snprintf(folder, sizeof(folder), "%s", known != NULL ? known : "");
    if (known == NULL) {
        return TAPML_OK;
    }
    const tapml_status status = open_as_run(store, folder, out_checkpoint);

    return status == TAPML_NOT_FOUND && given == NULL ? TAPML_OK : status;
}

static tapml_status
inline_one(struct store *store, const struct checkpoint *checkpoint, const struct weight_row *row)
{
    const struct checkpoint_tensor *tensor =
        checkpoint != NULL ? checkpoint_find(checkpoint, row->name) : NULL;
    int is_same = row->is_inline;
    void *copy = NULL;

    if (!row->is_inline) {
        TAPML_TRY(weight_is_same(row, tensor, &is_same));
    }
    if (!is_same) {
        return status_fail(TAPML_PRECONDITION,
                           "%s refers to weight '%.200s', which %s; give --model",
                           store_path(store), row->name,
                           checkpoint == NULL ? "is not in it, and its checkpoint is not there"
                           : tensor == NULL   ? "the checkpoint does not have"
                                              : "has other bytes in the checkpoint");
    }
    if (row->is_inline) {
        return TAPML_OK;
    }
    ASSERT(tensor != NULL); // Its bytes are those of the row.
    const void *data = checkpoint_contents(tensor, &copy);
    const tapml_status status =
        data != NULL ? weight_inline(store, row->name, data, tensor->bytes) : status_no_memory();

    alloc_free(copy);
    return status;
}

static tapml_status
inline_all(struct store *store, const struct checkpoint *checkpoint, struct arena *arena)
{
    struct weight_row *rows = NULL;
    size_t count = 0;

    TAPML_TRY(weight_list(store, arena, &rows, &count));
    TAPML_TRY(store_begin(store));
    for (size_t i = 0; i < count; i++) {
        const tapml_status status = inline_one(store, checkpoint, &rows[i]);

        if (status != TAPML_OK) {
            store_rollback(store);
            return status;
        }
    }
    return store_commit(store);
}

tapml_status case_weights_inline(struct setup *setup, struct store *store, const char *given)
{
    struct checkpoint *checkpoint = NULL;
    struct arena *arena = arena_create();

    if (arena == NULL) {
        return status_no_memory();
    }
    tapml_status status = case_weights_open(setup, store, given, &checkpoint);

    if (status == TAPML_OK) {
        status = inline_all(store, checkpoint, arena);
    }
    checkpoint_close(checkpoint);
    arena_destroy(arena);
    return status;
}
