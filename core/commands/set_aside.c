// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/set_aside.h"

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "commands/look_cause.h"
#include "commands/opened_run.h"
#include "store/merge.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"

#include <inttypes.h>
#include <stdio.h>

#define TOOK    "watch.took" // Metadata of a store that has taken over the results of another one.
#define BEFORE  "before.tapmlrun"
#define THE_RUN "run.tapmlrun"

static tapml_status print_path(const struct opened_run *run, const char *name, struct text *out)
{
    text_clear(out);
    text_format(out, "%s/%s", run->config.dir, name);
    return text_status(out);
}

static void remove_store(const struct opened_run *run, const char *glob)
{
    file_remove_all(run->config.dir, glob);
}

static tapml_status
move(const struct opened_run *run, const char *from, const char *to, struct text paths[2])
{
    TAPML_TRY(print_path(run, from, &paths[0]));
    TAPML_TRY(print_path(run, to, &paths[1]));
    return file_exists(paths[0].data) ? file_move(paths[0].data, paths[1].data) : TAPML_OK;
}

// The store is closed. The log goes first: without it the store is as it was a while ago, while a
// log beside a store of another one would be taken for its own.
static tapml_status replace_store(struct opened_run *run, int has_own, struct text paths[2])
{
    if (has_own) {
        TAPML_TRY(move(run, THE_RUN "-wal", BEFORE "-wal", paths));
        TAPML_TRY(move(run, THE_RUN, BEFORE, paths));
    }
    remove_store(run, THE_RUN "*");
    TAPML_TRY(print_path(run, THE_RUN, &paths[0]));
    return store_open(paths[0].data, 1, &run->store);
}

// Sets the store aside. One that was begun in the place of such a store, and has not taken over its
// results, has none of its own.
tapml_status set_aside_store(struct opened_run *run, struct text *cause)
{
    struct text paths[2];

    text_init(&paths[0]);
    text_init(&paths[1]);
    tapml_status status = print_path(run, BEFORE, &paths[0]);

    if (status == TAPML_OK) {
        const int has_own = !file_exists(paths[0].data) || metadata_get(run->store, TOOK) != NULL;

        log_line(LOG_INFO, "%s", status_message());
        look_cause_add(cause,
                       "the run has another model, prompts or settings: its cases were carved "
                       "anew");
        store_close(run->store);
        run->store = NULL;
        status = replace_store(run, has_own, paths);
    }
    text_release(&paths[0]);
    text_release(&paths[1]);
    return status;
}

static tapml_status take_from(struct opened_run *run, const char *path, struct text *cause)
{
    struct merge_counts counts = {0};
    struct store *from = NULL;
    char sentence[96];

    if (store_open_to_read(path, &from) != TAPML_OK) {
        log_line(LOG_WARNING, "results of before cannot be taken over: %s", status_message());
        return TAPML_OK;
    }
    const tapml_status status = merge_results(run->store, from, &counts);

    store_close(from);
    (void)snprintf(sentence, sizeof(sentence), "%" PRId64 " results of cases that stayed were kept",
                   counts.results);
    look_cause_add(cause, sentence);
    return status;
}

// Takes over what a store that was set aside knows of cases that this one has, too.
tapml_status set_aside_take_over(struct opened_run *run, struct text *cause)
{
    struct text path;

    text_init(&path);
    tapml_status status = print_path(run, BEFORE, &path);

    if (status == TAPML_OK && file_exists(path.data)) {
        status = take_from(run, path.data, cause);
        if (status == TAPML_OK) {
            status = metadata_note(run->store, TOOK, "1");
        }
        if (status == TAPML_OK) {
            remove_store(run, BEFORE "*");
        }
    }
    text_release(&path);
    return status;
}
