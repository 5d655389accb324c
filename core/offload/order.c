// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "offload/order.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/table.h"
#include "plugin/policy.h"
#include "store/call_line.h"

struct order_tally {
    struct table kind_of; // Instance to kind.
    struct order_kind *kinds;
    size_t count;
};

static size_t find_kind(const struct order_tally *tally, const tapml_op *op)
{
    size_t index = 0;

    while (index < tally->count && tally->kinds[index].op != op) {
        index++;
    }
    return index;
}

static tapml_status add_instances(struct order_tally *tally, const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->op_count; i++) {
        const size_t kind = find_kind(tally, graph->ops[i].op);

        if (kind == tally->count) {
            tally->kinds[tally->count++] = (struct order_kind){.op = graph->ops[i].op};
        }
        tally->kinds[kind].instances++;
        TAPML_TRY(table_set(&tally->kind_of, graph->ops[i].instance, kind));
    }
    return TAPML_OK;
}

static void add_call(void *user, const struct call_line *call)
{
    struct order_tally *tally = user;
    size_t kind = 0;

    if (table_find(&tally->kind_of, call->instance, &kind)) {
        tally->kinds[kind].time_ns += call->time_ns;
        tally->kinds[kind].calls++;
    }
}

// Insertion keeps kinds of equal time in their order; there are few.
static void sort_kinds(struct order_kind *kinds, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct order_kind kind = kinds[i];
        size_t at = i;

        for (; at > 0 && kinds[at - 1].time_ns < kind.time_ns; at--) {
            kinds[at] = kinds[at - 1];
        }
        kinds[at] = kind;
    }
}

tapml_status order_kinds(const struct graph *graph,
                         struct store *store,
                         struct order_kind **out_kinds,
                         size_t *out_count)
{
    struct order_tally tally = {.kinds =
                                    alloc_array((size_t)graph->op_count + 1, sizeof(*tally.kinds))};
    tapml_status status = TAPML_OK;

    if (tally.kinds == NULL) {
        return status_no_memory();
    }
    table_init(&tally.kind_of);
    status = add_instances(&tally, graph);
    if (status == TAPML_OK) {
        status = call_line_visit(store, add_call, &tally);
    }
    table_release(&tally.kind_of);
    if (status != TAPML_OK) {
        alloc_free(tally.kinds);
        return status;
    }
    sort_kinds(tally.kinds, tally.count);
    *out_kinds = tally.kinds;
    *out_count = tally.count;
    return TAPML_OK;
}

// What a policy sees, and the order that it gives.
struct order_question {
    tapml_policy_kind *seen;
    const tapml_policy_kind **list;
    uint32_t *order;
    struct order_kind *before;
};

static tapml_status make_question(struct arena *arena,
                                  const struct order_kind *kinds,
                                  size_t count,
                                  struct order_question *q)
{
    *q = (struct order_question){.seen = arena_array(arena, count + 1, sizeof(*q->seen)),
                                 .list = arena_array(arena, count + 1, sizeof(*q->list)),
                                 .order = arena_array(arena, count + 1, sizeof(*q->order)),
                                 .before = arena_array(arena, count + 1, sizeof(*q->before))};
    if (q->seen == NULL || q->list == NULL || q->order == NULL || q->before == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        q->seen[i] = (tapml_policy_kind){.hdr = TAPML_HDR(tapml_policy_kind),
                                         .op = kinds[i].op,
                                         .instances = kinds[i].instances,
                                         .calls = kinds[i].calls,
                                         .source_ns = kinds[i].time_ns};
        q->list[i] = &q->seen[i];
        q->order[i] = (uint32_t)i;
        q->before[i] = kinds[i];
    }
    return TAPML_OK;
}

tapml_status order_by_policy(struct policy *policy, struct order_kind *io_kinds, size_t count)
{
    struct arena *arena = policy != NULL ? arena_create() : NULL;
    struct order_question question = {.seen = NULL};

    if (policy == NULL) {
        return TAPML_OK;
    }
    tapml_status status =
        arena != NULL ? make_question(arena, io_kinds, count, &question) : status_no_memory();

    if (status == TAPML_OK) {
        status = policy_order(policy, question.list, (uint32_t)count, question.order);
    }
    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        io_kinds[i] = question.before[question.order[i]];
    }
    arena_destroy(arena);
    return status;
}
