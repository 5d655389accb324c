// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// y = silu(x) over [2, 3] as a guarded call, on a backend that keeps bytes and does nothing else.
#pragma once

#include "harness/plain.h"
#include "verify/guarded_call.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

enum { SILU_BYTES = 6 * sizeof(float), ZONE = GUARD_BUFFER_REDZONE_BYTES };

static const int64_t SILU_SHAPE[] = {2, 3};

struct guarded_silu {
    struct backend *backend;
    struct guard_buffer *x, *y;
    tapml_tensor tensors[2];
    tapml_value args[2];
    struct backend_call call;
    struct guarded_call guarded;
    const tapml_value *inner_args;
};

static inline tapml_tensor silu_tensor(struct guard_buffer *buffer)
{
    return (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                          .dtype = TAPML_F32,
                          .rank = 2,
                          .shape = SILU_SHAPE,
                          .buffer = &buffer->object};
}

static inline void silu_begin(struct guarded_silu *silu)
{
    *silu = (struct guarded_silu){.backend = plain_create()};
    cr_assert_not_null(silu->backend);
    MUST(guard_buffer_create(silu->backend, SILU_BYTES, 0, &silu->x));
    MUST(guard_buffer_create(silu->backend, SILU_BYTES, 1, &silu->y));
    MUST(backend_wait(silu->backend));
    silu->tensors[0] = silu_tensor(silu->x);
    silu->tensors[1] = silu_tensor(silu->y);
    silu->args[0] = (tapml_value){.kind = TAPML_P_TENSOR_IN, .u.p = &silu->tensors[0]};
    silu->args[1] = (tapml_value){.kind = TAPML_P_TENSOR_OUT, .u.p = &silu->tensors[1]};
    silu->call =
        (struct backend_call){.op = &tapml_silu, .args = silu->args, .instance = "layers.0/silu"};
    MUST(guarded_call_begin(&silu->guarded, &silu->call, &silu->inner_args));
}

static inline void silu_end(struct guarded_silu *silu)
{
    guarded_call_release(&silu->guarded);
    guard_buffer_destroy(silu->backend, silu->x);
    guard_buffer_destroy(silu->backend, silu->y);
    backend_release(silu->backend);
}

static inline unsigned char *silu_bytes(const struct guard_buffer *buffer)
{
    return plain_bytes(buffer->inner);
}
