// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/vandal.h"

#include "base/alloc.h"

#include <criterion/criterion.h>
#include <string.h>

enum { BYTES_MAX = 64 };

struct vandal {
    struct backend_wrapper wrapper;
    struct backend_vt vt;
    struct vandal_options options;
};

static tapml_status vandal_call(struct backend *backend, const struct backend_call *call)
{
    static const float ONES[BYTES_MAX / sizeof(float)] = {1, 1, 1, 1, 1, 1, 1, 1,
                                                          1, 1, 1, 1, 1, 1, 1, 1};
    const struct vandal *vandal = (const struct vandal *)backend;
    const struct vandal_options *options = &vandal->options;
    struct backend *inner = vandal->wrapper.inner;
    unsigned char before[BYTES_MAX];

    if (options->act == VANDAL_RESTS ||
        (options->instance != NULL && strcmp(options->instance, call->instance) != 0)) {
        return backend_call(inner, call);
    }
    const tapml_tensor *tensor = call->args[options->param].u.p;
    const uint64_t offset = tensor->offset + (uint64_t)options->offset_bytes;

    TAPML_TRY(backend_read(inner, tensor->buffer, offset, before, options->size_bytes));
    TAPML_TRY(backend_wait(inner));
    TAPML_TRY(backend_call(inner, call));
    TAPML_TRY(backend_write(inner, tensor->buffer, offset,
                            options->act == VANDAL_WRITES ? (const void *)ONES : before,
                            options->size_bytes));
    return backend_wait(inner);
}

static void vandal_release(struct backend *backend)
{
    alloc_free(backend);
}

struct backend *vandal_create(struct backend *inner)
{
    struct vandal *vandal = alloc_new(sizeof(*vandal));

    cr_assert_not_null(vandal);
    vandal->vt = backend_forward_vt;
    vandal->vt.call = vandal_call;
    vandal->vt.release = vandal_release;
    vandal->wrapper = (struct backend_wrapper){.backend = {.vt = &vandal->vt}, .inner = inner};
    return &vandal->wrapper.backend;
}

void vandal_set(struct backend *vandal, const struct vandal_options *options)
{
    cr_assert_leq(options->size_bytes, BYTES_MAX);
    ((struct vandal *)vandal)->options = *options;
}
