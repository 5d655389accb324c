// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include "blocks.h"
#include "memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { VALUES_FEW = 64 << 10 };

static const struct {
    uint32_t dtype;
    enum ggml_type type;
} types[] = {
    {TAPML_F32, GGML_TYPE_F32},
    {TAPML_F16, GGML_TYPE_F16},
    {TAPML_BF16, GGML_TYPE_BF16},
    {TAPML_I32, GGML_TYPE_I32},
};

// -- A call ------------------------------------------------------------------------------------

int run_begin(struct run *run, struct device *device, const tapml_op *op, int is_trial)
{
    const struct library *ggml = &device->object.root->library;
    const struct ggml_init_params memory = {DEVICE_CONTEXT, device->context, true};

    *run = (struct run){
        .device = device,
        .library = ggml,
        .op = op,
        .is_trial = is_trial,
    };
    (void)pthread_mutex_lock(&device->lock);
    run->context = ggml->init(memory);
    if (run->context == NULL) {
        run_refuse(run, "ggml_init failed");
        return 0;
    }
    run->graph = ggml->new_graph_custom(run->context, DEVICE_STEPS, false);
    return 1;
}

int run_is_well(const struct run *run)
{
    return run->problem[0] == '\0';
}

void run_refuse(struct run *run, const char *format, ...)
{
    va_list arguments;

    if (run_is_well(run)) {
        va_start(arguments, format);
        (void)vsnprintf(run->problem, sizeof(run->problem), format, arguments);
        va_end(arguments);
    }
}

static void ask(struct run *run)
{
    const struct library *ggml = run->library;

    for (int i = 0; i < ggml->graph_n_nodes(run->graph); i++) {
        const struct ggml_tensor *node = ggml->graph_node(run->graph, i);

        if (!ggml->backend_dev_supports_op(run->device->kind->handle, node)) {
            run_refuse(run, "%s has no %s of these arguments", run->device->kind->id,
                       ggml->op_desc(node));
        }
    }
}

// Small steps are done before a second thread has begun.
static int threads_for(const struct run *run)
{
    int64_t values = 0;

    for (int i = 0; i < run->library->graph_n_nodes(run->graph); i++) {
        const struct ggml_tensor *node = run->library->graph_node(run->graph, i);

        values += run->library->nelements(node->src[0] != NULL ? node->src[0] : node);
    }
    return values < VALUES_FEW ? 1 : run->device->threads;
}

static void compute(struct run *run)
{
    const struct library *ggml = run->library;

    if (!ggml->gallocr_alloc_graph(run->device->allocator, run->graph)) {
        run_refuse(run, "ggml_gallocr_alloc_graph failed");
        return;
    }
    if (run->uploaded != NULL) {
        ggml->backend_tensor_set(run->uploaded, run->device->upload, 0,
                                 ggml->nbytes(run->uploaded));
    }
    if (run->device->set_threads != NULL) {
        run->device->set_threads(run->device->backend, threads_for(run));
    }
    const enum ggml_status status = ggml->backend_graph_compute(run->device->backend, run->graph);

    if (status != GGML_STATUS_SUCCESS) {
        run_refuse(run, "ggml_backend_graph_compute: status %d", (int)status);
    }
}

void run_end(struct run *run)
{
    if (run_is_well(run)) {
        (run->is_trial ? ask : compute)(run);
    }
    if (run->context != NULL) {
        run->library->free(run->context);
    }
    (void)pthread_mutex_unlock(&run->device->lock);
}

// -- Tensors -----------------------------------------------------------------------------------

struct axes {
    uint32_t count;
    int64_t shape[TAPML_MAX_RANK], stride[TAPML_MAX_RANK];
};

// From the last one on; those of one value are left out, and what lies one behind the other is one.
static struct axes axes_of(const tapml_tensor *tensor, uint32_t keep)
{
    struct axes axes = {0};
    int64_t dense = 1;

