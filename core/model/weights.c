// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/weights.h"

#include "base/alloc.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#include <string.h>

struct weights {
    tapml_object object; // First: the object is the weights.
    const struct checkpoint *checkpoint;
};

static const struct checkpoint *checkpoint_of(tapml_object *object)
{
    return ((const struct weights *)object)->checkpoint;
}

static uint32_t count(tapml_object *object)
{
    const struct checkpoint *checkpoint = checkpoint_of(object);
    return checkpoint ? (uint32_t)checkpoint_count(checkpoint) : 0;
}

static const tapml_tensor *at(tapml_object *object, uint32_t index, const char **out_name)
{
    const struct checkpoint *checkpoint = checkpoint_of(object);
    const struct checkpoint_tensor *tensor = checkpoint ? checkpoint_at(checkpoint, index) : NULL;
    if (!tensor) {
        return NULL;
    }
    if (out_name) {
        *out_name = tensor->name;
    }
    return &tensor->tensor;
}

static const tapml_tensor *
find(tapml_object *object, const char *name, const tapml_tensor *expected)
{
    const struct checkpoint *checkpoint = checkpoint_of(object);
    if (!checkpoint) {
        return expected;
    }
    const struct checkpoint_tensor *tensor = checkpoint_find(checkpoint, name);
    return tensor ? &tensor->tensor : NULL;
}

static tapml_status read_values(const struct checkpoint *checkpoint,
                                const char *name,
                                uint64_t first,
                                uint64_t value_count,
                                double *out_values)
{
    const struct checkpoint_tensor *tensor = checkpoint_find(checkpoint, name);
    if (!tensor) {
        return status_fail(TAPML_NOT_FOUND, "the checkpoint has no tensor '%s'", name);
    }
    const size_t size = dtype_bytes(tensor->tensor.dtype);
    const uint64_t held = tensor->bytes / size;
    if (first > held || value_count > held - first) {
        return status_fail(TAPML_INVALID,
                           "tensor '%s': expected values within its %llu, found %llu from %llu on",
                           name, (unsigned long long)held, (unsigned long long)value_count,
                           (unsigned long long)first);
    }
    const unsigned char *data = tensor->data;
    convert_to_f64(tensor->tensor.dtype, data + first * size, (size_t)value_count, out_values);
    return TAPML_OK;
}

static tapml_status read(tapml_object *object,
                         tapml_call *call,
                         const char *name,
                         uint64_t first,
                         uint64_t value_count,
                         double *out_values)
{
    const struct checkpoint *checkpoint = checkpoint_of(object);
    if (checkpoint) {
        return read_values(checkpoint, name, first, value_count, out_values);
    }
    for (uint64_t i = 0; i < value_count; ++i) {
        out_values[i] = 0;
    }
    return TAPML_OK;
}

static void release(tapml_object *object)
{
    weights_destroy((struct weights *)object);
}

static const void *interface_of(tapml_object *object, const char *id)
{
    return strcmp(id, TAPML_HOST_WEIGHTS) == 0 ? weights_table() : NULL;
}

static const tapml_object_vt object_table = {
    .hdr = TAPML_HDR(tapml_object_vt),
    .release = release,
    .interface_of = interface_of,
};

tapml_status weights_create(const struct checkpoint *checkpoint, struct weights **out_weights)
{
    struct weights *weights = alloc_new(sizeof(*weights));
    if (!weights) {
        return status_no_memory();
    }
    weights->object.vt = &object_table;
    weights->checkpoint = checkpoint;
    *out_weights = weights;
    return TAPML_OK;
}

void weights_destroy(struct weights *weights)
{
    alloc_free(weights);
}

tapml_object *weights_object(struct weights *weights)
{
    return &weights->object;
}

const tapml_host_weights *weights_table(void)
{
    static const tapml_host_weights table = {
        .hdr = TAPML_HDR(tapml_host_weights),
        .count = count,
        .at = at,
        .find = find,
        .read = read,
    };
    return &table;
}

const struct checkpoint *weights_checkpoint(tapml_object *object)
{
    return checkpoint_of(object);
}
