// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/compile.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "exec/dispatch.h"
#include "exec/ring_pass.h"
#include "exec/value.h"

#include <string.h>

#define NO_POINT UINT32_MAX

// A value on its way from a place to host memory.
struct arrival {
    uint32_t point; // NO_POINT: not signalled yet.
    uint32_t dtype; // Of what comes.
    uint8_t from;
    uint8_t is_pending; // The host has not waited for it.
};

// What is queued at a place.
struct progress {
    int has_moves;                         // Moves without a point behind them.
    uint32_t waited[SPACE_PLACES_MAX + 1]; // By each place and the host: points, from 1.
};

struct compiler {
    const struct compile_options *given;
    struct program *program;
    size_t step_capacity, resident_capacity;
    uint16_t *readers; // For each value, while what crosses is looked for: the spaces that read it.
    uint8_t
        *crosses; // For each tensor of each op, in their order: what it writes is read elsewhere.
    struct arrival *arrivals; // For each value.
    uint32_t *last_ops; // For each value, one for each place: the last op that needs it there.
    struct progress progress[SPACE_PLACES_MAX];
};

static const struct graph_value *
base_of(const struct compiler *compiler, const struct binding_tensor *tensor, uint32_t *out_base)
{
    const struct graph *graph = compiler->given->graph;
    *out_base = graph->values[tensor->value].base;
    return &graph->values[*out_base];
}

static uint32_t space_of(const struct compiler *compiler, uint8_t place)
{
    return compiler->given->spaces->places[place].space;
}

static uint16_t bit_of(const struct compiler *compiler, uint8_t place)
{
    return (uint16_t)(1u << space_of(compiler, place));
}

static tapml_status emit(struct compiler *compiler, struct step step)
{
    struct program *program = compiler->program;
    if (!alloc_grow((void **)&program->steps, &compiler->step_capacity, program->step_count,
                    sizeof(*program->steps))) {
        return status_no_memory();
    }
    program->steps[program->step_count++] = step;
    return TAPML_OK;
}

// -- What crosses ------------------------------------------------------------------------------

static int is_moved(const struct graph_value *base)
{
    return base->kind == GRAPH_COMPUTED || base->kind == GRAPH_INPUT;
}

// Looks from the last op to the first one: of each write, who reads it before the next.
static void look_at_op(struct compiler *compiler, uint32_t op, uint8_t *crosses)
{
    const struct binding *binding = &compiler->given->bindings[op];
    const uint16_t own = bit_of(compiler, compiler->given->places[op]);
    uint32_t base = 0;
    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        const struct binding_tensor *tensor = &binding->tensors[i];
        if (is_moved(base_of(compiler, tensor, &base)) &&
            binding_access(binding, i) != BINDING_READS) {
            crosses[i] = (compiler->readers[base] & ~own) != 0;
            compiler->readers[base] = 0;
        }
    }
    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        (void)base_of(compiler, &binding->tensors[i], &base);
        if (binding_access(binding, i) != BINDING_WRITES) {
            compiler->readers[base] = (uint16_t)(compiler->readers[base] | own);
        }
    }
}

static void find_crossings(struct compiler *compiler, size_t tensor_count)
{
    size_t at = tensor_count;
    for (uint32_t op = compiler->given->graph->op_count; op > 0; op--) {
        at -= compiler->given->bindings[op - 1].tensor_count;
        look_at_op(compiler, op - 1, compiler->crosses + at);
    }
    ASSERT(at == 0);
}

// -- Points ------------------------------------------------------------------------------------

// A point behind all that is queued at a place, for the values that are on their way.
static tapml_status signal(struct compiler *compiler, uint8_t place, uint32_t *out_point)
{
    const uint32_t point = compiler->program->point_count++;
    compiler->progress[place].has_moves = 0;
    for (uint32_t v = 0; v < compiler->given->graph->value_count; v++) {
        struct arrival *arrival = &compiler->arrivals[v];
        if (arrival->is_pending && arrival->from == place && arrival->point == NO_POINT) {
            arrival->point = point;
        }
    }
    *out_point = point;
    return emit(compiler, (struct step){.kind = STEP_SIGNAL, .place = place, .index = point});
}

