// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/checkpoint.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/shared.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/widen.h"

#include <stdlib.h>
#include <string.h>

// For the hash: of a tensor, and how many tensors.
enum { SAMPLE_BYTES = 256, SAMPLE_COUNT = 4096 };

struct shard {
    const char *name;
    struct file_map map;
    uint64_t header_begin, header_bytes;
};

struct checkpoint {
    struct arena *arena;
    const struct checkpoint *base; // Whose tensors are not copied; or NULL.
    const char *remark;
    struct hash change; // Of what checkpoint_set_change was told; zero: nothing.
    struct shard *shards;
    size_t shard_count;
    size_t shard_capacity;
    struct checkpoint_tensor *tensors;
    size_t tensor_count;
    size_t tensor_capacity;
    struct shared *shared; // Data of encoded tensors and of those that a reader made,
    void **copies;         // and of those for which there was no shared memory.
    size_t copy_count;
    size_t copy_capacity;
};

// -- Making ------------------------------------------------------------------------------------

tapml_status checkpoint_create(struct checkpoint **out_checkpoint)
{
    struct checkpoint *checkpoint = alloc_new(sizeof(*checkpoint));
    if (!checkpoint) {
        return status_no_memory();
    }
    checkpoint->arena = arena_create();
    if (!checkpoint->arena) {
        checkpoint_close(checkpoint);
        return status_no_memory();
    }
    *out_checkpoint = checkpoint;
    return TAPML_OK;
}

tapml_status checkpoint_branch(const struct checkpoint *base, struct checkpoint **out_checkpoint)
{
    struct checkpoint *branch = NULL;
    tapml_status status = checkpoint_create(&branch);
    for (size_t i = 0; status == TAPML_OK && i < base->tensor_count; ++i) {
        status = checkpoint_add_tensor(branch, &base->tensors[i]);
    }
    if (status != TAPML_OK) {
        checkpoint_close(branch);
        return status;
    }
    branch->base = base;
    branch->change = base->change;
    *out_checkpoint = branch;
    return TAPML_OK;
}

struct arena *checkpoint_arena(struct checkpoint *checkpoint)
{
    return checkpoint->arena;
}

tapml_status
checkpoint_add_file(struct checkpoint *checkpoint, const char *name, struct file_map *map)
{
    if (!alloc_grow((void **)&checkpoint->shards, &checkpoint->shard_capacity,
                    checkpoint->shard_count, sizeof(*checkpoint->shards))) {
        return status_no_memory();
    }
    struct shard *shard = &checkpoint->shards[checkpoint->shard_count];
    *shard = (struct shard){.name = arena_text(checkpoint->arena, name), .map = *map};
    if (!shard->name) {
        return status_no_memory();
    }
    *map = (struct file_map){.data = NULL, .descriptor = -1};
    ++checkpoint->shard_count;
    return TAPML_OK;
}

void checkpoint_set_header(struct checkpoint *checkpoint, uint64_t begin, uint64_t bytes)
{
    ASSERT(checkpoint->shard_count > 0);
    checkpoint->shards[checkpoint->shard_count - 1].header_begin = begin;
    checkpoint->shards[checkpoint->shard_count - 1].header_bytes = bytes;
}

void *checkpoint_copy(struct checkpoint *checkpoint, uint64_t bytes, size_t align)
{
    struct shared_span span;
    ASSERT(align <= SHARED_ALIGN);
    if ((checkpoint->shared || shared_create(SHARED_READ_ONLY, &checkpoint->shared) == TAPML_OK) &&
        shared_take(checkpoint->shared, bytes, &span) == TAPML_OK) {
        return span.memory;
    }
    if (!alloc_grow((void **)&checkpoint->copies, &checkpoint->copy_capacity,
                    checkpoint->copy_count, sizeof(*checkpoint->copies))) {
        return NULL;
    }
    void *copy = alloc_aligned((size_t)bytes, align);
    if (copy) {
        checkpoint->copies[checkpoint->copy_count++] = copy;
    }
    return copy;
}

tapml_status checkpoint_add_tensor(struct checkpoint *checkpoint,
                                   const struct checkpoint_tensor *tensor)
{
    if (!alloc_grow((void **)&checkpoint->tensors, &checkpoint->tensor_capacity,
                    checkpoint->tensor_count, sizeof(*checkpoint->tensors))) {
        return status_no_memory();
    }
    checkpoint->tensors[checkpoint->tensor_count] = *tensor;
    ++checkpoint->tensor_count;
    return TAPML_OK;
}

