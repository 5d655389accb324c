// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/source_shares.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/log.h"
#include "base/text.h"
#include "carve/seen.h"
#include "choose/split.h"
#include "store/call_line.h"
#include "store/merge.h"
#include "store/prompt.h"
#include "store/store.h"
#include "store/store_open.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char FOLDERS[] = "source-*-of-*";

// -- Who carves what -----------------------------------------------------------------------------

tapml_status source_shares_split(const struct prompts *prompts,
                                 int64_t decode,
                                 uint32_t count,
                                 struct arena *arena,
                                 uint32_t **out_shares)
{
    struct split_item *items = arena_array(arena, prompts->count + 1, sizeof(*items));
    uint32_t *shares = arena_array(arena, prompts->count + 1, sizeof(*shares));

    if (items == NULL || shares == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < prompts->count; i++) {
        char key[HASH_TEXT];

        hash_text(prompts->items[i].id, key);
        items[i] = (struct split_item){.key = arena_text(arena, key),
                                       .cost = (uint64_t)decode + prompts->items[i].count};
        if (items[i].key == NULL) {
            return status_no_memory();
        }
    }
    TAPML_TRY(split_run(items, prompts->count, count, shares));
    *out_shares = shares;
    return TAPML_OK;
}

const char *
source_shares_folder(const char *folder, uint32_t index, uint32_t count, struct arena *arena)
{
    return arena_format(arena, "%s/source-%" PRIu32 "-of-%" PRIu32, folder, index + 1, count);
}

// -- What they have kept -------------------------------------------------------------------------

// A call that a process has kept. Its texts are in the arena.
struct share_candidate {
    int64_t prompt; // Its index.
    size_t share;
    struct call_line call;
};

struct share_store {
    const char *folder;
    struct store *store;
    int64_t *ids; // Of calls that stay kept.
    size_t id_count, id_capacity;
};

struct taking {
    struct arena *arena;
    struct share_store *shares;
    size_t share_count;
    size_t reading; // The share whose calls are read.
    struct share_candidate *candidates;
    size_t count, capacity;
    tapml_status status; // Of the first failure.
};

static tapml_status
copy_call(struct taking *taking, const struct call_line *call, struct call_line *out)
{
    *out = *call;
    out->instance = arena_text(taking->arena, call->instance);
    out->phase = arena_text(taking->arena, call->phase);
    out->shape_class = arena_text(taking->arena, call->shape_class);
    int is_whole = out->instance != NULL && out->phase != NULL && out->shape_class != NULL;

    for (uint32_t i = 0; i < call->output_count; i++) {
        out->outputs[i].param = arena_text(taking->arena, call->outputs[i].param);
        is_whole = is_whole && out->outputs[i].param != NULL;
    }
    return is_whole ? TAPML_OK : status_no_memory();
}

static tapml_status add_candidate(struct taking *taking, const struct call_line *call)
{
    const struct share_store *share = &taking->shares[taking->reading];
    const int64_t prompt = prompt_index(share->store, call->prompt);
    void *grown = taking->candidates;

    if (prompt < 0) { // It has only begun.
        return TAPML_OK;
    }
    if (!alloc_grow(&grown, &taking->capacity, taking->count, sizeof(*taking->candidates))) {
        return status_no_memory();
    }
    taking->candidates = grown;
    struct share_candidate *candidate = &taking->candidates[taking->count];

    *candidate = (struct share_candidate){.prompt = prompt, .share = taking->reading};
    TAPML_TRY(copy_call(taking, call, &candidate->call));
    taking->count++;
    return TAPML_OK;
}

static void visit(void *user, const struct call_line *call)
{
    struct taking *taking = user;

    if (call->is_kept && taking->status == TAPML_OK) {
        taking->status = add_candidate(taking, call);
    }
}

static tapml_status read_store(struct taking *taking, struct share_store *share, const char *path)
{
    TAPML_TRY(store_open_to_read(path, &share->store));
    TAPML_TRY(call_line_visit(share->store, visit, taking));
    return taking->status;
}

// A process that was killed may have left a store that has only begun. Its prompts are missing, and
// are carved. One that cannot be read for another reason is not lost for that.
static tapml_status read_share(struct taking *taking, size_t index)
{
    struct share_store *share = &taking->shares[index];
    const size_t count = taking->count;
    char *path = file_join(share->folder, "run.tapmlrun");

    if (path == NULL) {
        return status_no_memory();
    }
    taking->reading = index;
    tapml_status status = file_exists(path) ? read_store(taking, share, path) : TAPML_OK;

    alloc_free(path);
    if (status == TAPML_INVALID) {
        log_line(LOG_WARNING, "left out, and carved again: %s", status_message());
        store_close(share->store);
        share->store = NULL;
        taking->count = count;
        taking->status = status = TAPML_OK;
    }
    return status;
}

