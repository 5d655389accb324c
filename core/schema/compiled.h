// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// An op's schema, checked and compiled once: kinds, effects, dtypes and layouts resolved, texts as
// programs (schema/expression), and a fingerprint.
//
// A compiled op is constant: any thread may read it. It borrows the op and its texts, and lives in
// the arena that it was made in.
#pragma once

#include "base/hash.h"
#include "schema/critical.h"
#include "schema/expression.h"
#include "schema/layout.h"
#include "schema/split.h"
#include "tensor/activation.h"

#include <tapml/op.h>

struct arena;

enum {
    COMPILED_PARAMS_MAX = 32, // Parameters of an op.
    COMPILED_DTYPES_MAX = 16  // Types of a parameter.
};

#define COMPILED_NONE UINT32_MAX // No parameter.

struct compiled_param {
    uint32_t kind;    // TAPML_P_*
    uint32_t effects; // TAPML_E_*
    int is_tensor;    // Or a list of tensors.
    uint32_t symbol;  // Of an i64; else EXPRESSION_NONE.

    // Of tensors.
    uint32_t dtype_like; // The parameter whose dtype it has, or COMPILED_NONE.
    uint32_t shape_like; // The parameter whose shape it has, or COMPILED_NONE.
    uint32_t dtype_count;
    uint32_t
        dtypes[COMPILED_DTYPES_MAX]; // TAPML_F32 and so on, as listed; none where `dtype_like`.
    int takes_encoded;
    enum layout layout;
    const struct expression *shape; // NULL where `shape_like`.

    const struct expression *region; // Rows of a state; NULL: all of it.

    // The values that are legal: a range of whole numbers, a list of numbers, or neither.
    const struct expression *domain; // NULL: no range.
    const double *choices;
    uint32_t choice_count;
};

struct compiled_op {
    const tapml_op *op; // Borrowed.
    struct expression_names names;
    struct compiled_param params[COMPILED_PARAMS_MAX];
    const struct expression *flops; // NULL: it says nothing.

    // Around which derived cases draw; none where it names none.
    const struct critical_value *criticals;
    uint32_t critical_count;

    // Of name, version and each parameter's name, kind, effects, shape, layout and region: equal
    // where the same arguments make the same call. Texts for readers, cost, tolerance, critical
    // values, rules of splitting, dtypes and domains are left out.
    struct hash fingerprint;

    // How its dimensions may be split; none where it does not say.
    const struct split_rule *splits;
    uint32_t split_count;
};

// Checks and compiles an op. TAPML_INVALID and TAPML_ABI_MISMATCH (a struct that is too short) name
// the parameter and what is wrong; TAPML_NO_MEMORY.
tapml_status compiled_create(const tapml_op *op,
                             struct arena *arena,
                             const struct compiled_op **out_schema) STATUS_USED;

// Whether a tensor parameter takes a plain dtype: one of its own list, or of that of the parameter
// whose dtype it has.
int compiled_takes(const struct compiled_op *schema, uint32_t param, uint32_t dtype);

// The reduced dtypes of activations that it takes.
activation_set compiled_takes_activations(const struct compiled_op *schema, uint32_t param);

// Whether two schemas are versions of one: fingerprints are equal, and of each list of dtypes and
// each domain one contains the other. TAPML_ABI_MISMATCH names the parameter and what differs.
tapml_status compiled_same(const struct compiled_op *ours,
                           const struct compiled_op *theirs) STATUS_USED;

// A bit for each parameter of which `theirs`, the same op as `ours`, lists fewer dtypes or has a
// smaller domain: not every call of `ours` is one of `theirs`.
uint32_t compiled_lacks(const struct compiled_op *ours, const struct compiled_op *theirs);
