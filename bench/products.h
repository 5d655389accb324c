// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "measure.h"

// How fast are the matrix products of a model, in f32 and divided among the threads of its pool?
//
// Two answer, by turns: a library's cblas_sgemm, and `linear` of the model's backend. For each
// shape the faster one counts, so that neither a slow library nor a slow product of ours makes a
// prefill look good.
struct products;

// Seconds of all products of a model: of each, and of the faster one for each shape.
struct products_times {
    struct moment library, own, best;
};

// Finds the shapes of the layers, a library (`--blas`, or one that is installed) and the backend's
// `linear`, where its memory is that of the host. One of the two may be missing: its times are
// infinite. The caller destroys it, and `measure` outlives it. TAPML_UNAVAILABLE where both are.
tapml_status products_create(const struct measure *measure,
                             struct products **out_products) STATUS_USED;

// Accepts NULL.
void products_destroy(struct products *products);

// Multiplies all shapes once in both ways.
tapml_status products_run(struct products *products, struct products_times *out_times) STATUS_USED;

// Additions and multiplications of a run.
double products_operations(const struct products *products);