tapml_status checkpoint_replace(struct checkpoint *checkpoint,
                                const struct checkpoint_tensor *tensors,
                                size_t count)
{
    checkpoint->tensor_count = 0;
    for (size_t i = 0; i < count; ++i) {
        TAPML_TRY(checkpoint_add_tensor(checkpoint, &tensors[i]));
    }
    return TAPML_OK;
}

tapml_status checkpoint_set_remark(struct checkpoint *checkpoint, const char *remark)
{
    checkpoint->remark = arena_text(checkpoint->arena, remark);
    return checkpoint->remark ? TAPML_OK : status_no_memory();
}

const char *checkpoint_remark(const struct checkpoint *checkpoint)
{
    return checkpoint->remark;
}

tapml_status checkpoint_check_types(const struct checkpoint *checkpoint)
{
    for (size_t i = 0; i < checkpoint->tensor_count; ++i) {
        const struct checkpoint_tensor *tensor = &checkpoint->tensors[i];
        if (tensor->stored) {
            return status_fail(TAPML_INVALID,
                               "%s: tensor '%s': expected a type of plain numbers, or a "
                               "'quantization_config' to which it belongs, found %s",
                               tensor->file, tensor->name, tensor->stored);
        }
    }
    return TAPML_OK;
}

// The bytes that lie at `data` in one piece: of spans elsewhere those of the first, which are most.
static uint64_t first_bytes(const struct checkpoint_tensor *tensor)
{
    const tapml_tensor *form = &tensor->tensor;
    return tensor->spans ? tiles_span_bytes(form->encoding, form->shape, form->rank, 0)
                         : tensor->bytes;
}

void checkpoint_leave(const struct checkpoint *checkpoint, const struct checkpoint_tensor *tensor)
{
    const uint64_t bytes = first_bytes(tensor);
    for (size_t i = 0; i < checkpoint->shard_count; ++i) {
        file_map_leave(&checkpoint->shards[i].map, tensor->data, (size_t)bytes);
    }
}

static int compare_tensors(const void *a, const void *b)
{
    const struct checkpoint_tensor *x = a;
    const struct checkpoint_tensor *y = b;
    return strcmp(x->name, y->name);
}

static int compare_shards(const void *a, const void *b)
{
    const struct shard *x = a;
    const struct shard *y = b;
    return strcmp(x->name, y->name);
}

tapml_status checkpoint_finish(struct checkpoint *checkpoint)
{
    struct checkpoint_tensor *tensors = checkpoint->tensors;
    if (checkpoint->shard_count > 0) {
        qsort(checkpoint->shards, checkpoint->shard_count, sizeof(*checkpoint->shards),
              compare_shards);
    }
    if (checkpoint->tensor_count > 0) {
        qsort(tensors, checkpoint->tensor_count, sizeof(*tensors), compare_tensors);
    }
    for (size_t i = 1; i < checkpoint->tensor_count; ++i) {
        if (strcmp(tensors[i - 1].name, tensors[i].name) == 0) {
            return status_fail(TAPML_INVALID, "tensor '%s' is in both '%s' and '%s'",
                               tensors[i].name, tensors[i - 1].file, tensors[i].file);
        }
    }
    return TAPML_OK;
}

// -- Using -------------------------------------------------------------------------------------

void checkpoint_close(struct checkpoint *checkpoint)
{
    if (!checkpoint) {
        return;
    }
    for (size_t i = 0; i < checkpoint->copy_count; ++i) {
        alloc_free(checkpoint->copies[i]);
    }
    for (size_t i = 0; i < checkpoint->shard_count; ++i) {
        file_unmap(&checkpoint->shards[i].map);
    }
    shared_destroy(checkpoint->shared);
    alloc_free(checkpoint->copies);
    alloc_free(checkpoint->shards);
    alloc_free(checkpoint->tensors);
    arena_destroy(checkpoint->arena);
    alloc_free(checkpoint);
}

size_t checkpoint_count(const struct checkpoint *checkpoint)
{
    return checkpoint->tensor_count;
}

const struct checkpoint_tensor *checkpoint_at(const struct checkpoint *checkpoint, size_t index)
{
    return index < checkpoint->tensor_count ? &checkpoint->tensors[index] : NULL;
}

const struct checkpoint_tensor *checkpoint_find(const struct checkpoint *checkpoint,
                                                const char *name)
{
    if (checkpoint->tensor_count == 0) {
        return NULL;
    }
    const struct checkpoint_tensor key = {.name = name};
    return bsearch(&key, checkpoint->tensors, checkpoint->tensor_count,
                   sizeof(*checkpoint->tensors), compare_tensors);
}

