// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/querying.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/pool.h"
#include "config/options.h"
#include "report/query_verdicts.h"
#include "report/run_folders.h"
#include "run/interrupt.h"
#include "store/query_views.h"
#include "store/store.h"
#include "store/store_open.h"

#include <inttypes.h>
#include <stdio.h>

enum { NS = 1000000000, MIB = 1 << 20, PARTS_MAX = 8, MESSAGE_TEXT = 1024 };

enum { VERDICTS = 0 }; // The number of their view.

struct querying {
    const struct querying_options *options;
    uint64_t end_ns;
    struct arena *arena; // Of the paths.
    struct run_folders runs;
    const struct query_view *views[QUERY_VIEWS_MAX];
    size_t view_count;
    struct query *query;
    struct pool *pool;
    struct querying_part *parts; // Of the runs.
};

// -- The runs ----------------------------------------------------------------------------------

static tapml_status find_runs(struct querying *querying)
{
    for (size_t i = 0; i < querying->options->folder_count; i++) {
        TAPML_TRY(run_folders_add(&querying->runs, querying->arena, querying->options->folders[i]));
    }
    return TAPML_OK;
}

// -- Filling -----------------------------------------------------------------------------------

static void find_views(struct querying *querying)
{
    querying->views[VERDICTS] = &query_verdicts_view;
    querying->view_count = 1;
    for (size_t i = 0; query_views_at(i) != NULL; i++) {
        querying->views[querying->view_count++] = query_views_at(i);
    }
}

// Any thread may call it.
static tapml_status check(void *user)
{
    const struct querying *querying = user;

    if (clock_now_ns() > querying->end_ns) {
        return status_fail(TAPML_UNAVAILABLE,
                           "the query has not ended after %" PRId64 " s: --seconds allows more",
                           querying->options->seconds);
    }
    return interrupt_check();
}

// What is read of a run, from its store at one moment.
struct querying_part {
    struct query_rows *rows[QUERY_VIEWS_MAX]; // NULL of a view that the query does not read.
    tapml_status status;
    char message[MESSAGE_TEXT]; // Of a failure: a message belongs to its thread.
};

static tapml_status read_views(struct querying *querying,
                               struct store *store,
                               const char *run,
                               struct querying_part *part)
{
    for (size_t i = 0; i < querying->view_count; i++) {
        if (!query_reads(querying->query, i)) {
            continue;
        }
        TAPML_TRY(query_open_rows(querying->query, i, &part->rows[i]));
        TAPML_TRY(querying->views[i]->from != NULL
                      ? query_rows_copy(part->rows[i], store, run)
                      : query_verdicts_read(store, run, part->rows[i]));
    }
    return check(querying);
}

static tapml_status
read_part(struct querying *querying, const char *run, struct querying_part *part)
{
    struct store *store = NULL;
    char *path = file_join(run, "run.tapmlrun");
    tapml_status status = path != NULL ? store_open_to_read(path, &store) : status_no_memory();

    alloc_free(path);
    TAPML_TRY(status);
    status = store_begin_to_read(store);
    if (status == TAPML_OK) {
        status = read_views(querying, store, run, part);
        store_rollback(store);
    }
    store_close(store);
    return status;
}

static void read_parts(void *user, uint64_t begin, uint64_t end)
{
    struct querying *querying = user;

    for (uint64_t i = begin; i < end; i++) {
        struct querying_part *part = &querying->parts[i];

        part->status = read_part(querying, querying->runs.names[i], part);
        if (part->status != TAPML_OK) {
            (void)snprintf(part->message, sizeof(part->message), "%s", status_message());
        }
    }
}

// The first failure of a run is that of all, as if they were read one after the other.
static tapml_status take_part(struct querying *querying, struct querying_part *part)
{
    if (part->status != TAPML_OK) {
        return status_fail(part->status, "%s", part->message);
    }
    for (size_t i = 0; i < querying->view_count; i++) {
        struct query_rows *rows = part->rows[i];

        part->rows[i] = NULL;
        TAPML_TRY(rows != NULL ? query_add(querying->query, i, rows) : TAPML_OK);
    }
    return TAPML_OK;
}

static void release_parts(struct querying *querying)
{
    for (size_t i = 0; querying->parts != NULL && i < querying->runs.count; i++) {
        for (size_t k = 0; k < querying->view_count; k++) {
            query_rows_destroy(querying->parts[i].rows[k]);
        }
    }
    alloc_free(querying->parts);
}

