// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/replay_ahead.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/stages.h"
#include "base/table.h"
#include "base/timeline.h"

#include <inttypes.h>
#include <stdio.h>

enum { WINDOWS = 2, MESSAGE_TEXT = 512 };

// What is known of an op.
enum trust { TRUST_NONE, TRUST_WHOLE, TRUST_LOST };

struct entry {
    struct replay_ahead_case item;
    struct replay_flight *flight;
};

// Cases that are queued together.
struct window {
    struct entry entries[REPLAY_AHEAD_CASES_MAX];
    size_t count, bytes;
    uint64_t queued_ns;        // When that began,
    uint64_t begin_ns, end_ns; // at the far side, and when it had done it,
    uint64_t generation, kills;
    int is_pending; // It was queued, and not waited for.
    int is_broken;  // None of its results is used.
};

struct replay_ahead {
    const struct replay_ahead_options *options;
    struct window windows[WINDOWS];
    struct window *under_way; // The one that was queued last.
    struct table ops;         // By name: enum trust.
    size_t next;              // Case that was not read.
    size_t depth;             // Cases of a window.
    int is_next_alone;
    char *alone_op; // Of that case; or NULL.
    struct replay_ahead_counts counts;
};

const char *replay_ahead_stage_name(enum replay_ahead_stage_kind kind)
{
    static const char *const names[REPLAY_AHEAD_STAGES] = {
        [REPLAY_AHEAD_READ] = "read",   [REPLAY_AHEAD_READY] = "ready",
        [REPLAY_AHEAD_QUEUE] = "queue", [REPLAY_AHEAD_WAIT] = "wait",
        [REPLAY_AHEAD_JUDGE] = "judge", [REPLAY_AHEAD_ALONE] = "alone",
    };
    return names[kind];
}

void replay_ahead_print(const struct replay_ahead_counts *counts, char out_text[REPLAY_AHEAD_TEXT])
{
    int used = snprintf(
        out_text, REPLAY_AHEAD_TEXT,
        "%" PRIu64 " cases, %" PRIu64 " of them alone, in %" PRIu64 " windows of at most %" PRIu64
        ", %" PRIu64 " broken; buffers of at most %" PRIu64 " bytes; %" PRIu64 " launches; %.3f s:",
        counts->cases, counts->alone, counts->windows, counts->largest, counts->broken,
        counts->peak_bytes, counts->launches, (double)counts->elapsed_ns * 1e-9);
    for (int i = 0; i < REPLAY_AHEAD_STAGES && used > 0 && used < REPLAY_AHEAD_TEXT; i++) {
        const struct replay_ahead_stage *stage = &counts->stages[i];
        used += snprintf(out_text + used, REPLAY_AHEAD_TEXT - (size_t)used,
                         "%s %s %.3f s (%" PRIu64 ", %" PRIu64 " bytes)", i > 0 ? "," : "",
                         replay_ahead_stage_name((enum replay_ahead_stage_kind)i),
                         (double)stage->busy_ns * 1e-9, stage->visits, stage->bytes);
    }
}

int replay_ahead_is_possible(struct backend *backend)
{
    uint64_t stamp_ns = 0;
    const tapml_status status = backend_stamp(backend, &stamp_ns);
    return backend_wait(backend) == TAPML_OK && status == TAPML_OK;
}

static void count(struct replay_ahead *ahead,
                  enum replay_ahead_stage_kind kind,
                  uint64_t begin_ns,
                  uint64_t bytes)
{
    struct replay_ahead_stage *stage = &ahead->counts.stages[kind];
    const uint64_t end_ns = clock_now_ns();
    stage->visits++;
    stage->bytes += bytes;
    stage->busy_ns += end_ns - begin_ns;
    timeline_put(timeline_mine(), begin_ns, end_ns,
                 &(struct timeline_span){
                     .kind = "ahead", .name = replay_ahead_stage_name(kind), .bytes = bytes});
}

// -- Which ops -----------------------------------------------------------------------------------

static enum trust trust_of(const struct replay_ahead *ahead, const char *op)
{
    size_t trust = TRUST_NONE;
    return table_find(&ahead->ops, op, &trust) ? (enum trust)trust : TRUST_NONE;
}

static tapml_status note(struct replay_ahead *ahead, const char *op, int is_suspect)
{
    const enum trust before = trust_of(ahead, op);
    const enum trust now = is_suspect ? TRUST_LOST : TRUST_WHOLE;
    return before == TRUST_LOST || before == now ? TAPML_OK : table_set(&ahead->ops, op, now);
}

