// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Makes the difference of two checkpoints with the same tensors (model/delta.h).
#pragma once

#include "base/status.h"
#include "model/delta_calibration.h"
#include "model/delta_form.h"

#include <stddef.h>
#include <stdint.h>

struct checkpoint;

struct delta_make_options {
    const struct checkpoint *base, *fine;
    enum delta_kind kind; // Of matrices of floats; the others are exact.
    double density;       // Of DELTA_SPARSE: which part of the changes stays, above 0, at most 1.
    struct delta_calibration calibration; // Its inputs are of DELTA_24Q2 and DELTA_24Q4.
};

struct delta_make_counts {
    size_t same, exact, lossy; // Tensors.
    uint64_t fine_bytes;       // Of all tensors.
    uint64_t file_bytes;
    double lost;       // Of the lossy ones: root of the squared errors over the squared changes.
    size_t calibrated; // Of the lossy ones, those whose inputs are known:
    struct delta_effect effect; // what the outputs of their products lose.
};

// Writes the file `path`. TAPML_INVALID names a tensor that only one of the two has, or that
// differs in type or shape; TAPML_UNIMPLEMENTED one that is quantised.
tapml_status delta_make(const struct delta_make_options *options,
                        const char *path,
                        struct delta_make_counts *out_counts) STATUS_USED;