const void *checkpoint_contents(const struct checkpoint_tensor *tensor, void **out_copy)
{
    const tapml_tensor *form = &tensor->tensor;
    *out_copy = NULL;
    if (!tensor->spans) {
        return tensor->data;
    }
    *out_copy = alloc_aligned((size_t)tensor->bytes, (size_t)encoding_align(form->encoding));
    if (*out_copy) {
        tiles_gather(form->encoding, tensor->spans, form->shape, form->rank, *out_copy);
    }
    return *out_copy;
}

static void widen(const struct checkpoint_tensor *tensor, uint32_t dtype, void *out_values)
{
    widen_values(&(struct widen_source){tensor->tensor.encoding, tensor->spans, tensor->data,
                                        tensor->tensor.shape, tensor->tensor.rank},
                 dtype, out_values);
}

void *checkpoint_widen(struct checkpoint *checkpoint,
                       const struct checkpoint_tensor *tensor,
                       uint32_t dtype)
{
    uint64_t bytes = 0;
    if (encoding_bytes(NULL, dtype, tensor->tensor.shape, tensor->tensor.rank, &bytes) !=
        TAPML_OK) {
        return NULL; // Its values were counted before.
    }
    void *values = checkpoint_copy(checkpoint, bytes, sizeof(float));
    if (values) {
        widen(tensor, dtype, values);
    }
    return values;
}

// The values of a tensor as a plain one has them; those of tiles are f32 in `*out_copy`.
static tapml_status plain_values(const struct checkpoint_tensor *tensor,
                                 int64_t count,
                                 uint32_t *out_dtype,
                                 const void **out_values,
                                 float **out_copy)
{
    *out_copy = NULL;
    *out_dtype = tensor->tensor.dtype;
    *out_values = tensor->data;
    if (tensor->tensor.encoding) {
        *out_copy = alloc_array((size_t)count, sizeof(**out_copy));
        if (!*out_copy) {
            return status_no_memory();
        }
        widen(tensor, TAPML_F32, *out_copy);
        *out_dtype = TAPML_F32;
        *out_values = *out_copy;
    }
    return TAPML_OK;
}

// Makes the encoded form in a copy that the checkpoint owns.
static tapml_status encode(struct checkpoint *checkpoint,
                           struct checkpoint_tensor *tensor,
                           const tapml_encoding *encoding,
                           struct encoding_loss *out_loss)
{
    const tapml_tensor *plain = &tensor->tensor;
    uint64_t bytes = 0;
    int64_t count = 0;
    uint32_t dtype = 0;
    const void *values = NULL;
    float *widened = NULL;
    if (!tiles_are_in(plain->encoding) && (plain->encoding || !dtype_is_float(plain->dtype))) {
        return status_fail(TAPML_INVALID, "expected a float type to encode, found %s",
                           encoding_name(plain->encoding, plain->dtype));
    }
    TAPML_TRY(shape_count(plain->shape, plain->rank, &count));
    TAPML_TRY(encoding_bytes(encoding, TAPML_U8, plain->shape, plain->rank, &bytes));
    const uint64_t align = encoding_align(encoding);
    void *copy = checkpoint_copy(checkpoint, bytes > 0 ? bytes : align, align);
    if (!copy) {
        return status_no_memory();
    }
    TAPML_TRY(plain_values(tensor, count, &dtype, &values, &widened));
    const tapml_status status = encoding_encode(
        encoding, dtype, values, (uint64_t)count / encoding->block_values, copy, out_loss);
    alloc_free(widened);
    TAPML_TRY(status);
    checkpoint_leave(checkpoint, tensor); // The encoded form is read from now on.
    tensor->spans = NULL;
    tensor->tensor.dtype = TAPML_U8;
    tensor->tensor.encoding = encoding;
    tensor->data = copy;
    tensor->bytes = bytes;
    return TAPML_OK;
}

void checkpoint_set_inputs(struct checkpoint *checkpoint,
                           const char *name,
                           const struct input_scheme *inputs)
{
    const struct checkpoint_tensor *found = checkpoint_find(checkpoint, name);
    if (found) {
        checkpoint->tensors[found - checkpoint->tensors].inputs = inputs;
    }
}

// A tensor that is there, to be changed.
static struct checkpoint_tensor *changed(struct checkpoint *checkpoint, const char *name)
{
    const struct checkpoint_tensor *found = checkpoint_find(checkpoint, name);
    ASSERT(found != NULL);
    return &checkpoint->tensors[found - checkpoint->tensors];
}