// Stores are read by several threads. Rows are added in the order of the runs, so that the same
// question has the same answer.
static tapml_status fill(struct querying *querying)
{
    querying->parts = alloc_array(querying->runs.count + 1, sizeof(*querying->parts));
    if (querying->parts == NULL) {
        return status_no_memory();
    }
    pool_run(querying->pool, querying->runs.count, 1, read_parts, querying);
    for (size_t i = 0; i < querying->runs.count; i++) {
        TAPML_TRY(take_part(querying, &querying->parts[i]));
    }
    return TAPML_OK;
}

static int reads_anything(const struct querying *querying)
{
    for (size_t i = 0; i < querying->view_count; i++) {
        if (query_reads(querying->query, i)) {
            return 1;
        }
    }
    return 0;
}

// One thread for each processor and run.
static tapml_status make_pool(struct querying *querying)
{
    TAPML_TRY(pool_create(0, &querying->pool));
    const size_t width = pool_width(querying->pool);
    const size_t wanted = querying->runs.count < PARTS_MAX ? querying->runs.count : PARTS_MAX;

    if (width <= wanted) {
        return TAPML_OK;
    }
    pool_destroy(querying->pool);
    querying->pool = NULL;
    return pool_create((uint32_t)wanted, &querying->pool);
}

// -- The answer --------------------------------------------------------------------------------

static tapml_status too_many_rows(const struct querying *querying)
{
    return status_fail(TAPML_UNAVAILABLE,
                       "these are the first %" PRId64
                       " rows of more: --rows allows more, LIMIT asks "
                       "for fewer",
                       querying->options->rows);
}

static tapml_status take_rows(struct querying *querying, struct query_output *output)
{
    int has = 0;

    for (int64_t count = 0;; count++) {
        TAPML_TRY(query_next(querying->query, &has));
        if (!has) {
            return TAPML_OK;
        }
        if (count == querying->options->rows) {
            return too_many_rows(querying);
        }
        TAPML_TRY(querying->options->take != NULL
                      ? querying->options->take(querying->options->user, querying->query)
                      : query_output_add(output, querying->query));
    }
}

// What is known is printed only if the answer has an end, or as many rows as were asked for.
static tapml_status answer(struct querying *querying, struct text *out_text)
{
    struct query_output output;

    query_output_init(&output, querying->options->form,
                      (uint64_t)querying->options->memory_mib * MIB);
    const tapml_status status = take_rows(querying, &output);

    if (status == TAPML_OK && querying->options->take == NULL) {
        TAPML_TRY(query_output_print(&output, querying->query, out_text));
    } else if (status == TAPML_UNAVAILABLE && output.rows == (size_t)querying->options->rows) {
        TAPML_TRY(query_output_print(&output, querying->query, out_text));
        (void)too_many_rows(querying); // The message, again.
    }
    query_output_release(&output);
    return status;
}

static tapml_status ask(struct querying *querying, struct text *out_text)
{
    const struct query_options options = {
        .views = querying->views,
        .view_count = querying->view_count,
        .memory_bytes = (uint64_t)querying->options->memory_mib * MIB,
        .check = check,
        .user = querying,
    };

    TAPML_TRY(find_runs(querying));
    TAPML_TRY(query_create(&options, &querying->query));
    TAPML_TRY(query_prepare(querying->query, querying->options->sql));
    if (reads_anything(querying)) {
        TAPML_TRY(make_pool(querying));
        TAPML_TRY(fill(querying));
    }
    return answer(querying, out_text);
}

tapml_status querying_run(const struct querying_options *options, struct text *out_text)
{
    struct querying querying = {
        .options = options,
        .end_ns = clock_now_ns() + (uint64_t)options->seconds * NS,
        .arena = arena_create(),
    };

    find_views(&querying);
    const tapml_status status =
        querying.arena != NULL ? ask(&querying, out_text) : status_no_memory();

    release_parts(&querying);
    query_destroy(querying.query);
    pool_destroy(querying.pool);
    run_folders_release(&querying.runs);
    arena_destroy(querying.arena);
    return status == TAPML_NO_MEMORY
               ? status_fail(status,
                             "the query needs more than %" PRId64
                             " MiB: --memory allows more, fewer columns need less",
                             options->memory_mib)
               : status;
}

void querying_print_views(struct text *out_text)
{
    struct querying querying = {.options = NULL};

    find_views(&querying);
    for (size_t i = 0; i < querying.view_count; i++) {
        const struct query_view *view = querying.views[i];

        text_format(out_text, "%s%s: %s\n", i > 0 ? "\n" : "", view->name, view->about);
        for (size_t k = 0; k < view->count; k++) {
            options_append_row(out_text, view->columns[k].name, view->columns[k].about);
        }
    }
}
