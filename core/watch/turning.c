// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "watch/turning.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/table.h"
#include "store/carved.h"
#include "watch/sampling.h"

#include <math.h>
#include <string.h>

static enum turning_rank rank_of(enum verdict_kind kind)
{
    return kind == VERDICT_PASS                            ? TURNING_RIGHT
           : kind == VERDICT_FAIL || kind == VERDICT_ERROR ? TURNING_WRONG
                                                           : TURNING_UNKNOWN;
}

enum turning_rank turning_rank(const char *verdict)
{
    static const enum verdict_kind ranked[] = {VERDICT_PASS, VERDICT_FAIL, VERDICT_ERROR};

    for (size_t i = 0; i < sizeof(ranked) / sizeof(*ranked); i++) {
        if (strcmp(verdict, verdict_name(ranked[i])) == 0) {
            return rank_of(ranked[i]);
        }
    }
    return TURNING_UNKNOWN;
}

static int is_fresh(const struct verdict *verdict)
{
    return verdict->freshness != VERDICT_OUTDATED && verdict->kind != VERDICT_STALE;
}

// -- Since when ----------------------------------------------------------------------------------

static tapml_status
find_fresh(struct store *store, const struct verdict_list *list, struct table *out_keys)
{
    for (size_t i = 0; i < list->count; i++) {
        char key[CARVED_KEY];

        if (is_fresh(&list->items[i])) {
            TAPML_TRY(carved_find_key(store, list->items[i].case_id, key));
            TAPML_TRY(table_set(out_keys, key, 0));
        }
    }
    return TAPML_OK;
}

static tapml_status mark(struct store *store,
                         const char *target,
                         const struct table *fresh,
                         int64_t now_s,
                         struct arena *arena)
{
    struct watched_row *rows = NULL;
    size_t count = 0, ignored = 0;

    TAPML_TRY(watched_list(store, target, arena, &rows, &count));
    for (size_t i = 0; i < count; i++) {
        if (rows[i].stale_s == 0 && strcmp(rows[i].key, WATCHED_DRIVER) != 0 &&
            !table_find(fresh, rows[i].key, &ignored)) {
            rows[i].stale_s = now_s;
            TAPML_TRY(watched_write(store, target, &rows[i]));
        }
    }
    return TAPML_OK;
}

tapml_status turning_mark_stale(struct store *store,
                                const char *target,
                                const struct verdict_list *fresh,
                                int64_t now_s)
{
    struct arena *arena = arena_create();
    struct table keys;

    if (arena == NULL) {
        return status_no_memory();
    }
    table_init(&keys);
    tapml_status status = find_fresh(store, fresh, &keys);

    if (status == TAPML_OK) {
        status = mark(store, target, &keys, now_s, arena);
    }
    table_release(&keys);
    arena_destroy(arena);
    return status;
}

// -- What has turned ---------------------------------------------------------------------------

static tapml_status add_item(struct turning *turning, const struct turning_item *item)
{
    void *grown = turning->items;

    if (!alloc_grow(&grown, &turning->capacity, turning->count, sizeof(*turning->items))) {
        return status_no_memory();
    }
    turning->items = grown;
    turning->items[turning->count++] = *item;
    turning->worse += item->has_turned && item->turned.is_worse;
    turning->better += item->has_turned && !item->turned.is_worse;
    turning->seen += item->has_turned || item->looked.cause != NULL;
    return TAPML_OK;
}

// The first element beyond its limit, where a verdict has some.
static void take_difference(const struct verdict *verdict, struct turned_row *turned)
{
    const struct element *first = verdict->elements.count > 0 ? verdict->elements.items : NULL;

    turned->param = first != NULL ? first->param : verdict->output != NULL ? verdict->output : "";
    turned->place = first != NULL ? first->place : "";
    turned->expected = first != NULL ? first->expected : NAN;
    turned->computed = first != NULL ? first->computed : NAN;
}

