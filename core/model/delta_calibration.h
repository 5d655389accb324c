// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Changes of two of four values (model/delta_levels.h) of whole tensors, chosen by what the inputs
// of their products were (model/delta_prune.h).
//
// A tensor is a matrix whose rows are its last axis, that is weights as [out, in]. What knows
// inputs of none, as of an embedding or of a weight as [in, out], is rounded by itself.
#pragma once

#include "base/status.h"
#include "model/delta_form.h"

#include <stddef.h>
#include <stdint.h>

struct pool;

struct delta_calibration {
    // Gives the second moments of the inputs of the products of a weight, columns x columns, which
    // the caller frees by alloc_free, or NULL where it knows of none. NULL: of no weight.
    tapml_status (*find_moments)(void *user,
                                 const char *weight,
                                 uint64_t columns,
                                 double **out_moments);
    void *user;
    struct pool *pool; // For the work; borrowed.

    // Called behind each tensor, by who goes through all of a model; NULL: nobody is told. A status
    // that is not TAPML_OK ends the work.
    tapml_status (*progress)(void *told, size_t done, size_t all);
    void *told;
};

// Tells it. TAPML_OK where nobody is told.
tapml_status delta_calibration_tell(const struct delta_calibration *calibration,
                                    size_t done,
                                    size_t all) STATUS_USED;

// The moments of a weight, which the caller frees by alloc_free; NULL with TAPML_OK where there are
// none. What find_moments fails with.
tapml_status delta_calibration_find(const struct delta_calibration *calibration,
                                    const char *weight,
                                    uint64_t columns,
                                    double **out_moments) STATUS_USED;

// As delta_codec_make, of DELTA_24Q2 and DELTA_24Q4, values finite. `moments` may be NULL.
tapml_status delta_calibration_make(const struct delta_calibration *calibration,
                                    const double *moments,
                                    struct delta_form *io_form,
                                    const void *base,
                                    const void *fine,
                                    void *out_body) STATUS_USED;

// A tensor of a base, of a fine-tune, and as a delta makes it.
struct delta_calibration_tensor {
    const struct delta_form *form;
    const void *base, *fine, *made;
};

// The sum of the squared differences that outputs have by `made` in the place of `fine`, and by
// `base` in its place: what is lost, and what of.
struct delta_effect {
    double lost, whole;
};

// The root of what is lost over the whole; 0 where nothing changes.
double delta_calibration_part(const struct delta_effect *effect);

// Adds those of a tensor, whose moments are not NULL. TAPML_NO_MEMORY.
tapml_status delta_calibration_weigh(const struct delta_calibration *calibration,
                                     const double *moments,
                                     const struct delta_calibration_tensor *tensor,
                                     struct delta_effect *io_effect) STATUS_USED;