// -- Filling a window ----------------------------------------------------------------------------

static void drop(struct entry *entry)
{
    arena_destroy(entry->item.arena);
    entry->item.arena = NULL;
}

static void empty(struct window *window)
{
    for (size_t i = 0; i < window->count; i++) {
        drop(&window->entries[i]);
    }
    window->count = window->bytes = 0;
    window->is_broken = 0;
}

// The bytes that a case has in memory.
static uint64_t bytes_of(const struct carved_case *item)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < item->argument_count; i++) {
        const struct case_argument *argument = &item->arguments[i];
        bytes += argument->before ? argument->content_bytes : 0;
        bytes += argument->after ? argument->content_bytes : 0;
    }
    return bytes;
}

static tapml_status read(struct replay_ahead *ahead, struct entry *entry, int *out_is_alone)
{
    const uint64_t begin_ns = clock_now_ns();
    entry->item = (struct replay_ahead_case){.index = ahead->next, .arena = arena_create()};
    if (!entry->item.arena) {
        return status_no_memory();
    }
    const tapml_status status =
        ahead->options->read(ahead->options->user, &entry->item, out_is_alone);
    if (status != TAPML_OK) { // It is said when its turn comes, behind all before it.
        *out_is_alone = 1;
        return status == TAPML_NO_MEMORY ? status : TAPML_OK;
    }
    const uint64_t bytes = bytes_of(&entry->item.item);
    count(ahead, REPLAY_AHEAD_READ, begin_ns, bytes);
    *out_is_alone = *out_is_alone || !entry->item.schema || bytes > REPLAY_AHEAD_BYTES_MAX ||
                    trust_of(ahead, entry->item.item.op_name) != TRUST_WHOLE;
    return TAPML_OK;
}

static tapml_status
make_ready(struct replay_ahead *ahead, struct entry *entry, int *out_is_alone, uint64_t *out_bytes)
{
    const uint64_t begin_ns = clock_now_ns();
    int is_ready = 0;
    TAPML_TRY(entry->flight ? TAPML_OK : replay_flight_create(&entry->flight));
    TAPML_TRY(replay_ready(ahead->options->replay, &entry->item.item, entry->item.schema,
                           entry->flight, &is_ready, out_bytes));
    count(ahead, REPLAY_AHEAD_READY, begin_ns, *out_bytes);
    *out_is_alone = !is_ready || *out_bytes > REPLAY_AHEAD_BYTES_MAX;
    return TAPML_OK;
}

static int has_next(const struct replay_ahead *ahead)
{
    const struct replay_ahead_options *options = ahead->options;
    return ahead->next < options->count && !options->is_over(options->user, ahead->next);
}

// Adds the next case, unless it does not belong there: `*out_is_full`.
static tapml_status add(struct replay_ahead *ahead, struct window *window, int *out_is_full)
{
    struct entry *entry = &window->entries[window->count];
    uint64_t bytes = 0;
    int is_alone = 0;
    tapml_status status = read(ahead, entry, &is_alone);
    if (status == TAPML_OK && !is_alone) {
        status = make_ready(ahead, entry, &is_alone, &bytes);
    }
    *out_is_full = is_alone || window->bytes + bytes > REPLAY_AHEAD_BYTES_MAX;
    if (status != TAPML_OK || *out_is_full) {
        // It is read once more when its turn comes, so that no case is in memory twice.
        const int is_known = is_alone && entry->item.schema != NULL;
        ahead->is_next_alone = is_alone;
        ahead->alone_op = is_known ? alloc_text(entry->item.item.op_name) : NULL;
        drop(entry);
        return status;
    }
    window->bytes += bytes;
    window->count++;
    ahead->next++;
    return TAPML_OK;
}

static tapml_status fill(struct replay_ahead *ahead, struct window *window)
{
    int is_full = 0;
    empty(window);
    while (!is_full && !ahead->is_next_alone && window->count < ahead->depth && has_next(ahead)) {
        TAPML_TRY(add(ahead, window, &is_full));
    }
    return TAPML_OK;
}

// -- A window on its way -------------------------------------------------------------------------

