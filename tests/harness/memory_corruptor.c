// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/memory_corruptor.h"

#include "base/alloc.h"

#include <criterion/criterion.h>
#include <string.h>

enum { BYTES_MAX = 64 };

struct memory_corruptor {
    struct backend_wrapper wrapper;
    struct backend_vt vt;
    struct memory_corruptor_options options;
};

static tapml_status memory_corruptor_call(struct backend *backend, const struct backend_call *call)
{
    static const float ONES[BYTES_MAX / sizeof(float)] = {1, 1, 1, 1, 1, 1, 1, 1,
                                                          1, 1, 1, 1, 1, 1, 1, 1};
    const struct memory_corruptor *corruptor = (const struct memory_corruptor *)backend;
    const struct memory_corruptor_options *options = &corruptor->options;
    struct backend *inner = corruptor->wrapper.inner;
    unsigned char before[BYTES_MAX];

    if (options->act == MEMORY_CORRUPTOR_NONE ||
        (options->instance != NULL && strcmp(options->instance, call->instance) != 0)) {
        return backend_call(inner, call);
    }
    const tapml_tensor *tensor = call->args[options->param].u.p;
    tapml_object *buffer = options->buffer ? options->buffer : tensor->buffer;
    const uint64_t offset =
        (options->buffer ? 0 : tensor->offset) + (uint64_t)options->offset_bytes;

    TAPML_TRY(backend_read(inner, buffer, offset, before, options->size_bytes));
    TAPML_TRY(backend_wait(inner));
    TAPML_TRY(backend_call(inner, call));
    TAPML_TRY(backend_write(inner, buffer, offset,
                            options->act == MEMORY_CORRUPTOR_WRITES ? (const void *)ONES : before,
                            options->size_bytes));
    return backend_wait(inner);
}

static void memory_corruptor_release(struct backend *backend)
{
    alloc_free(backend);
}

struct backend *memory_corruptor_create(struct backend *inner)
{
    struct memory_corruptor *corruptor = alloc_new(sizeof(*corruptor));

    cr_assert_not_null(corruptor);
    corruptor->vt = backend_forward_vt;
    corruptor->vt.call = memory_corruptor_call;
    corruptor->vt.release = memory_corruptor_release;
    corruptor->wrapper =
        (struct backend_wrapper){.backend = {.vt = &corruptor->vt}, .inner = inner};
    return &corruptor->wrapper.backend;
}

void memory_corruptor_set(struct backend *corruptor, const struct memory_corruptor_options *options)
{
    cr_assert_leq(options->size_bytes, BYTES_MAX);
    ((struct memory_corruptor *)corruptor)->options = *options;
}
