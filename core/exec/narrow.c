// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/narrow.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "exec/transfer.h"
#include "tensor/convert.h"

#include <stdio.h>
#include <string.h>

enum { HALVES_ALIGN = 64, GRAIN_HALVES = TAPML_TRANSFER_GRAIN / sizeof(uint16_t) };

// -- The wrapper -------------------------------------------------------------------------------

struct narrow {
    struct backend_wrapper wrapper; // First, so that a `struct backend *` is a `struct narrow *`.
    struct backend_vt vt;
    struct backend_info info;
};

static const struct backend_info *narrow_info(const struct backend *backend)
{
    return &((const struct narrow *)backend)->info;
}

static tapml_status narrow_supports(struct backend *backend,
                                    const struct compiled_op *schema,
                                    const tapml_value *args,
                                    tapml_support *answer)
{
    struct inferred inferred;
    const tapml_status status = infer_call(schema, args, &inferred);
    if (status != TAPML_INVALID) {
        TAPML_TRY(status);
        return backend_supports(((struct narrow *)backend)->wrapper.inner, schema, args, answer);
    }
    *answer = (tapml_support){.hdr = TAPML_HDR(tapml_support), .grade = TAPML_SUPPORT_NO};
    (void)snprintf(answer->reason, sizeof(answer->reason), "in f16: %s", status_message());
    return TAPML_OK;
}

static void narrow_release(struct backend *backend)
{
    narrow_destroy((struct narrow *)backend);
}

tapml_status narrow_create(struct backend *inner, struct narrow **out_narrow)
{
    struct narrow *narrow = alloc_new(sizeof(*narrow));
    if (!narrow) {
        return status_no_memory();
    }
    narrow->vt = backend_forward_vt;
    narrow->vt.info = narrow_info;
    narrow->vt.supports = narrow_supports;
    narrow->vt.release = narrow_release;
    narrow->info = *backend_info(inner);
    narrow->info.is_narrow = 1;
    narrow->wrapper = (struct backend_wrapper){.backend = {&narrow->vt}, .inner = inner};
    *out_narrow = narrow;
    return TAPML_OK;
}

void narrow_destroy(struct narrow *narrow)
{
    alloc_free(narrow);
}

struct backend *narrow_backend(struct narrow *narrow)
{
    return &narrow->wrapper.backend;
}

// -- What is f16 -------------------------------------------------------------------------------

// Takes the mark from a value that an op has as f32 alone.
static void unmark(const struct graph *graph, const struct graph_op *op, uint32_t p, uint8_t *marks)
{
    const struct graph_argument *argument = &op->arguments[p];
    const int is_list = argument->kind == TAPML_P_TENSORS_IN;
    const int is_tensor =
        is_list || (argument->kind >= TAPML_P_TENSOR_IN && argument->kind <= TAPML_P_TENSOR_INOUT);
    if (!is_tensor || compiled_takes(op->schema, p, TAPML_F16)) {
        return;
    }
    for (uint32_t i = 0; i < (is_list ? argument->count : 1); i++) {
        const uint32_t value = is_list ? argument->values[i] : argument->value;
        marks[graph->values[value].base] = 0;
    }
}

void narrow_mark(const struct graph *graph, uint8_t *out_marks)
{
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const struct graph_value *value = &graph->values[v];
        out_marks[v] = value->dtype == TAPML_F32 && value->kind != GRAPH_WEIGHT &&
                       value->kind != GRAPH_CONSTANT;
    }
    for (uint32_t i = 0; i < graph->op_count; i++) {
        for (uint32_t p = 0; p < graph->ops[i].op->n_params; p++) {
            unmark(graph, &graph->ops[i], p, out_marks);
        }
    }
    for (uint32_t v = 0; v < graph->value_count; v++) {
        out_marks[v] = out_marks[graph->values[v].base]; // Bases stand before their views.
    }
}

// -- The way there and back --------------------------------------------------------------------

// What a transfer of values [first, end) works with.
struct passage {
    struct space_place *place;
    tapml_object *buffer;
    float *values;    // All of the block,
    uint16_t *halves; // and all of its buffer.
    uint64_t first, end;
    uint64_t grain_first, grain_end; // The same, as whole grains of the buffer.
};

static tapml_status begin(struct space_set *set,
                          struct space_block *block,
                          uint32_t place,
                          uint64_t begin_byte,
                          uint64_t end_byte,
                          struct passage *passage)
{
    void *memory = NULL;
    passage->place = &set->places[place];
    passage->first = begin_byte / sizeof(float);
    passage->end = end_byte / sizeof(float);
    passage->grain_first = passage->first - passage->first % GRAIN_HALVES;
    passage->grain_end = passage->end + passage->end % GRAIN_HALVES;
    ASSERT(passage->first <= passage->end && passage->end <= block->bytes / sizeof(float));
    ASSERT(passage->grain_end <= block->narrow_bytes / sizeof(uint16_t));
    TAPML_TRY(space_claim(set, block));
    TAPML_TRY(space_memory(set, block, &memory));
    if (!block->halves) {
        block->halves = alloc_aligned(block->narrow_bytes, HALVES_ALIGN);
    }
    if (!block->halves) {
        return status_no_memory();
    }
    passage->values = memory;
    passage->halves = block->halves;
    return space_buffer(set, block, place, &passage->buffer);
}

static uint64_t grain_bytes(const struct passage *passage)
{
    return (passage->grain_end - passage->grain_first) * sizeof(uint16_t);
}

static tapml_status explain(tapml_status status, const struct passage *passage)
{
    return status == TAPML_OK ? status : status_explain(status, "on %s", passage->place->name);
}

// Values around the range go with it where a grain asks for them: they are the same there.
static tapml_status upload(struct passage *passage)
{
    const uint64_t first = passage->grain_first;
    convert_narrow(passage->values + first, passage->grain_end - first, passage->halves + first);
    return explain(transfer_to(passage->place->backend, passage->buffer, first * sizeof(uint16_t),
                               passage->halves + first, grain_bytes(passage)),
                   passage);
}

tapml_status narrow_upload(struct space_set *set,
                           struct space_block *block,
                           uint32_t place,
                           int is_marked,
                           uint64_t begin_byte,
                           uint64_t end_byte)
{
    if (!is_marked || !set->places[place].is_narrow) {
        return space_upload(set, block, place, begin_byte, end_byte);
    }
    struct passage passage;
    TAPML_TRY(begin(set, block, place, begin_byte, end_byte, &passage));
    TAPML_TRY(upload(&passage));
    space_note_call(set, place);
    block->read_by[place] = ++passage.place->written;
    return TAPML_OK;
}

static tapml_status download(const struct passage *passage)
{
    const uint64_t first = passage->grain_first;
    return explain(transfer_from(passage->place->backend, passage->buffer, first * sizeof(uint16_t),
                                 passage->halves + first, grain_bytes(passage)),
                   passage);
}

tapml_status narrow_download(struct space_set *set,
                             struct space_block *block,
                             uint32_t place,
                             int is_marked,
                             uint64_t begin_byte,
                             uint64_t end_byte)
{
    if (!is_marked || !set->places[place].is_narrow) {
        return space_download(set, block, place, begin_byte, end_byte);
    }
    struct passage passage;
    TAPML_TRY(begin(set, block, place, begin_byte, end_byte, &passage));
    TAPML_TRY(download(&passage));
    TAPML_TRY(space_wait(set, place));
    convert_widen(passage.halves + passage.first, passage.end - passage.first,
                  passage.values + passage.first);
    return TAPML_OK;
}
