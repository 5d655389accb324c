// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "offload/order.h"

#include "base/alloc.h"
#include "base/table.h"
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