    for (uint32_t i = 0; i < tensor->rank; i++) {
        const uint32_t axis = tensor->rank - 1 - i;
        const int64_t extent = tensor->shape[axis];
        const int64_t stride = tensor->stride != NULL ? tensor->stride[axis] : dense;
        const uint32_t last = axes.count - 1;

        dense *= extent;
        if (i >= keep && extent == 1) {
            continue;
        }
        if (i > keep && axes.count > keep && stride == axes.stride[last] * axes.shape[last]) {
            axes.shape[last] *= extent;
        } else {
            axes.shape[axes.count] = extent;
            axes.stride[axes.count++] = stride;
        }
    }
    return axes;
}

static int find_type(struct run *run, const tapml_tensor *tensor, enum ggml_type *out_type)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        if (tensor->encoding == NULL && tensor->dtype == types[i].dtype) {
            *out_type = types[i].type;
            return 1;
        }
    }
    run_refuse(run, "%s is not mapped to the library",
               tensor->encoding != NULL ? tensor->encoding->id : "this type");
    return 0;
}

// The memory of a tensor of the call, which has none in a trial.
static ggml_backend_buffer_t memory_of(const struct run *run, const tapml_tensor *tensor)
{
    return run->is_trial ? NULL : object_of(tensor->buffer)->memory;
}

// A tensor of the library over memory that is there.
static struct ggml_tensor *leaf(struct run *run,
                                enum ggml_type type,
                                const int64_t shape[4],
                                ggml_backend_buffer_t memory,
                                uint64_t offset)
{
    struct ggml_tensor *made = run->library->new_tensor(run->context, type, 4, shape);

    if (memory != NULL) {
        made->buffer = memory;
        made->data = (char *)run->library->backend_buffer_get_base(memory) + offset;
    }
    return made;
}

struct ggml_tensor *run_tensor(struct run *run, const tapml_tensor *tensor, uint32_t keep)
{
    const struct axes axes = axes_of(tensor, keep);
    enum ggml_type type = GGML_TYPE_F32;
    int64_t shape[4] = {1, 1, 1, 1};

    if (axes.count > 4) {
        run_refuse(run, "the library has four axes, and this lies in %u", axes.count);
    }
    if (!run_is_well(run) || !find_type(run, tensor, &type)) {
        return NULL;
    }
    memcpy(shape, axes.shape, axes.count * sizeof(*shape));

    struct ggml_tensor *made = leaf(run, type, shape, memory_of(run, tensor), tensor->offset);

    for (uint32_t i = 0; i < 4; i++) {
        if (i < axes.count) {
            made->nb[i] = (size_t)axes.stride[i] * run->library->type_size(type);
        } else if (i > 0) {
            made->nb[i] = made->nb[i - 1] * (size_t)shape[i - 1];
        }
    }
    return made;
}

static int is_aligned(const struct run *run, const struct ggml_tensor *tensor)
{
    return run->is_trial || (uintptr_t)tensor->data % run->device->align == 0;
}

struct ggml_tensor *run_aligned(struct run *run, struct ggml_tensor *tensor)
{
    return is_aligned(run, tensor) ? tensor : run->library->cont(run->context, tensor);
}

struct ggml_tensor *run_dense(struct run *run, const tapml_tensor *tensor, uint32_t keep)
{
    struct ggml_tensor *made = run_tensor(run, tensor, keep);

    if (made == NULL) {
        return NULL;
    }
    return run->library->is_contiguous(made) ? run_aligned(run, made)
                                             : run->library->cont(run->context, made);
}

struct ggml_tensor *run_factors(struct run *run, const tapml_tensor *tensor)
{
    struct ggml_tensor *made = tensor != NULL ? run_dense(run, tensor, 1) : NULL;

    return made == NULL || made->type == GGML_TYPE_F32
               ? made
               : run->library->cast(run->context, made, GGML_TYPE_F32);
}