void checkpoint_set_data(struct checkpoint *checkpoint, const char *name, const void *data)
{
    struct checkpoint_tensor *tensor = changed(checkpoint, name);
    ASSERT(!tensor->spans && !tensor->tensor.encoding);
    tensor->data = data;
}

void checkpoint_set_change(struct checkpoint *checkpoint, struct hash change)
{
    checkpoint->change = change;
}

void checkpoint_set_adapter(struct checkpoint *checkpoint, const struct checkpoint_adapter *adapter)
{
    changed(checkpoint, adapter->weight)->adapter = adapter;
    changed(checkpoint, adapter->down)->is_of_adapter = 1;
    if (adapter->up) {
        changed(checkpoint, adapter->up)->is_of_adapter = 1;
    }
}

tapml_status checkpoint_encode(struct checkpoint *checkpoint,
                               const char *name,
                               const tapml_encoding *encoding,
                               struct encoding_loss *out_loss)
{
    const struct checkpoint_tensor *found = checkpoint_find(checkpoint, name);
    if (!found) {
        return status_fail(TAPML_NOT_FOUND, "the checkpoint has no tensor '%s'", name);
    }
    *out_loss = (struct encoding_loss){0};
    const tapml_status status =
        encode(checkpoint, &checkpoint->tensors[found - checkpoint->tensors], encoding, out_loss);
    return status == TAPML_OK ? TAPML_OK : status_explain(status, "tensor '%s'", name);
}

size_t checkpoint_map_count(const struct checkpoint *checkpoint)
{
    return (checkpoint->base ? checkpoint_map_count(checkpoint->base) : 0) +
           checkpoint->shard_count + (checkpoint->shared ? shared_count(checkpoint->shared) : 0);
}

struct file_map checkpoint_map_at(const struct checkpoint *checkpoint, size_t index)
{
    const size_t of_base = checkpoint->base ? checkpoint_map_count(checkpoint->base) : 0;
    if (index < of_base) {
        return checkpoint_map_at(checkpoint->base, index);
    }
    index -= of_base;
    if (index < checkpoint->shard_count) {
        return checkpoint->shards[index].map;
    }
    const uint32_t region = (uint32_t)(index - checkpoint->shard_count);
    return (struct file_map){
        .data = shared_memory(checkpoint->shared, region),
        .size = (size_t)shared_bytes(checkpoint->shared, region),
        .descriptor = shared_descriptor(checkpoint->shared, region),
    };
}

// A hash of what was hashed before and of something more.
static struct hash hash_on(struct hash before, const void *data, uint64_t size)
{
    const struct {
        struct hash before, more;
        uint64_t size;
    } step = {before, hash_bytes(data, (size_t)size), size};
    return hash_bytes(&step, sizeof(step));
}

// Samples lie far apart: without this each would read pages around it that nobody needs yet.
static void expect(const struct checkpoint *checkpoint, enum file_reading reading)
{
    if (checkpoint->base) {
        expect(checkpoint->base, reading);
    }
    for (size_t i = 0; i < checkpoint->shard_count; ++i) {
        file_map_expect(&checkpoint->shards[i].map, reading);
    }
}

// Names, types, shapes and places stand in the header; from them follows the size.
static struct hash hash_headers(const struct checkpoint *checkpoint)
{
    struct hash hash = checkpoint->base ? hash_headers(checkpoint->base) : (struct hash){0, 0};
    for (size_t i = 0; i < checkpoint->shard_count; ++i) {
        const struct shard *shard = &checkpoint->shards[i];
        hash = hash_on(hash, shard->map.data + shard->header_begin, shard->header_bytes);
    }
    return hash;
}

struct hash checkpoint_hash(const struct checkpoint *checkpoint)
{
    expect(checkpoint, FILE_READ_SAMPLES);
    struct hash hash = hash_headers(checkpoint);
    const size_t step = checkpoint->tensor_count / SAMPLE_COUNT + 1;
    for (size_t i = 0; i < checkpoint->tensor_count; i += step) {
        const struct checkpoint_tensor *tensor = &checkpoint->tensors[i];
        const unsigned char *data = tensor->data;
        const uint64_t bytes = first_bytes(tensor);
        const uint64_t sample = bytes < SAMPLE_BYTES ? bytes : SAMPLE_BYTES;
        hash = hash_on(hash, sample > 0 ? data + (bytes - sample) / 2 : data, sample);
    }
    expect(checkpoint, FILE_READ_ON);
    if (!hash_equal(checkpoint->change, (struct hash){0, 0})) {
        hash = hash_on(hash, &checkpoint->change, sizeof(checkpoint->change));
    }
    return hash;
}
