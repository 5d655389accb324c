// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/reduced.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "schema/infer.h"

#include <stdio.h>

struct reduced {
    struct backend_wrapper wrapper; // First, so that a `struct backend *` is a `struct reduced *`.
    struct backend_vt vt;
    struct backend_info info;
};

static const struct backend_info *reduced_info(const struct backend *backend)
{
    return &((const struct reduced *)backend)->info;
}

// What is encoded from rows that were rounded first is not what the source encoded.
static int writes_blocks(const struct compiled_op *schema, const tapml_value *args)
{
    for (uint32_t i = 0; i < schema->op->n_params; i++) {
        const tapml_tensor *tensor = args[i].kind == TAPML_P_TENSOR_INOUT ? args[i].u.p : NULL;
        if (tensor && tensor->encoding) {
            return 1;
        }
    }
    return 0;
}

static tapml_status refuse(struct backend *backend, const char *reason, tapml_support *answer)
{
    *answer = (tapml_support){.hdr = TAPML_HDR(tapml_support), .grade = TAPML_SUPPORT_NO};
    (void)snprintf(answer->reason, sizeof(answer->reason), "in %s: %s",
                   activation_type(((struct reduced *)backend)->info.activation)->name, reason);
    return TAPML_OK;
}

static tapml_status reduced_supports(struct backend *backend,
                                     const struct compiled_op *schema,
                                     const tapml_value *args,
                                     tapml_support *answer)
{
    struct inferred inferred;
    const tapml_status status = infer_call(schema, args, &inferred);
    if (status == TAPML_INVALID) {
        return refuse(backend, status_message(), answer);
    }
    TAPML_TRY(status);
    return writes_blocks(schema, args)
               ? refuse(backend, "rows are rounded before they are encoded", answer)
               : backend_supports(((struct reduced *)backend)->wrapper.inner, schema, args, answer);
}

static void reduced_release(struct backend *backend)
{
    reduced_destroy((struct reduced *)backend);
}

tapml_status
reduced_create(struct backend *inner, enum activation activation, struct reduced **out_reduced)
{
    ASSERT(activation_is_reduced(activation));
    struct reduced *reduced = alloc_new(sizeof(*reduced));
    if (!reduced) {
        return status_no_memory();
    }
    reduced->vt = backend_forward_vt;
    reduced->vt.info = reduced_info;
    reduced->vt.supports = reduced_supports;
    reduced->vt.release = reduced_release;
    reduced->info = *backend_info(inner);
    reduced->info.activation = activation;
    reduced->wrapper = (struct backend_wrapper){.backend = {.vt = &reduced->vt}, .inner = inner};
    *out_reduced = reduced;
    return TAPML_OK;
}

void reduced_destroy(struct reduced *reduced)
{
    alloc_free(reduced);
}

struct backend *reduced_backend(struct reduced *reduced)
{
    return &reduced->wrapper.backend;
}

static tapml_status make_link(void *user,
                              const struct place_settings *settings,
                              struct backend *inner,
                              struct backend **out_backend)
{
    struct reduced *reduced = NULL;
    (void)user;
    TAPML_TRY(reduced_create(inner, settings->activation, &reduced));
    *out_backend = reduced_backend(reduced);
    return TAPML_OK;
}

struct place_link reduced_link(void)
{
    return (struct place_link){.kind = PLACE_REDUCED, .create = make_link};
}
