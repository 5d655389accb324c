// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "carve/writer.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/stages.h"
#include "base/timeline.h"
#include "carve/blob.h"
#include "choose/feature_set.h"
#include "model/checkpoint.h"
#include "store/call_line.h"
#include "store/prompt.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"
#include "store/weight.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct writer {
    struct store *store; // The thread's, once it runs, as all until the next gap.
    int is_in_transaction;
    uint64_t chunk_bytes; // Of the items in it so far,
    uint64_t step_bytes;  // and of those in the step.

    pthread_t thread;
    int is_running;               // The caller's.
    struct timeline_track *track; // Of the thread; or NULL.

    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct writer_item *first, *last;
    uint64_t queued_bytes; // Of items in the queue and of the one being written.
    int is_due;            // The thread is to write what is in the queue.
    int is_ending;
    tapml_status status; // The first failure of the thread.
    char message[512];
};

struct writer_item *writer_item_create(enum writer_kind kind)
{
    struct arena *arena = arena_create();
    struct writer_item *item = arena ? alloc_new(sizeof(*item)) : NULL;
    if (!item) {
        arena_destroy(arena);
        return NULL;
    }
    item->kind = kind;
    item->arena = arena;
    item->bytes = sizeof(*item);
    return item;
}

static void drop_blobs(struct writer_item *item)
{
    while (item->blob_count > 0) {
        blob_unref(item->blobs[--item->blob_count]);
    }
}

void writer_item_destroy(struct writer_item *item)
{
    if (item) {
        drop_blobs(item);
        arena_destroy(item->arena);
        alloc_free(item);
    }
}

// Copies a text to `*end`, which moves behind it.
static const char *copy_text(const char *text, char **end)
{
    const size_t size = strlen(text) + 1;
    char *copy = memcpy(*end, text, size);
    *end += size;
    return copy;
}

struct writer_item *writer_item_create_line(const struct call_line *line)
{
    size_t size = sizeof(struct writer_item) + strlen(line->instance) + strlen(line->phase) +
                  strlen(line->shape_class) + 3;
    for (uint32_t i = 0; i < line->output_count; i++) {
        size += strlen(line->outputs[i].param) + 1;
    }
    struct writer_item *item = alloc_raw(size);
    if (!item) {
        return NULL;
    }
    char *end = (char *)(item + 1);
    *item = (struct writer_item){.kind = WRITER_CALL, .bytes = size, .call = *line};
    item->call.instance = copy_text(line->instance, &end);
    item->call.phase = copy_text(line->phase, &end);
    item->call.shape_class = copy_text(line->shape_class, &end);
    for (uint32_t i = 0; i < line->output_count; i++) {
        item->call.outputs[i].param = copy_text(line->outputs[i].param, &end);
    }
    return item;
}

void writer_item_reset(struct writer_item *item)
{
    drop_blobs(item);
    arena_reset(item->arena);
    *item = (struct writer_item){.kind = item->kind, .arena = item->arena, .bytes = sizeof(*item)};
}

static tapml_status write_weight(struct store *store, const struct writer_weight *weight)
{
    void *copy = NULL;
    const void *data = weight->tensor ? checkpoint_contents(weight->tensor, &copy) : weight->data;
    if (!data) {
        return status_no_memory();
    }
    const tapml_status status = weight_add(store, weight->name, weight->dtype, data, weight->bytes);
    alloc_free(copy);
    return status;
}

static tapml_status write_call(struct store *store, const struct writer_item *item)
{
    for (uint32_t i = 0; i < item->weight_count; i++) {
        TAPML_TRY(write_weight(store, &item->weights[i]));
    }
    if (item->call.is_kept) {
        TAPML_TRY(stored_case_add(store, &item->item));
        TAPML_TRY(feature_set_add(store, &item->item, item->arena));
    }
    return call_line_add(store, &item->call);
}

static tapml_status begin(struct writer *writer)
{
    if (!writer->is_in_transaction) {
        TAPML_TRY(store_begin(writer->store));
        writer->is_in_transaction = 1;
    }
    return TAPML_OK;
}

static tapml_status commit(struct writer *writer)
{
    const int has_begun = writer->is_in_transaction;
    writer->is_in_transaction = 0;
    writer->chunk_bytes = 0;
    return has_begun ? store_commit(writer->store) : TAPML_OK;
}

static tapml_status write_item(struct writer *writer, const struct writer_item *item)
{
    writer->chunk_bytes += item->bytes;
    writer->step_bytes += item->bytes;
    switch (item->kind) {
    case WRITER_CALL:
        TAPML_TRY(begin(writer));
        TAPML_TRY(write_call(writer->store, item));
        return writer->chunk_bytes >= WRITER_CHUNK_BYTES ? commit(writer) : TAPML_OK;
    case WRITER_PROMPT:
        TAPML_TRY(begin(writer));
        return prompt_add(writer->store, &item->prompt);
    case WRITER_COMMIT:
        break;
    }
    TAPML_TRY(commit(writer));
    writer->step_bytes = 0;
    return TAPML_OK;
}

// The same, put down on the timeline.
static tapml_status write_seen(struct writer *writer, const struct writer_item *item)
{
    static const char *const names[] = {
        [WRITER_CALL] = "call", [WRITER_PROMPT] = "prompt", [WRITER_COMMIT] = "commit"};
    const uint64_t begin_ns = timeline_begin(writer->track);
    const tapml_status status = write_item(writer, item);
    timeline_end(writer->track, begin_ns,
                 &(struct timeline_span){.kind = "write",
                                         .name = item->call.is_kept ? "case" : names[item->kind],
                                         .detail = item->call.instance,
                                         .bytes = item->bytes});
    return status;
}