// A row of which the verdict is the one before: its margin stays the one that was measured when the
// case was judged, and its time is a mean that goes along.
static void keep_record(const struct watched_row *before, struct watched_row *now)
{
    enum { WEIGHT = 3 };

    now->margin = before->margin;
    now->time_ns = (WEIGHT * before->time_ns + now->time_ns) / (WEIGHT + 1);
}

static int has_turned(const struct watched_row *before, enum turning_rank now)
{
    enum verdict_kind kind = VERDICT_SKIPPED;

    if (before == NULL) {
        return now == TURNING_WRONG;
    }
    return verdict_find_kind(before->verdict, &kind) == TAPML_OK && rank_of(kind) != now;
}

static int is_worse(const struct watched_row *before, enum turning_rank now)
{
    enum verdict_kind kind = VERDICT_SKIPPED;

    return before == NULL ||
           (verdict_find_kind(before->verdict, &kind) == TAPML_OK && now > rank_of(kind));
}

// Why the look has seen a case; NULL: it has not.
static const char *cause_of(const struct watched_row *before, int has_turned)
{
    return before == NULL         ? LOOKED_NEW
           : before->stale_s != 0 ? LOOKED_CHANGE
           : has_turned           ? LOOKED_RUN
                                  : NULL;
}

static tapml_status add_verdict(struct turning *turning,
                                const char *target,
                                const struct verdict *verdict,
                                const char *key,
                                const struct watched_row *before)
{
    const char *kept = arena_text(turning->arena, key);
    const int is_anew = before == NULL || before->stale_s != 0;
    struct turning_item item = {.target = target,
                                .now = {.key = kept,
                                        .op = verdict->op_name,
                                        .verdict = verdict_name(verdict->kind),
                                        .margin = verdict->margin,
                                        .time_ns = (int64_t)verdict->time_ns,
                                        .judged = before != NULL ? before->judged : 0,
                                        .turns = before != NULL ? before->turns : 0}};

    if (kept == NULL) {
        return status_no_memory();
    }
    item.has_turned = has_turned(before, rank_of(verdict->kind));
    item.now.judged += is_anew;
    item.now.turns += item.has_turned && before != NULL;
    if (!is_anew && !item.has_turned) {
        keep_record(before, &item.now);
    }
    item.turned = (struct turned_row){.target = target,
                                      .key = kept,
                                      .op = verdict->op_name,
                                      .instance = verdict->instance,
                                      .phase = verdict->phase,
                                      .before = before != NULL ? before->verdict : "",
                                      .after = verdict_name(verdict->kind),
                                      .is_worse = is_worse(before, rank_of(verdict->kind)),
                                      .margin_before = before != NULL ? before->margin : NAN,
                                      .margin = verdict->margin,
                                      .reason = verdict->reason != NULL ? verdict->reason : ""};
    take_difference(verdict, &item.turned);
    item.looked = (struct looked_row){.target = target,
                                      .key = kept,
                                      .op = verdict->op_name,
                                      .cause = cause_of(before, item.has_turned),
                                      .stale_s = before != NULL ? before->stale_s : 0,
                                      .before = item.turned.before,
                                      .after = item.turned.after,
                                      .time_ns = (int64_t)verdict->time_ns,
                                      .drift = NAN,
                                      .time_ratio = NAN};
    return add_item(turning, &item);
}

tapml_status turning_add(struct turning *turning,
                         struct store *store,
                         const char *target,
                         const struct verdict_list *list)
{
    struct watched_row *rows = NULL;
    size_t count = 0;

    TAPML_TRY(watched_list(store, target, turning->arena, &rows, &count));
    for (size_t i = 0; i < list->count; i++) {
        char key[CARVED_KEY];

        if (is_fresh(&list->items[i])) {
            TAPML_TRY(carved_find_key(store, list->items[i].case_id, key));
            TAPML_TRY(
                add_verdict(turning, target, &list->items[i], key, watched_find(rows, count, key)));
        }
    }
    return TAPML_OK;
}

