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

// A run whose store is open, and what was read from it at one moment.
struct querying_part {
    const char *run;
    int has_verdicts; // They are wanted.
    struct store *store;
    struct query_verdicts *verdicts;
    tapml_status status;
    char message[MESSAGE_TEXT]; // Of a failure: a message belongs to its thread.
};

static tapml_status read_part(struct querying_part *part)
{
    char *path = file_join(part->run, "run.tapmlrun");
    const tapml_status status =
        path != NULL ? store_open_to_read(path, &part->store) : status_no_memory();

    alloc_free(path);
    TAPML_TRY(status);
    TAPML_TRY(store_begin_to_read(part->store));
    return part->has_verdicts ? query_verdicts_read(part->store, &part->verdicts) : TAPML_OK;
}

static void read_parts(void *user, uint64_t begin, uint64_t end)
{
    struct querying_part *parts = user;

    for (uint64_t i = begin; i < end; i++) {
        parts[i].status = read_part(&parts[i]);
        if (parts[i].status != TAPML_OK) {
            (void)snprintf(parts[i].message, sizeof(parts[i].message), "%s", status_message());
        }
    }
}

static void close_part(struct querying_part *part)
{
    query_verdicts_destroy(part->verdicts);
    if (part->store != NULL) {
        store_rollback(part->store);
    }
    store_close(part->store);
    *part = (struct querying_part){.run = NULL};
}

static tapml_status fill_from(struct querying *querying, const struct querying_part *part)
{
    if (part->status != TAPML_OK) {
        return status_fail(part->status, "%s", part->message);
    }
    for (size_t i = 0; i < querying->view_count; i++) {
        if (query_reads(querying->query, i)) {
            TAPML_TRY(querying->views[i]->from != NULL
                          ? query_copy(querying->query, i, part->store, part->run)
                          : query_verdicts_add(part->verdicts, querying->query, i, part->run));
        }
    }
    return check(querying);
}

// Stores are read by several threads, a few at a time. Rows are added in the order of the runs, so
// that the same question has the same answer.
static tapml_status fill_from_some(struct querying *querying, size_t first, size_t count)
{
    struct querying_part parts[PARTS_MAX] = {{.run = NULL}};
    tapml_status status = TAPML_OK;

    for (size_t i = 0; i < count; i++) {
        parts[i] = (struct querying_part){
            .run = querying->runs.names[first + i],
            .has_verdicts = query_reads(querying->query, VERDICTS),
        };
    }
    pool_run(querying->pool, count, 1, read_parts, parts);
    for (size_t i = 0; i < count; i++) {
        status = status == TAPML_OK ? fill_from(querying, &parts[i]) : status;
        close_part(&parts[i]);
    }
    return status;
}

static tapml_status fill(struct querying *querying)
{
    const size_t width = pool_width(querying->pool);

    for (size_t first = 0; first < querying->runs.count; first += width) {
        const size_t left = querying->runs.count - first;

        TAPML_TRY(fill_from_some(querying, first, left < width ? left : width));
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