// Who was waited for by the host is not waited for again, by anybody.
static tapml_status wait(struct compiler *compiler, uint8_t waiter, uint8_t from, uint32_t point)
{
    uint32_t *waited = compiler->progress[from].waited;
    if (waited[waiter] > point || waited[SPACE_NO_PLACE] > point) {
        return TAPML_OK;
    }
    waited[waiter] = point + 1;
    return emit(compiler,
                (struct step){.kind = STEP_WAIT, .place = waiter, .from = from, .index = point});
}

// -- Values ------------------------------------------------------------------------------------

static tapml_status
put_move(struct compiler *compiler, uint32_t value, uint8_t from, uint8_t place, uint32_t dtype)
{
    return emit(
        compiler,
        (struct step){
            .kind = STEP_MOVE, .place = place, .from = from, .index = value, .dtype = dtype});
}

static tapml_status put_cast(
    struct compiler *compiler, uint32_t value, uint8_t place, uint32_t old_dtype, uint32_t dtype)
{
    return emit(compiler, (struct step){.kind = STEP_CAST,
                                        .place = place,
                                        .index = value,
                                        .dtype = dtype,
                                        .old_dtype = old_dtype});
}

// Lets the host, or the queue of `place`, go on when a value has come to host memory.
static tapml_status await(struct compiler *compiler, uint32_t value, uint8_t place, int is_cast)
{
    struct arrival *arrival = &compiler->arrivals[value];
    const uint32_t dtype = compiler->given->graph->values[value].dtype;
    const int host_waits =
        is_cast || arrival->dtype != dtype || space_of(compiler, place) == SPACE_HOST;
    uint32_t point = arrival->point;
    if (point == NO_POINT) {
        TAPML_TRY(signal(compiler, arrival->from, &point));
    }
    TAPML_TRY(wait(compiler, host_waits ? SPACE_NO_PLACE : place, arrival->from, point));
    if (host_waits) {
        arrival->is_pending = 0;
        return arrival->dtype == dtype
                   ? TAPML_OK
                   : put_cast(compiler, value, arrival->from, arrival->dtype, dtype);
    }
    return TAPML_OK;
}

// Makes a value valid at a place, as `dtype`.
static tapml_status bring(struct compiler *compiler, uint32_t value, uint8_t place, uint32_t dtype)
{
    uint16_t *valid = &compiler->program->valid[value];
    const uint32_t host_dtype = compiler->given->graph->values[value].dtype;
    const int is_host = space_of(compiler, place) == SPACE_HOST;
    const uint16_t own = bit_of(compiler, place);
    const int is_pending = compiler->arrivals[value].is_pending;
    if ((*valid & own) != 0 && !(is_host && is_pending)) {
        return TAPML_OK;
    }
    ASSERT((*valid & 1u << SPACE_HOST) != 0); // Ops run in an order that computes before it reads.
    if (is_pending) {
        TAPML_TRY(await(compiler, value, place, dtype != host_dtype));
    }
    if (!is_host) {
        TAPML_TRY(dtype == host_dtype ? TAPML_OK
                                      : put_cast(compiler, value, place, host_dtype, dtype));
        TAPML_TRY(put_move(compiler, value, SPACE_NO_PLACE, place, dtype));
    }
    *valid = (uint16_t)(*valid | own);
    return TAPML_OK;
}

// -- Weights -----------------------------------------------------------------------------------

static tapml_status find_resident(struct compiler *compiler,
                                  struct binding_tensor *tensor,
                                  uint8_t place,
                                  struct resident **out_resident)
{
    uint32_t index = 0;
    const struct graph_value *base = base_of(compiler, tensor, &index);
    int64_t shape[TAPML_MAX_RANK];
    for (uint32_t i = 0; i < base->rank; i++) {
        shape[i] = affine_at(&base->shape[i], &compiler->given->point);
    }
    const tapml_tensor form = {.hdr = TAPML_HDR(tapml_tensor),
                               .dtype = base->dtype,
                               .rank = base->rank,
                               .shape = shape,
                               .encoding = base->encoding};
    const struct residency_key key = {
        .tensor = base->name,
        .dtype = base->encoding ? base->dtype : tensor->tensor.dtype,
        .encoding = base->encoding,
        .spans = base->spans,
    };
    return residency_find(compiler->given->spaces->places[place].weights, &key, base->data, &form,
                          out_resident);
}

// The number of a resident in the program; `resident_count` where it is none of it yet. Its slot
// may be of another program: a mixture has tens of thousands of weights, so that none is searched
// for.
static uint32_t index_of(const struct program *program, const struct resident *resident)
{
    const uint32_t slot = resident->slot;
    return slot < program->resident_count && program->residents[slot] == resident
               ? slot
               : program->resident_count;
}

