// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/program.h"

#include "base/alloc.h"
#include "exec/residency.h"
#include "exec/ring.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"

void program_destroy(struct program *program)
{
    if (!program) {
        return;
    }
    alloc_free(program->steps);
    alloc_free(program->nodes);
    alloc_free(program->residents);
    alloc_free(program->valid);
    alloc_free(program->arrives);
    for (uint32_t i = 0; i < SPACE_PLACES_MAX; i++) {
        ring_program_destroy(program->rings[i]);
    }
    alloc_free(program);
}

static const char *place_name(const char *const *places, uint8_t place)
{
    return place == SPACE_NO_PLACE ? "host" : places[place];
}

static void print_call(const struct program *program,
                       const struct graph *graph,
                       const struct step *step,
                       struct text *text)
{
    for (uint32_t i = 0; i < step->count; i++) {
        const struct graph_op *op = &graph->ops[program->nodes[step->index + i]];
        text_format(text, "%s%s (%s)", i == 0 ? "" : ", ", op->instance, op->op->name);
    }
}

static void print_resident(const struct resident *resident, struct text *text)
{
    text_format(text, "%s %s", resident->key.tensor,
                encoding_name(resident->key.encoding, resident->key.dtype));
}

static void print_move(const struct graph *graph,
                       const char *const *places,
                       const struct step *step,
                       struct text *text)
{
    const struct graph_value *value = &graph->values[step->index];
    if (value->kind == GRAPH_STATE) {
        text_format(text, "state %s, the rows that %s lacks", value->name,
                    place_name(places, step->place));
    } else {
        text_format(text, "%s %s, %s -> %s", value->name, dtype_name(step->dtype),
                    place_name(places, step->from), place_name(places, step->place));
    }
}

static void print_step(const struct program *program,
                       const struct graph *graph,
                       const char *const *places,
                       const struct step *step,
                       struct text *text)
{
    const char *place = place_name(places, step->place);
    switch (step->kind) {
    case STEP_UPLOAD:
        text_format(text, "upload  %s: ", place);
        print_resident(program->residents[step->index], text);
        break;
    case STEP_MOVE:
        text_append(text, "move    ");
        print_move(graph, places, step, text);
        break;
    case STEP_CAST:
        text_format(text, "cast    %s: %s -> %s", graph->values[step->index].name,
                    dtype_name(step->old_dtype), dtype_name(step->dtype));
        break;
    case STEP_CALL:
        text_format(text, "call    %s: ", place);
        print_call(program, graph, step, text);
        break;
    case STEP_RELEASE:
        text_format(text, "release %s: ", place);
        print_resident(program->residents[step->index], text);
        break;
    case STEP_TURN:
        text_format(
            text, "turn    %s: section %u, %llu bytes", place, step->index,
            (unsigned long long)program->rings[step->place]->plan.sections[step->index].bytes);
        break;
    case STEP_ROUTE:
        text_format(text, "route   %s: experts of %s", place,
                    graph->ops[program->rings[step->place]->experts.ops[step->index].op].instance);
        break;
    case STEP_SIGNAL:
        text_format(text, "signal  %s: point %u", place, step->index);
        break;
    case STEP_WAIT:
        text_format(text, "wait    %s: point %u of %s", place, step->index,
                    place_name(places, step->from));
        break;
    }
    text_append(text, "\n");
}

void program_print(const struct program *program,
                   const struct graph *graph,
                   const char *const *places,
                   struct text *out_text)
{
    for (uint32_t i = 0; i < program->step_count; i++) {
        print_step(program, graph, places, &program->steps[i], out_text);
    }
}