struct ggml_tensor *
run_upload(struct run *run, enum ggml_type type, int64_t width, int64_t rows, void **out_values)
{
    struct device *device = run->device;
    const struct object *own = &device->object;
    struct ggml_tensor *made = leaf(run, type, (const int64_t[]){width, rows, 1, 1}, NULL, 0);
    const size_t bytes = run->library->nbytes(made);

    if (bytes > device->upload_bytes) {
        own->core->free(own->host, device->upload, device->upload_bytes, MEMORY_ALIGN);
        device->upload = own->core->alloc(own->host, bytes, MEMORY_ALIGN);
        device->upload_bytes = device->upload != NULL ? bytes : 0;
    }
    if (device->upload == NULL) {
        run_refuse(run, "out of memory");
        return NULL;
    }
    run->library->set_input(made);
    run->uploaded = made;
    *out_values = device->upload;
    return made;
}

struct ggml_tensor *run_part(struct run *run,
                             struct ggml_tensor *tensor,
                             const int64_t first[4],
                             const int64_t shape[4])
{
    size_t offset = 0;

    for (uint32_t i = 0; i < 4; i++) {
        offset += (size_t)first[i] * tensor->nb[i];
    }
    return run->library->view_4d(run->context, tensor, shape[0], shape[1], shape[2], shape[3],
                                 tensor->nb[1], tensor->nb[2], tensor->nb[3], offset);
}

void run_result(struct run *run, struct ggml_tensor *node, const tapml_tensor *y)
{
    const struct library *ggml = run->library;
    struct ggml_tensor *target = run_tensor(run, y, 0);

    if (node == NULL || target == NULL) {
        return;
    }
    if (!run->is_trial) {
        memory_forget(object_of(y->buffer));
    }
    // A step that makes new values makes them in place.
    if (node->type == target->type && node->view_src == NULL && node->op != GGML_OP_NONE &&
        ggml->is_contiguous(target) && is_aligned(run, target)) {
        node->buffer = target->buffer;
        node->data = target->data;
    } else {
        node = ggml->cpy(run->context, node, target);
    }
    ggml->build_forward_expand(run->graph, node);
}

// -- Weights -----------------------------------------------------------------------------------

// What a weight becomes: blocks of the library, or f32.
struct packing {
    const struct blocks *blocks; // NULL of a plain weight.
    enum ggml_type from, type;   // Its own, or that with the same values; and what it becomes.
    size_t count;                // Blocks, or values.
    size_t bytes;                // Of the weight as it lies.
};

static void convert(const struct library *ggml,
                    const struct packing *packing,
                    const unsigned char *bytes,
                    unsigned char *out)
{
    const int64_t count = (int64_t)packing->count;
    const void *from = bytes;
    void *to = out;

    if (packing->blocks != NULL) {
        packing->blocks->pack(bytes, packing->count, out);
    } else if (packing->from == GGML_TYPE_F16) {
        ggml->fp16_to_fp32_row(from, to, count);
    } else {
        ggml->bf16_to_fp32_row(from, to, count);
    }
}