static tapml_status upload(struct compiler *compiler, struct binding_tensor *tensor, uint8_t place)
{
    struct program *program = compiler->program;
    TAPML_TRY(find_resident(compiler, tensor, place, &tensor->resident[place]));
    const uint32_t at = index_of(program, tensor->resident[place]);
    if (at < program->resident_count) {
        return TAPML_OK;
    }
    if (!alloc_grow((void **)&program->residents, &compiler->resident_capacity,
                    program->resident_count, sizeof(struct resident *))) {
        return status_no_memory();
    }
    tensor->resident[place]->slot = at;
    program->residents[program->resident_count++] = tensor->resident[place];
    return emit(compiler, (struct step){.kind = STEP_UPLOAD, .place = place, .index = at});
}

static uint32_t *last_op_of(const struct compiler *compiler, uint32_t value, uint8_t place)
{
    return &compiler->last_ops[(size_t)value * compiler->given->spaces->place_count + place];
}

static void find_last_ops(struct compiler *compiler)
{
    for (uint32_t op = 0; op < compiler->given->graph->op_count; op++) {
        const struct binding *binding = &compiler->given->bindings[op];
        for (uint32_t i = 0; i < binding->tensor_count; i++) {
            uint32_t base = 0;
            (void)base_of(compiler, &binding->tensors[i], &base);
            *last_op_of(compiler, base, compiler->given->places[op]) = op;
        }
    }
}

// Releases the weights that no later op at the place needs.
static tapml_status release_weights(struct compiler *compiler, uint32_t op, uint8_t place)
{
    const struct binding *binding = &compiler->given->bindings[op];
    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        uint32_t base = 0;
        (void)base_of(compiler, &binding->tensors[i], &base);
        if (binding_is_weight(binding, i) && *last_op_of(compiler, base, place) == op) {
            const uint32_t at = index_of(compiler->program, binding->tensors[i].resident[place]);
            TAPML_TRY(
                emit(compiler, (struct step){.kind = STEP_RELEASE, .place = place, .index = at}));
        }
    }
    return TAPML_OK;
}

// -- Ops ---------------------------------------------------------------------------------------

// What has to be at the place before the call.
static tapml_status prepare(struct compiler *compiler, struct binding *binding, uint8_t place)
{
    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        struct binding_tensor *tensor = &binding->tensors[i];
        uint32_t base = 0;
        const struct graph_value *value = base_of(compiler, tensor, &base);
        uint16_t *valid = &compiler->program->valid[base];
        if (binding_is_weight(binding, i)) {
            TAPML_TRY(upload(compiler, tensor, place));
        } else if (value->kind == GRAPH_STATE) {
            // Which rows a place lacks depends on the calls before, too.
            TAPML_TRY((*valid & bit_of(compiler, place)) != 0
                          ? TAPML_OK
                          : put_move(compiler, base, SPACE_NO_PLACE, place, tensor->tensor.dtype));
            *valid = (uint16_t)(*valid | bit_of(compiler, place));
        } else if (binding_access(binding, i) != BINDING_WRITES) {
            TAPML_TRY(bring(compiler, base, place, tensor->tensor.dtype));
        }
    }
    return TAPML_OK;
}

// What is read elsewhere goes to host memory at once.
static tapml_status
send(struct compiler *compiler, uint32_t value, uint8_t place, uint32_t dtype, int is_crossing)
{
    uint16_t *valid = &compiler->program->valid[value];
    *valid = bit_of(compiler, place);
    compiler->arrivals[value].is_pending = 0;
    if (!is_crossing || space_of(compiler, place) == SPACE_HOST) {
        return TAPML_OK;
    }
    compiler->arrivals[value] = (struct arrival){NO_POINT, dtype, place, 1};
    compiler->progress[place].has_moves = 1;
    *valid = (uint16_t)(*valid | 1u << SPACE_HOST);
    return put_move(compiler, value, place, SPACE_NO_PLACE, dtype);
}

static tapml_status note_writes(struct compiler *compiler,
                                const struct binding *binding,
                                uint8_t place,
                                const uint8_t *crosses)
{
    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        const struct binding_tensor *tensor = &binding->tensors[i];
        uint32_t base = 0;
        const struct graph_value *value = base_of(compiler, tensor, &base);
        if (binding_access(binding, i) == BINDING_READS) {
            continue;
        }
        if (value->kind == GRAPH_STATE) {
            compiler->program->valid[base] = bit_of(compiler, place);
        } else {
            TAPML_TRY(send(compiler, base, place, tensor->tensor.dtype, crosses[i]));
        }
    }
    return TAPML_OK;
}

