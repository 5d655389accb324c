// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What another implementation computes for a model: expected.safetensors beside its weights
// (docs/judge.md).
//
// The file is not trusted. Failures are TAPML_NO_MEMORY and those named below, whose messages name
// file and tensor.
#pragma once

#include "model/checkpoint.h"
#include "model/safetensors.h"
#include "run/pooling.h"

// A tensor of the file as doubles. The caller frees `values`.
struct expected {
    double *values;
    int64_t rows, width; // Rank 1: one row.
};

// Opens `given`; if that is NULL, expected.safetensors in the model's folder, or beside its GGUF
// file. `checkpoint_close` closes it. Fails as `safetensors_open_file` does.
tapml_status
expected_open(const char *model, const char *given, struct checkpoint **out_file) STATUS_USED;

// Reads a tensor of rank 1 or 2. TAPML_INVALID if there is none of that rank.
tapml_status expected_read(const struct checkpoint *file,
                           const char *name,
                           uint32_t rank,
                           struct expected *out_expected) STATUS_USED;

// Reads a tensor of at least one id, each of them 0 .. `last`. The caller frees the ids.
// TAPML_INVALID.
tapml_status expected_read_ids(const struct checkpoint *file,
                               const char *name,
                               int64_t last,
                               int32_t **out_ids,
                               int64_t *out_count) STATUS_USED;

// What is between two values of a row.
struct expected_margin {
    double margin; // By how much the first one exceeds the second.
    double most;   // The largest magnitude of the row.
};

// Compares the values at `first` and `second` in a row of tensor `name`, the last one for -1.
// TAPML_INVALID where they are not in it.
tapml_status expected_margin(const struct checkpoint *file,
                             const char *name,
                             int64_t row,
                             int32_t first,
                             int32_t second,
                             struct expected_margin *out_margin) STATUS_USED;

// max|computed - expected| / max(1, max|expected|) of a row; infinity where either has a NaN.
double expected_row_error(const float *computed, const double *expected, int64_t width);

// The worst error of a row of `rows`, [count, width], against the tensor `name` of that shape.
// TAPML_INVALID if there is none.
tapml_status expected_rows_error(const struct checkpoint *file,
                                 const char *name,
                                 const float *rows,
                                 int64_t count,
                                 int64_t width,
                                 double *out_error) STATUS_USED;

// The error of a finished embedding against the tensor `name` of rank 1. TAPML_INVALID if there is
// none of its width.
tapml_status expected_embedding_error(const struct checkpoint *file,
                                      const char *name,
                                      const struct pooling *computed,
                                      double *out_error) STATUS_USED;

// The error of a finished embedding against what the rows of the tensor `name` give, pooled in the
// same way. There are at most `tokens` rows, and `mask`, if it is not NULL, has as many entries.
// TAPML_INVALID.
tapml_status expected_pooled_error(const struct checkpoint *file,
                                   const char *name,
                                   const int32_t *mask,
                                   int64_t tokens,
                                   const struct pooling *computed,
                                   double *out_error) STATUS_USED;