static void take_sample(const struct sampling *sampling, struct looked_row *looked)
{
    for (size_t i = 0; i < sampling->replayed; i++) {
        if (strcmp(sampling->cases[i].key, looked->key) == 0) {
            looked->cause = LOOKED_SAMPLE;
            looked->drift = sampling->cases[i].drift;
            looked->time_ratio = sampling->cases[i].time_ratio;
        }
    }
    for (size_t i = 0; i < sampling->op_count; i++) {
        if (sampling->ops[i].is_moved && looked->cause != NULL &&
            strcmp(looked->cause, LOOKED_NEW) != 0 &&
            strcmp(sampling->ops[i].op, looked->op) == 0) {
            looked->cause = LOOKED_SAMPLE;
        }
    }
}

void turning_add_samples(struct turning *turning,
                         const char *target,
                         const struct sampling *sampling)
{
    for (size_t i = 0; i < turning->count; i++) {
        struct turning_item *item = &turning->items[i];

        if (item->looked.key != NULL && strcmp(item->target, target) == 0) {
            take_sample(sampling, &item->looked);
        }
    }
}

tapml_status turning_add_driver(struct turning *turning,
                                struct store *store,
                                const char *target,
                                const char *reason)
{
    struct watched_row *rows = NULL;
    size_t count = 0;

    TAPML_TRY(watched_list(store, target, turning->arena, &rows, &count));
    const struct watched_row *before = watched_find(rows, count, WATCHED_DRIVER);
    const enum verdict_kind kind = reason != NULL ? VERDICT_FAIL : VERDICT_PASS;
    struct turning_item item = {.target = target,
                                .now = {.key = WATCHED_DRIVER,
                                        .op = "",
                                        .verdict = verdict_name(kind),
                                        .margin = NAN,
                                        .judged = before != NULL ? before->judged + 1 : 1,
                                        .turns = before != NULL ? before->turns : 0},
                                .has_turned = has_turned(before, rank_of(kind))};

    item.now.turns += item.has_turned && before != NULL;
    item.turned = (struct turned_row){.target = target,
                                      .key = WATCHED_DRIVER,
                                      .op = "",
                                      .instance = "driver",
                                      .phase = "",
                                      .before = before != NULL ? before->verdict : "",
                                      .after = verdict_name(kind),
                                      .is_worse = is_worse(before, rank_of(kind)),
                                      .margin_before = NAN,
                                      .margin = NAN,
                                      .param = "",
                                      .place = "",
                                      .expected = NAN,
                                      .computed = NAN,
                                      .reason = reason != NULL ? reason : ""};
    return add_item(turning, &item);
}

tapml_status turning_write(const struct turning *turning, struct store *store, int64_t look)
{
    for (size_t i = 0; i < turning->count; i++) {
        const struct turning_item *item = &turning->items[i];
        struct turned_row turned = item->turned;
        struct looked_row looked = item->looked;

        TAPML_TRY(watched_write(store, item->target, &item->now));
        turned.look = looked.look = look;
        if (item->has_turned) {
            TAPML_TRY(turned_write(store, &turned));
        }
        if (look != 0 && looked.cause != NULL) {
            TAPML_TRY(looked_write(store, &looked));
        }
    }
    return TAPML_OK;
}

const struct turned_row *turning_first(const struct turning *turning)
{
    const struct turned_row *first = NULL;

    for (size_t i = 0; i < turning->count; i++) {
        const struct turning_item *item = &turning->items[i];

        if (item->has_turned && (first == NULL || (item->turned.is_worse && !first->is_worse))) {
            first = &item->turned;
        }
    }
    return first;
}

void turning_release(struct turning *turning)
{
    alloc_free(turning->items);
    *turning = (struct turning){.arena = turning->arena};
}