static int has_crossing(const struct binding *binding, const uint8_t *crosses)
{
    uint32_t i = 0;
    while (i < binding->tensor_count && !crosses[i]) {
        i++;
    }
    return i < binding->tensor_count;
}

static tapml_status compile_op(struct compiler *compiler, uint32_t op, const uint8_t *crosses)
{
    const struct compile_options *given = compiler->given;
    struct binding *binding = &given->bindings[op];
    const uint8_t place = given->places[op];
    struct program *program = compiler->program;
    uint32_t point = 0;
    binding_evaluate(binding, &given->point);
    binding_set_activation(binding, value_marks(given->values),
                           given->spaces->places[place].activation);
    TAPML_TRY(prepare(compiler, binding, place));
    if (compiler->progress[place].has_moves && !has_crossing(binding, crosses)) {
        TAPML_TRY(signal(compiler, place, &point)); // What is read elsewhere waits no longer.
    }
    program->nodes[program->node_count] = op;
    TAPML_TRY(emit(compiler, (struct step){.kind = STEP_CALL,
                                           .place = place,
                                           .index = program->node_count++,
                                           .count = 1}));
    TAPML_TRY(note_writes(compiler, binding, place, crosses));
    return given->releases_weights ? release_weights(compiler, op, place) : TAPML_OK;
}

static tapml_status compile_all(struct compiler *compiler)
{
    const struct compile_options *given = compiler->given;
    const struct graph *graph = given->graph;
    size_t tensor_count = 0, at = 0;
    for (uint32_t op = 0; op < graph->op_count; op++) {
        tensor_count += given->bindings[op].tensor_count;
    }
    compiler->crosses = alloc_array(tensor_count, 1);
    if (!compiler->crosses) {
        return status_no_memory();
    }
    find_crossings(compiler, tensor_count);
    find_last_ops(compiler);
    for (uint32_t v = 0; v < graph->value_count; v++) {
        compiler->program->valid[v] = graph->values[v].kind == GRAPH_INPUT ? 1u << SPACE_HOST : 0;
    }
    for (uint32_t op = 0; op < graph->op_count; op++) {
        TAPML_TRY(compile_op(compiler, op, compiler->crosses + at));
        at += given->bindings[op].tensor_count;
    }
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const struct arrival *arrival = &compiler->arrivals[v];
        compiler->program->arrives[v] = arrival->is_pending ? arrival->from : SPACE_NO_PLACE;
    }
    TAPML_TRY(ring_pass(&(struct ring_pass_options){.graph = graph,
                                                    .spaces = given->spaces,
                                                    .bindings = given->bindings},
                        compiler->program));
    return dispatch_order(&(struct dispatch_options){.graph = graph,
                                                     .spaces = given->spaces,
                                                     .values = given->values,
                                                     .bindings = given->bindings,
                                                     .places = given->places},
                          compiler->program);
}

tapml_status compile_program(const struct compile_options *options, struct program **out_program)
{
    const size_t value_count = options->graph->value_count;
    struct program *program = alloc_new(sizeof(*program));
    struct compiler compiler = {
        .given = options,
        .program = program,
        .readers = alloc_array(value_count, sizeof(*compiler.readers)),
        .arrivals = alloc_array(value_count, sizeof(*compiler.arrivals)),
        .last_ops =
            alloc_array(value_count * options->spaces->place_count, sizeof(*compiler.last_ops)),
    };
    tapml_status status = status_no_memory();
    if (program) {
        program->valid = alloc_array(value_count, sizeof(*program->valid));
        program->arrives = alloc_array(value_count, sizeof(*program->arrives));
        program->nodes = alloc_array(options->graph->op_count, sizeof(*program->nodes));
    }
    if (program && program->valid && program->arrives && program->nodes && compiler.readers &&
        compiler.arrivals && compiler.last_ops) {
        status = compile_all(&compiler);
    }
    alloc_free(compiler.readers);
    alloc_free(compiler.crosses);
    alloc_free(compiler.arrivals);
    alloc_free(compiler.last_ops);
    if (status != TAPML_OK) {
        program_destroy(program);
        return status;
    }
    *out_program = program;
    return TAPML_OK;
}