static tapml_status queue_all(struct replay_ahead *ahead, struct window *window)
{
    struct backend *backend = ahead->options->backend;
    for (size_t i = 0; i < window->count; i++) {
        TAPML_TRY(replay_ask(window->entries[i].flight));
    }
    TAPML_TRY(backend_stamp(backend, &window->begin_ns));
    for (size_t i = 0; i < window->count; i++) {
        TAPML_TRY(replay_queue(window->entries[i].flight, 1));
    }
    TAPML_TRY(backend_stamp(backend, &window->end_ns));
    return backend_flush(backend);
}

static void queue(struct replay_ahead *ahead, struct window *window)
{
    struct backend *backend = ahead->options->backend;
    const uint64_t begin_ns = clock_now_ns();
    window->queued_ns = begin_ns;
    window->generation = backend_generation(backend);
    window->kills = backend_kills(backend);
    window->is_pending = 1;
    ahead->under_way = window;
    window->is_broken = queue_all(ahead, window) != TAPML_OK;
    count(ahead, REPLAY_AHEAD_QUEUE, begin_ns, window->bytes);
    ahead->counts.windows++;
    ahead->counts.largest =
        window->count > ahead->counts.largest ? window->count : ahead->counts.largest;
}

static void tune(struct replay_ahead *ahead, const struct window *window)
{
    const uint64_t took_ns = clock_now_ns() - window->queued_ns;
    if (window->is_broken) {
        ahead->depth = 1;
    } else if (took_ns > REPLAY_AHEAD_NS_MAX) {
        ahead->depth = window->count > 1 ? window->count / 2 : 1;
    } else if (window->count == ahead->depth) {
        const size_t most = ahead->options->cases_max;
        ahead->depth = 2 * ahead->depth < most ? 2 * ahead->depth : most;
    }
}

static void settle(struct replay_ahead *ahead, struct window *window)
{
    struct backend *backend = ahead->options->backend;
    if (!window->is_pending) {
        return;
    }
    const uint64_t begin_ns = clock_now_ns();
    const tapml_status status = backend_wait(backend);
    const int has_lost = backend_generation(backend) != window->generation ||
                         backend_kills(backend) != window->kills;
    window->is_pending = 0;
    window->is_broken = window->is_broken || status != TAPML_OK || has_lost;
    if (has_lost) {
        backend_excuse(backend);
    }
    if (!window->is_broken) {
        stages_add("windows", (struct stages_count){.visits = 1,
                                                    .bytes = window->bytes,
                                                    .wall_ns = window->end_ns - window->begin_ns});
    }
    replay_settled(ahead->options->replay);
    count(ahead, REPLAY_AHEAD_WAIT, begin_ns, 0);
    tune(ahead, window);
    ahead->counts.broken += window->is_broken ? 1 : 0;
}

void replay_ahead_settle(struct replay_ahead *ahead)
{
    if (ahead->under_way) {
        settle(ahead, ahead->under_way);
    }
}

// -- Judging -------------------------------------------------------------------------------------

static tapml_status do_alone(struct replay_ahead *ahead, size_t index, const char *op)
{
    const struct replay_ahead_options *options = ahead->options;
    int is_suspect = 0;
    replay_ahead_settle(ahead);
    const uint64_t begin_ns = clock_now_ns();
    TAPML_TRY(options->alone(options->user, index, &is_suspect));
    count(ahead, REPLAY_AHEAD_ALONE, begin_ns, 0);
    stages_add("alone", (struct stages_count){.visits = 1, .wall_ns = clock_now_ns() - begin_ns});
    ahead->counts.cases++;
    ahead->counts.alone++;
    return op ? note(ahead, op, is_suspect) : TAPML_OK;
}

// What was queued behind a call that did harm: the rest of its window, and the window behind it.
static void distrust_followers(struct replay_ahead *ahead, struct window *window)
{
    replay_ahead_settle(ahead);
    window->is_broken = 1;
    if (ahead->under_way) {
        ahead->under_way->is_broken = 1;
    }
    ahead->depth = 1;
}

static tapml_status judge_entry(struct replay_ahead *ahead, struct window *window, size_t at)
{
    const struct replay_ahead_options *options = ahead->options;
    const struct entry *entry = &window->entries[at];
    struct replay_result result;
    const uint64_t begin_ns = clock_now_ns();
    int is_clean = 0, is_suspect = 0;
    if (!window->is_broken && replay_land(entry->flight, &result, &is_clean) != TAPML_OK) {
        distrust_followers(ahead, window);
    }
    if (window->is_broken) {
        return do_alone(ahead, entry->item.index, entry->item.item.op_name);
    }
    if (!is_clean) {
        distrust_followers(ahead, window);
    }
    TAPML_TRY(options->judge(options->user, ahead, &entry->item, &result, &is_suspect));
    count(ahead, REPLAY_AHEAD_JUDGE, begin_ns, bytes_of(&entry->item.item));
    ahead->counts.cases++;
    return note(ahead, entry->item.item.op_name, is_suspect || !is_clean);
}