// Reads a weight, converts it and keeps it beside its buffer; returns NULL with a problem.
static struct packed *
pack(struct run *run, const tapml_tensor *tensor, const struct packing *packing)
{
    const struct library *ggml = run->library;
    struct object *buffer = object_of(tensor->buffer);
    const size_t size = packing->count * ggml->type_size(packing->type);
    unsigned char *bytes = buffer->core->alloc(buffer->host, packing->bytes, MEMORY_ALIGN);
    unsigned char *made = buffer->core->alloc(buffer->host, size, MEMORY_ALIGN);
    struct packed *packed = buffer->core->alloc(buffer->host, sizeof(*packed), sizeof(void *));
    const ggml_backend_buffer_t memory =
        ggml->backend_buft_alloc_buffer(run->device->memory_type, size + MEMORY_SLACK_BYTES);

    if (bytes != NULL && made != NULL && packed != NULL && memory != NULL) {
        const struct ggml_tensor from =
            memory_bytes(ggml, buffer->memory, tensor->offset, packing->bytes);
        struct ggml_tensor to = memory_bytes(ggml, memory, 0, size);

        ggml->backend_tensor_get(&from, bytes, 0, packing->bytes);
        convert(ggml, packing, bytes, made);
        ggml->backend_tensor_set(&to, made, 0, size);
        *packed = (struct packed){
            .next = buffer->packed,
            .offset = tensor->offset,
            .from = packing->from,
            .count = packing->count,
            .memory = memory,
        };
        buffer->packed = packed;
    } else {
        run_refuse(run, "out of memory for a weight in another type");
        buffer->core->free(buffer->host, packed, sizeof(*packed), sizeof(void *));
        packed = NULL;
        if (memory != NULL) {
            ggml->backend_buffer_free(memory);
        }
    }
    buffer->core->free(buffer->host, bytes, packing->bytes, MEMORY_ALIGN);
    buffer->core->free(buffer->host, made, size, MEMORY_ALIGN);
    return packed;
}

// A matrix in the type that `packing` says, made when it is asked for first.
static struct ggml_tensor *
packed_matrix(struct run *run, const tapml_tensor *tensor, const struct packing *packing)
{
    const int64_t shape[4] = {tensor->shape[1], tensor->shape[0], 1, 1};

    if (run->is_trial) {
        return leaf(run, packing->type, shape, NULL, 0);
    }
    struct packed *packed = object_of(tensor->buffer)->packed;

    while (packed != NULL && (packed->offset != tensor->offset || packed->from != packing->from ||
                              packed->count != packing->count)) {
        packed = packed->next;
    }
    packed = packed == NULL ? pack(run, tensor, packing) : packed;
    return packed != NULL ? leaf(run, packing->type, shape, packed->memory, 0) : NULL;
}

static struct ggml_tensor *matrix_of_blocks(struct run *run, const tapml_tensor *tensor)
{
    const struct blocks *blocks = blocks_find(tensor->encoding->id);

    if (blocks == NULL || tensor->rank != 2) {
        run_refuse(run, "%s is no format of the library", tensor->encoding->id);
        return NULL;
    }
    const size_t count = (size_t)(tensor->shape[0] * tensor->shape[1] / blocks->values);
    const struct packing packing = {
        .blocks = blocks,
        .from = blocks->type,
        .type = blocks->type,
        .count = count,
        .bytes = blocks_bytes(tensor->encoding, count),
    };
    const int64_t shape[4] = {tensor->shape[1], tensor->shape[0], 1, 1};

    return blocks->pack != NULL
               ? packed_matrix(run, tensor, &packing)
               : leaf(run, blocks->type, shape, memory_of(run, tensor), tensor->offset);
}

struct ggml_tensor *run_weight(struct run *run, const tapml_tensor *tensor)
{
    if (tensor->next != NULL) {
        run_refuse(run, "a weight in panels is not mapped to the library");
        return NULL;
    }
    if (tensor->encoding != NULL) {
        return matrix_of_blocks(run, tensor);
    }
    const enum device_form form = run->device->kind->form;
    struct ggml_tensor *made = run_dense(run, tensor, 2);
    const enum ggml_type type = made != NULL ? made->type : GGML_TYPE_F32;
    const int is_widened = (form == DEVICE_F32 && type == GGML_TYPE_F16) ||
                           (form <= DEVICE_F32 && type == GGML_TYPE_BF16);

    // One that does not lie dense is a copy already.
    if (!is_widened || made->op != GGML_OP_NONE || tensor->rank != 2) {
        return made;
    }
    return packed_matrix(run, tensor,
                         &(struct packing){
                             .from = made->type,
                             .count = (size_t)run->library->nelements(made),
                             .bytes = run->library->nbytes(made),
                             .type = GGML_TYPE_F32,
                         });
}
