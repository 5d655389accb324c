// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A call of an op as a graph of the library: tensors of the call, steps on them, and a result that
// goes where the call wants it. Or the question whether that would work: then tensors have no
// memory, and the device is asked for each step.
//
// The library counts axes from the last one on. Behind the first problem nothing is added, so that
// a caller looks at the end alone.
#pragma once

#include "device.h"

struct run {
    struct device *device;
    const struct library *library;
    const tapml_op *op;
    int is_trial;
    struct ggml_context *context;
    struct ggml_cgraph *graph;
    struct ggml_tensor *uploaded;  // Has what is in `upload` of the device; or NULL.
    char problem[LIBRARY_PROBLEM]; // Empty while all is well.
};

// Begins a call of `op` with the lock of the device, which run_end gives back. Returns 1, or 0
// where the library has no memory; then too run_end is called.
int run_begin(struct run *run, struct device *device, const tapml_op *op, int is_trial);

// Computes, or asks the device; what is wrong is the problem. Ends the graph.
void run_end(struct run *run);

int run_is_well(const struct run *run);

// Sets the problem, if it is the first.
void run_refuse(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

// A tensor of the call as it lies, of four axes: those that lie one behind the other are one, up to
// `keep` of the last ones, which stay apart. NULL with a problem: of more axes, of a type that the
// library has not, in an encoding.
struct ggml_tensor *run_tensor(struct run *run, const tapml_tensor *tensor, uint32_t keep);

// The same, for a step that takes only rows one behind the other: else a copy.
struct ggml_tensor *run_dense(struct run *run, const tapml_tensor *tensor, uint32_t keep);

// `tensor`, of the call or a part of one, for a step that needs it where the device can bind it:
// where it begins elsewhere, a copy.
struct ggml_tensor *run_aligned(struct run *run, struct ggml_tensor *tensor);

// A weight for a product or for its rows, in the library's own blocks where it is in an encoding.
struct ggml_tensor *run_weight(struct run *run, const tapml_tensor *tensor);

// A small weight in f32, or NULL for NULL.
struct ggml_tensor *run_factors(struct run *run, const tapml_tensor *tensor);

// A tensor whose values the host computes: `*out_values` has room for them, in a trial too.
struct ggml_tensor *
run_upload(struct run *run, enum ggml_type type, int64_t width, int64_t rows, void **out_values);

// Part of a tensor: `shape` values from the `first`-th on along each axis.
struct ggml_tensor *run_part(struct run *run,
                             struct ggml_tensor *tensor,
                             const int64_t first[4],
                             const int64_t shape[4]);

// The last steps: what `node` computes are the values of `y`, in their order.
void run_result(struct run *run, struct ggml_tensor *node, const tapml_tensor *y);
