// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Calls of a test, made as the host makes them.
#pragma once

#include "device/backend.h"
#include "harness/schemas.h"

// Matches the arguments of a call with its op's schema, and calls.
static inline tapml_status calls_make(struct backend *backend, const struct backend_call *call)
{
    struct inferred inferred;
    struct backend_call made = *call;
    TAPML_TRY(infer_call(schema_of(call->op), call->args, &inferred));
    made.inferred = &inferred;
    return backend_call(backend, &made);
}
