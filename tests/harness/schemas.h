// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Ops of a test, compiled: what the host has from its catalogue.
#pragma once

#include "base/arena.h"
#include "base/assert.h"
#include "schema/infer.h"

// The schema of an op. It is compiled where it is first asked for, and lives until the test ends.
static inline const struct compiled_op *schema_of(const tapml_op *op)
{
    enum { SCHEMAS_MAX = 128 };
    static struct arena *arena;
    static const struct compiled_op *known[SCHEMAS_MAX];
    static size_t count;
    for (size_t i = 0; i < count; i++) {
        if (known[i]->op == op) {
            return known[i];
        }
    }
    arena = arena ? arena : arena_create();
    ASSERT(arena && count < SCHEMAS_MAX);
    const tapml_status status = compiled_create(op, arena, &known[count]);
    ASSERT(status == TAPML_OK);
    return known[count++];
}

// What an op's schema makes of arguments that fit it; until the next call.
static inline const struct inferred *inferred_of(const tapml_op *op, const tapml_value *args)
{
    static struct inferred inferred;
    const tapml_status status = infer_call(schema_of(op), args, &inferred);
    ASSERT(status == TAPML_OK);
    return &inferred;
}
