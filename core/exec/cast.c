// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/cast.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "exec/transfer.h"

#include <string.h>

enum { CASTED_ALIGN = 64 };

// -- What is reduced ---------------------------------------------------------------------------

// Leaves a value's mark those dtypes alone that an op takes for it.
static void restrict_marks(const struct graph *graph,
                           const struct graph_op *op,
                           uint32_t p,
                           activation_set *marks)
{
    const struct graph_argument *argument = &op->arguments[p];
    const int is_list = argument->kind == TAPML_P_TENSORS_IN;
    const int is_tensor =
        is_list || (argument->kind >= TAPML_P_TENSOR_IN && argument->kind <= TAPML_P_TENSOR_INOUT);
    if (!is_tensor) {
        return;
    }
    const activation_set set = compiled_takes_activations(op->schema, p);
    for (uint32_t i = 0; i < (is_list ? argument->count : 1); i++) {
        const uint32_t value = is_list ? argument->values[i] : argument->value;
        marks[graph->values[value].base] &= set;
    }
}

void cast_mark(const struct graph *graph, activation_set *out_marks)
{
    activation_set all = 0;
    for (unsigned i = 0; i < ACTIVATION_COUNT; i++) {
        if (activation_is_reduced((enum activation)i)) {
            all |= activation_bit((enum activation)i);
        }
    }
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const struct graph_value *value = &graph->values[v];
        const int is_activation = value->dtype == TAPML_F32 && value->kind != GRAPH_WEIGHT &&
                                  value->kind != GRAPH_CONSTANT;
        out_marks[v] = is_activation ? all : 0;
    }
    for (uint32_t i = 0; i < graph->op_count; i++) {
        for (uint32_t p = 0; p < graph->ops[i].op->n_params; p++) {
            restrict_marks(graph, &graph->ops[i], p, out_marks);
        }
    }
    for (uint32_t v = 0; v < graph->value_count; v++) {
        out_marks[v] = out_marks[graph->values[v].base]; // Bases stand before their views.
    }
}

// -- The way there and back --------------------------------------------------------------------

// What a transfer of values [first, end) works with.
struct passage {
    struct space_set *set;
    struct space_place *place;
    const struct activation_type *type;
    tapml_object *buffer;
    float *values;         // All of the block,
    unsigned char *casted; // and all of its buffer.
    uint64_t first, end;
    uint64_t grain_first, grain_end; // The same, as whole grains of the buffer.
};

static uint64_t grains(const struct activation_type *type, uint64_t elements)
{
    const uint64_t grain = TAPML_TRANSFER_GRAIN / type->bytes;
    return (elements + grain - 1) / grain * grain;
}

static tapml_status begin(struct space_set *set,
                          struct space_block *block,
                          uint32_t place,
                          uint64_t begin_byte,
                          uint64_t end_byte,
                          struct passage *passage)
{
    const enum activation activation = set->places[place].activation;
    const struct activation_type *type = activation_type(activation);
    void *memory = NULL;
    ASSERT(TAPML_TRANSFER_GRAIN % type->bytes == 0);
    passage->set = set;
    passage->place = &set->places[place];
    passage->type = type;
    passage->first = begin_byte / sizeof(float);
    passage->end = end_byte / sizeof(float);
    passage->grain_first = passage->first - passage->first % (TAPML_TRANSFER_GRAIN / type->bytes);
    passage->grain_end = grains(type, passage->end);
    ASSERT(passage->first <= passage->end &&
           passage->end <= block->bytes.at[ACTIVATION_F32] / sizeof(float));
    ASSERT(passage->grain_end * type->bytes <= block->bytes.at[activation]);
    TAPML_TRY(space_claim(set, block));
    TAPML_TRY(space_memory(set, block, &memory));
    if (!block->casted) { // No reduced dtype has more bytes than f32.
        block->casted = alloc_aligned(block->bytes.at[ACTIVATION_F32], CASTED_ALIGN);
    }
    if (!block->casted) {
        return status_no_memory();
    }
    passage->values = memory;
    passage->casted = block->casted;
    return space_buffer(set, block, place, &passage->buffer);
}