static tapml_status judge(struct replay_ahead *ahead, struct window *window)
{
    for (size_t i = 0; i < window->count; i++) {
        TAPML_TRY(judge_entry(ahead, window, i));
    }
    return TAPML_OK;
}

// The indices of cases that were judged, in the order in which they are told.
struct judged {
    size_t begin, end;
};

static tapml_status tell(struct replay_ahead *ahead, const struct judged *judged)
{
    const struct replay_ahead_options *options = ahead->options;
    for (size_t i = judged->begin; i < judged->end; i++) {
        TAPML_TRY(options->told(options->user, i));
    }
    return TAPML_OK;
}

// -- The whole -----------------------------------------------------------------------------------

// A case that no window has, when all before it are told.
static tapml_status next_alone(struct replay_ahead *ahead)
{
    const size_t index = ahead->next++;
    char *op = ahead->alone_op;
    ahead->is_next_alone = 0;
    ahead->alone_op = NULL;
    const tapml_status status = do_alone(ahead, index, op);
    alloc_free(op);
    return status == TAPML_OK ? tell(ahead, &(struct judged){index, index + 1}) : status;
}

// One window is queued, the one before it judged, and the next one read.
static tapml_status turn(struct replay_ahead *ahead, struct window *now, struct window *other)
{
    const struct judged judged = {other->count > 0 ? other->entries[0].item.index : 0,
                                  other->count > 0 ? other->entries[other->count - 1].item.index + 1
                                                   : 0};
    if (other->is_broken) { // Its cases are alone, before anything new is queued.
        TAPML_TRY(judge(ahead, other));
        empty(other);
    }
    if (now->count > 0) {
        queue(ahead, now);
    }
    TAPML_TRY(judge(ahead, other));
    TAPML_TRY(fill(ahead, other));
    const uint64_t bytes = now->bytes + other->bytes;
    ahead->counts.peak_bytes = bytes > ahead->counts.peak_bytes ? bytes : ahead->counts.peak_bytes;
    settle(ahead, now);
    return tell(ahead, &judged);
}

static tapml_status run(struct replay_ahead *ahead)
{
    struct window *now = &ahead->windows[0], *other = &ahead->windows[1];
    TAPML_TRY(fill(ahead, now));
    while (now->count > 0 || other->count > 0 || has_next(ahead)) {
        if (now->count == 0 && other->count == 0) {
            TAPML_TRY(ahead->is_next_alone ? next_alone(ahead) : TAPML_OK);
            TAPML_TRY(fill(ahead, now));
            continue;
        }
        TAPML_TRY(turn(ahead, now, other));
        struct window *swapped = now;
        now = other;
        other = swapped;
    }
    return TAPML_OK;
}

tapml_status replay_ahead_run(const struct replay_ahead_options *options,
                              struct replay_ahead_counts *out_counts)
{
    struct replay_ahead ahead = {.options = options, .depth = 1};
    char message[MESSAGE_TEXT];
    const uint64_t launches = backend_launches(options->backend);
    const uint64_t begin_ns = clock_now_ns();
    table_init(&ahead.ops);
    const tapml_status status = run(&ahead);
    (void)snprintf(message, sizeof(message), "%s", status == TAPML_OK ? "" : status_message());
    replay_ahead_settle(&ahead); // What is under way reads memory of the windows.
    for (size_t i = 0; i < WINDOWS; i++) {
        empty(&ahead.windows[i]);
        for (size_t k = 0; k < REPLAY_AHEAD_CASES_MAX; k++) {
            replay_flight_destroy(ahead.windows[i].entries[k].flight);
        }
    }
    table_release(&ahead.ops);
    alloc_free(ahead.alone_op);
    ahead.counts.elapsed_ns = clock_now_ns() - begin_ns;
    ahead.counts.launches = backend_launches(options->backend) - launches;
    *out_counts = ahead.counts;
    return status == TAPML_OK ? TAPML_OK : status_fail(status, "%s", message);
}
