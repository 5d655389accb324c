// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/op_suspects.h"

#include "base/alloc.h"

#include <string.h>

enum { NAMED_MAX = 6 }; // Ops in a sentence.

struct looked_at {
    const struct graph *graph;
    const uint8_t *known;
};

// The first op from `op` on, before `end`, with an output that is known to be so. `among`, if it is
// not NULL, marks those that count.
static uint32_t
find_first(const struct looked_at *at, uint32_t end, uint8_t known, const uint8_t *among)
{
    const struct graph *graph = at->graph;

    for (uint32_t op = 0; op < end; op++) {
        for (uint32_t i = 0; i < graph->ops[op].op->n_params; i++) {
            const struct graph_argument *argument = &graph->ops[op].arguments[i];

            if (argument->kind == TAPML_P_TENSOR_OUT && (among == NULL || among[op]) &&
                (at->known[at->graph->values[argument->value].base] & known) != 0) {
                return op;
            }
        }
    }
    return GRAPH_NONE;
}

static int writes_state(const struct looked_at *at, uint32_t op, uint32_t state)
{
    const struct graph_op *writer = &at->graph->ops[op];

    for (uint32_t i = 0; i < writer->op->n_params; i++) {
        if ((writer->op->params[i]->effects & TAPML_E_STATE_WRITE) != 0 &&
            writer->arguments[i].kind != TAPML_V_NONE &&
            at->graph->values[writer->arguments[i].value].base == state) {
            return 1;
        }
    }
    return 0;
}

// Marks what gave a value, unless that is known to agree.
static void mark_value(const struct looked_at *at, uint32_t reader, uint32_t value, uint8_t *marks)
{
    const uint32_t base = at->graph->values[value].base;
    const struct graph_value *source = &at->graph->values[base];
    const uint8_t known = at->known[base];

    if ((known & (OP_SUSPECTS_AGREES | OP_SUSPECTS_HINT_AGREES)) != 0 &&
        (known & (OP_SUSPECTS_DIVERGES | OP_SUSPECTS_HINT_DIVERGES)) == 0) {
        return;
    }
    if (source->kind == GRAPH_COMPUTED) {
        marks[source->producer] = 1;
    }
    for (uint32_t op = 0; source->kind == GRAPH_STATE && op < reader; op++) {
        marks[op] |= (uint8_t)writes_state(at, op, base);
    }
}

// Marks an op and all before it that can have caused what it gives. The graph is in order.
static void mark_suspects(const struct looked_at *at, uint32_t last, uint8_t *marks)
{
    const struct graph *graph = at->graph;

    memset(marks, 0, graph->op_count);
    marks[last] = 1;
    for (uint32_t op = last + 1; op-- > 0;) {
        for (uint32_t i = 0; marks[op] && i < graph->ops[op].op->n_params; i++) {
            const struct graph_argument *argument = &graph->ops[op].arguments[i];

            if (argument->kind == TAPML_P_TENSOR_IN) {
                mark_value(at, op, argument->value, marks);
            }
            for (uint32_t k = 0; argument->kind == TAPML_P_TENSORS_IN && k < argument->count; k++) {
                mark_value(at, op, argument->values[k], marks);
            }
        }
    }
}

static void print_op(const struct graph *graph, uint32_t op, struct text *out_text)
{
    text_format(out_text, "%s (%s)", graph->ops[op].instance, graph->ops[op].op->name);
}

// The ops that are marked: all, or if they are many the first and the last.
static void print_suspects(const struct graph *graph,
                           uint32_t last,
                           const uint8_t *marks,
                           struct text *out_text)
{
    uint32_t count = 0, named = 0;

    for (uint32_t op = 0; op <= last; op++) {
        count += marks[op];
    }
    if (count == 1) {
        text_append(out_text, "the first op that diverges: ");
        print_op(graph, last, out_text);
        text_append(out_text, "; what it reads is right");
        return;
    }
    text_format(out_text, "one of %u ops diverges first: ", count);
    for (uint32_t op = 0; op <= last; op++) {
        if (marks[op] && (count <= NAMED_MAX || named == 0 || op == last)) {
            text_append(out_text, named == 0 ? "" : count <= NAMED_MAX ? ", " : " .. ");
            print_op(graph, op, out_text);
            named++;
        }
    }
    text_append(out_text, "; what they read is right, what the last one gives is not");
}

tapml_status
op_suspects_print(const struct graph *graph, const uint8_t *known, struct text *out_text)
{
    const struct looked_at at = {graph, known};
    uint32_t last = find_first(&at, graph->op_count, OP_SUSPECTS_DIVERGES, NULL);
    uint8_t *marks = alloc_array((size_t)graph->op_count + 1, sizeof(*marks));

    if (marks == NULL) {
        return status_no_memory();
    }
    for (uint32_t next = last; next != GRAPH_NONE;) { // Each is before the one before it.
        last = next;
        mark_suspects(&at, last, marks);
        next = find_first(&at, last, OP_SUSPECTS_HINT_DIVERGES, marks);
    }
    if (last != GRAPH_NONE) {
        print_suspects(graph, last, marks, out_text);
    }
    alloc_free(marks);
    return text_status(out_text);
}
