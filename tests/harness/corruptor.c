// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/corruptor.h"

#include "base/alloc.h"
#include "base/text.h"
#include "tensor/shape.h"

#include <criterion/criterion.h>
#include <string.h>

struct corruptor {
    struct backend_wrapper wrapper;
    struct backend_vt vt;
    struct corruptor_options options;
    unsigned seen; // A bit for each glob.
};

// Scales an f32 output where it lies. Outputs of the embedded model are dense.
static tapml_status scale(const struct corruptor *corruptor, const tapml_tensor *tensor)
{
    struct backend *inner = corruptor->wrapper.inner;
    int64_t count = 0;

    cr_assert_eq(shape_count(tensor->shape, tensor->rank, &count), TAPML_OK);
    float *values = alloc_array((size_t)count, sizeof(*values));

    cr_assert_not_null(values);
    TAPML_TRY(backend_read(inner, tensor->buffer, tensor->offset, values,
                           (uint64_t)count * sizeof(*values)));
    TAPML_TRY(backend_wait(inner));
    for (int64_t i = 0; i < count; i++) {
        values[i] = (float)(values[i] * corruptor->options.factor);
    }
    TAPML_TRY(backend_write(inner, tensor->buffer, tensor->offset, values,
                            (uint64_t)count * sizeof(*values)));
    TAPML_TRY(backend_wait(inner));
    alloc_free(values);
    return TAPML_OK;
}

// Whether the call is one to corrupt. With `only_together` the last of the globs in the order of
// the graph pays for all.
static int is_corrupted(struct corruptor *corruptor, const char *instance)
{
    unsigned all = 0, matched = 0;

    if (strcmp(instance, "embed") == 0) {
        corruptor->seen = 0;
    }
    for (unsigned i = 0; i < 4 && corruptor->options.instances[i] != NULL; i++) {
        all |= 1u << i;
        matched |= text_glob(corruptor->options.instances[i], instance) ? 1u << i : 0u;
    }
    corruptor->seen |= matched;
    if (!corruptor->options.only_together) {
        return matched != 0;
    }
    if (matched == 0 || corruptor->seen != all) {
        return 0;
    }
    corruptor->seen = 0;
    return 1;
}

static tapml_status corruptor_call(struct backend *backend, const struct backend_call *call)
{
    struct corruptor *corruptor = (struct corruptor *)backend;

    TAPML_TRY(backend_call(corruptor->wrapper.inner, call));
    if (call->instance == NULL || !is_corrupted(corruptor, call->instance)) {
        return TAPML_OK;
    }
    for (uint32_t i = 0; i < call->op->n_params; i++) {
        if (call->op->params[i]->kind == TAPML_P_TENSOR_OUT) {
            TAPML_TRY(scale(corruptor, call->args[i].u.p));
        }
    }
    return TAPML_OK;
}

static void corruptor_release(struct backend *backend)
{
    alloc_free(backend);
}

struct backend *corruptor_create(const struct corruptor_options *options)
{
    struct corruptor *corruptor = alloc_new(sizeof(*corruptor));

    cr_assert_not_null(corruptor);
    corruptor->options = *options;
    corruptor->vt = backend_forward_vt;
    corruptor->vt.call = corruptor_call;
    corruptor->vt.release = corruptor_release;
    corruptor->wrapper =
        (struct backend_wrapper){.backend = {.vt = &corruptor->vt}, .inner = options->inner};
    return &corruptor->wrapper.backend;
}

void corruptor_destroy(struct backend *backend)
{
    backend_release(backend);
}