// As one process would have had them: prompts as they stand, calls of each as they were made.
static int by_order(const void *a, const void *b)
{
    const struct share_candidate *one = a, *other = b;

    return one->prompt != other->prompt
               ? (one->prompt < other->prompt ? -1 : 1)
               : (one->call.id > other->call.id) - (one->call.id < other->call.id);
}

static tapml_status keep(struct share_store *share, int64_t id)
{
    void *grown = share->ids;

    if (!alloc_grow(&grown, &share->id_capacity, share->id_count, sizeof(*share->ids))) {
        return status_no_memory();
    }
    share->ids = grown;
    share->ids[share->id_count++] = id;
    return TAPML_OK;
}

static tapml_status choose(struct taking *taking, struct seen *seen, int keep_all)
{
    if (taking->count > 0) {
        qsort(taking->candidates, taking->count, sizeof(*taking->candidates), by_order);
    }
    for (size_t i = 0; i < taking->count; i++) {
        const struct share_candidate *candidate = &taking->candidates[i];
        int is_new = 0;

        TAPML_TRY(seen_add_new(seen, &candidate->call, &is_new));
        TAPML_TRY(is_new || keep_all ? keep(&taking->shares[candidate->share], candidate->call.id)
                                     : TAPML_OK);
    }
    return TAPML_OK;
}

// -- The store of the run ------------------------------------------------------------------------

static void tell(void *user, const char *sentence)
{
    (void)user;
    log_line(LOG_WARNING, "two processes of the source disagree: %s", sentence);
}

static tapml_status
merge_all(struct taking *taking, struct store *store, struct source_shares_counts *counts)
{
    for (size_t i = 0; i < taking->share_count; i++) {
        const struct share_store *share = &taking->shares[i];
        const struct merge_ids ids = {
            .items = share->ids, .count = share->id_count, .are_calls = 1};
        struct merge_counts merged = {0};

        TAPML_TRY(share->store != NULL ? merge_share(store, share->store, &ids, tell, NULL, &merged)
                                       : TAPML_OK);
        counts->prompts += merged.prompts;
        counts->calls += merged.calls;
        counts->cases += merged.cases;
    }
    counts->candidates = (int64_t)taking->count;
    return TAPML_OK;
}

static void close_all(struct taking *taking)
{
    for (size_t i = 0; i < taking->share_count; i++) {
        store_close(taking->shares[i].store);
        alloc_free(taking->shares[i].ids);
    }
    alloc_free(taking->candidates);
}

static void remove_all(const struct taking *taking)
{
    for (size_t i = 0; i < taking->share_count; i++) {
        file_remove_all(taking->shares[i].folder, "run.*");
        (void)rmdir(taking->shares[i].folder); // What is another's stays, with its folder.
    }
}

static tapml_status add_folder(struct taking *taking, const char *path)
{
    struct share_store *share = &taking->shares[taking->share_count];
    const char *name = strrchr(path, '/'); // It is in a folder.

    if (!text_glob(FOLDERS, name + 1) || !file_is_folder(path)) {
        return TAPML_OK;
    }
    share->folder = arena_text(taking->arena, path);
    taking->share_count++;
    return share->folder != NULL ? TAPML_OK : status_no_memory();
}

static tapml_status find_folders(struct taking *taking, const char *folder)
{
    struct folder_names found;
    tapml_status status = folder_list(folder, &found);

    if (status == TAPML_OK) {
        taking->shares = arena_array(taking->arena, found.count + 1, sizeof(*taking->shares));
        status = taking->shares != NULL ? TAPML_OK : status_no_memory();
    }
    for (size_t i = 0; status == TAPML_OK && i < found.count; i++) {
        status = add_folder(taking, found.items[i]);
    }
    folder_release(&found);
    return status;
}

static tapml_status
take(struct taking *taking, struct store *store, int keep_all, struct source_shares_counts *counts)
{
    struct seen seen;

    for (size_t i = 0; i < taking->share_count; i++) {
        TAPML_TRY(read_share(taking, i));
    }
    seen_init(&seen);
    tapml_status status = seen_recall(&seen, store, 0);

    status = status == TAPML_OK ? choose(taking, &seen, keep_all) : status;
    seen_release(&seen);
    return status == TAPML_OK ? merge_all(taking, store, counts) : status;
}

tapml_status source_shares_take(const char *folder,
                                struct store *store,
                                int keep_all,
                                struct source_shares_counts *out_counts)
{
    struct taking taking = {.arena = arena_create()};

    *out_counts = (struct source_shares_counts){0};
    if (taking.arena == NULL) {
        return status_no_memory();
    }
    tapml_status status = find_folders(&taking, folder);

    status = status == TAPML_OK ? take(&taking, store, keep_all, out_counts) : status;
    close_all(&taking);
    if (status == TAPML_OK) {
        remove_all(&taking);
    }
    arena_destroy(taking.arena);
    return status;
}