// The next item, or NULL at the end. The lock is held.
static struct writer_item *take(struct writer *writer)
{
    writer->is_due = writer->is_due && writer->first;
    while (!writer->is_due && !writer->is_ending) {
        (void)pthread_cond_wait(&writer->changed, &writer->lock); // Fails on misuse alone.
    }
    struct writer_item *item = writer->first;
    if (item) {
        writer->first = item->next;
        writer->last = writer->first ? writer->last : NULL;
    }
    return item;
}

static void *run(void *user)
{
    struct writer *writer = user;
    (void)pthread_mutex_lock(&writer->lock);
    struct writer_item *item = take(writer);
    while (item) {
        const int goes_on = writer->status == TAPML_OK;
        (void)pthread_mutex_unlock(&writer->lock);
        tapml_status status = goes_on ? write_seen(writer, item) : TAPML_OK;
        if (status == TAPML_UNAVAILABLE) { // The message says how much room to make.
            status = status_explain(status, "a step needs at most %llu bytes",
                                    (unsigned long long)writer->step_bytes);
        }
        const uint64_t bytes = item->bytes;
        writer_item_destroy(item);
        (void)pthread_mutex_lock(&writer->lock);
        if (status != TAPML_OK) {
            writer->status = status;
            (void)snprintf(writer->message, sizeof(writer->message), "%s", status_message());
        }
        writer->queued_bytes -= bytes;
        timeline_count(writer->track, "bytes that wait to be written", writer->queued_bytes);
        (void)pthread_cond_broadcast(&writer->changed);
        item = take(writer);
    }
    (void)pthread_mutex_unlock(&writer->lock);
    store_rollback(writer->store);
    return NULL;
}

tapml_status writer_create(const char *store_path, struct writer **out_writer)
{
    struct writer *writer = alloc_new(sizeof(*writer));
    if (!writer) {
        return status_no_memory();
    }
    (void)pthread_mutex_init(&writer->lock, NULL); // Cannot fail on Linux.
    (void)pthread_cond_init(&writer->changed, NULL);
    writer->track = timeline_beside("writer");
    tapml_status status = store_open(store_path, 1, &writer->store);
    if (status == TAPML_OK) {
        const int error = pthread_create(&writer->thread, NULL, run, writer);
        writer->is_running = error == 0;
        if (error != 0) {
            status = status_fail(TAPML_UNAVAILABLE, "cannot start the writer's thread: %s",
                                 strerror(error));
        }
    }
    if (status != TAPML_OK) {
        writer_destroy(writer);
        return status;
    }
    *out_writer = writer;
    return TAPML_OK;
}

// Wakes the thread. The lock is held.
static void make_due(struct writer *writer)
{
    if (!writer->is_due) {
        writer->is_due = 1;
        (void)pthread_cond_broadcast(&writer->changed);
    }
}

static int has_room(const struct writer *writer, const struct writer_item *item)
{
    return writer->queued_bytes == 0 || writer->queued_bytes + item->bytes <= WRITER_QUEUE_BYTES;
}

void writer_push(struct writer *writer, struct writer_item *item)
{
    (void)pthread_mutex_lock(&writer->lock);
    if (!has_room(writer, item)) {
        const uint64_t begin_ns = timeline_begin(timeline_mine());
        const enum stages_kind before = stages_enter(STAGES_RECORD);
        while (!has_room(writer, item)) {
            make_due(writer);
            (void)pthread_cond_wait(&writer->changed, &writer->lock);
        }
        stages_return(before, 0);
        timeline_end(timeline_mine(), begin_ns,
                     &(struct timeline_span){.kind = "wait", .name = "wait for the writer"});
    }
    item->next = NULL;
    if (writer->last) {
        writer->last->next = item;
    } else {
        writer->first = item;
    }
    writer->last = item;
    writer->queued_bytes += item->bytes;
    if (item->kind == WRITER_COMMIT || writer->queued_bytes >= WRITER_BATCH_BYTES) {
        make_due(writer);
    }
    (void)pthread_mutex_unlock(&writer->lock);
}

tapml_status writer_status(struct writer *writer)
{
    (void)pthread_mutex_lock(&writer->lock);
    const tapml_status status =
        writer->status == TAPML_OK ? TAPML_OK : status_fail(writer->status, "%s", writer->message);
    (void)pthread_mutex_unlock(&writer->lock);
    return status;
}

static void end_thread(struct writer *writer)
{
    if (!writer->is_running) {
        return;
    }
    (void)pthread_mutex_lock(&writer->lock);
    writer->is_ending = 1;
    (void)pthread_cond_broadcast(&writer->changed);
    (void)pthread_mutex_unlock(&writer->lock);
    const uint64_t begin_ns = timeline_begin(timeline_mine());
    const enum stages_kind before = stages_enter(STAGES_RECORD);
    (void)pthread_join(writer->thread, NULL);
    stages_return(before, 0);
    timeline_end(timeline_mine(), begin_ns,
                 &(struct timeline_span){.kind = "wait", .name = "wait for the writer"});
    writer->is_running = 0;
}

tapml_status writer_finish(struct writer *writer)
{
    end_thread(writer);
    return writer_status(writer);
}

void writer_destroy(struct writer *writer)
{
    if (!writer) {
        return;
    }
    end_thread(writer);
    store_close(writer->store);
    (void)pthread_cond_destroy(&writer->changed);
    (void)pthread_mutex_destroy(&writer->lock);
    alloc_free(writer);
}