static uint64_t grain_bytes(const struct passage *passage)
{
    return (passage->grain_end - passage->grain_first) * passage->type->bytes;
}

static tapml_status explain(tapml_status status, const struct passage *passage)
{
    return space_explain(passage->set, (uint32_t)(passage->place - passage->set->places), status);
}

static int is_cast(const struct space_set *set, uint32_t place, activation_set mark)
{
    return (mark & activation_bit(set->places[place].activation)) != 0;
}

// Values around the range go with it where a grain asks for them: they are the same there.
tapml_status cast_reduce(struct space_set *set,
                         struct space_block *block,
                         uint32_t place,
                         uint64_t begin_byte,
                         uint64_t end_byte)
{
    struct passage passage;
    ASSERT(activation_is_reduced(set->places[place].activation));
    TAPML_TRY(begin(set, block, place, begin_byte, end_byte, &passage));
    passage.type->from_f32(passage.values + passage.grain_first,
                           passage.grain_end - passage.grain_first,
                           passage.casted + passage.grain_first * passage.type->bytes);
    return TAPML_OK;
}

tapml_status cast_widen(struct space_set *set,
                        struct space_block *block,
                        uint32_t place,
                        uint64_t begin_byte,
                        uint64_t end_byte)
{
    struct passage passage;
    ASSERT(activation_is_reduced(set->places[place].activation));
    TAPML_TRY(begin(set, block, place, begin_byte, end_byte, &passage));
    passage.type->to_f32(passage.casted + passage.first * passage.type->bytes,
                         passage.end - passage.first, passage.values + passage.first);
    return TAPML_OK;
}

// Queues the copy of reduced values to a place, or from it.
static tapml_status copy(struct space_set *set,
                         struct space_block *block,
                         uint32_t place,
                         uint64_t begin_byte,
                         uint64_t end_byte,
                         int is_sent)
{
    struct passage passage;
    TAPML_TRY(begin(set, block, place, begin_byte, end_byte, &passage));
    struct backend *backend = passage.place->backend;
    const uint64_t offset = passage.grain_first * passage.type->bytes;
    unsigned char *casted = passage.casted + offset;
    space_note_call(set, place);
    if (!is_sent) {
        return explain(
            transfer_from(backend, passage.buffer, offset, casted, grain_bytes(&passage)),
            &passage);
    }
    TAPML_TRY(explain(transfer_to(backend, passage.buffer, offset, casted, grain_bytes(&passage)),
                      &passage));
    block->read_by[place] = ++passage.place->written;
    return TAPML_OK;
}

tapml_status cast_send(struct space_set *set,
                       struct space_block *block,
                       uint32_t place,
                       activation_set mark,
                       uint64_t begin_byte,
                       uint64_t end_byte)
{
    return is_cast(set, place, mark) ? copy(set, block, place, begin_byte, end_byte, 1)
                                     : space_upload(set, block, place, begin_byte, end_byte);
}

tapml_status cast_receive(struct space_set *set,
                          struct space_block *block,
                          uint32_t place,
                          activation_set mark,
                          uint64_t begin_byte,
                          uint64_t end_byte)
{
    return is_cast(set, place, mark) ? copy(set, block, place, begin_byte, end_byte, 0)
                                     : space_download(set, block, place, begin_byte, end_byte);
}

tapml_status cast_upload(struct space_set *set,
                         struct space_block *block,
                         uint32_t place,
                         activation_set mark,
                         uint64_t begin_byte,
                         uint64_t end_byte)
{
    if (is_cast(set, place, mark)) {
        TAPML_TRY(cast_reduce(set, block, place, begin_byte, end_byte));
    }
    return cast_send(set, block, place, mark, begin_byte, end_byte);
}

tapml_status cast_download(struct space_set *set,
                           struct space_block *block,
                           uint32_t place,
                           activation_set mark,
                           uint64_t begin_byte,
                           uint64_t end_byte)
{
    TAPML_TRY(cast_receive(set, block, place, mark, begin_byte, end_byte));
    TAPML_TRY(space_wait(set, place));
    return is_cast(set, place, mark) ? cast_widen(set, block, place, begin_byte, end_byte)
                                     : TAPML_OK;
}
