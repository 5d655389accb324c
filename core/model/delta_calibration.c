// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/delta_calibration.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "model/delta_levels.h"
#include "model/delta_prune.h"
#include "tensor/convert.h"

#include <math.h>

tapml_status
delta_calibration_tell(const struct delta_calibration *calibration, size_t done, size_t all)
{
    return calibration->progress ? calibration->progress(calibration->told, done, all) : TAPML_OK;
}

double delta_calibration_part(const struct delta_effect *effect)
{
    return effect->whole > 0 ? sqrt(effect->lost / effect->whole) : 0;
}

tapml_status delta_calibration_find(const struct delta_calibration *calibration,
                                    const char *weight,
                                    uint64_t columns,
                                    double **out_moments)
{
    *out_moments = NULL;
    if (!calibration->find_moments || columns == 0) {
        return TAPML_OK;
    }
    const tapml_status status =
        calibration->find_moments(calibration->user, weight, columns, out_moments);
    return status == TAPML_OK ? TAPML_OK : status_explain(status, "tensor '%s'", weight);
}

// to - from, in memory that the caller frees; NULL if there is none.
static double *subtract(const struct delta_form *form, const void *from, const void *to)
{
    double *values = alloc_array(form->count, sizeof(*values));
    double *others = alloc_array(form->count, sizeof(*others));
    if (values && others) {
        convert_to_f64(form->dtype, to, form->count, values);
        convert_to_f64(form->dtype, from, form->count, others);
        for (uint64_t i = 0; i < form->count; ++i) {
            values[i] -= others[i];
        }
    } else {
        alloc_free(values);
        values = NULL;
    }
    alloc_free(others);
    return values;
}

static struct delta_prune_options options_of(const struct delta_calibration *calibration,
                                             const double *moments,
                                             const struct delta_form *form)
{
    ASSERT(form->columns > 0 && form->count % form->columns == 0);
    return (struct delta_prune_options){.rows = form->count / form->columns,
                                        .columns = form->columns,
                                        .bits = delta_levels_bits(form->kind),
                                        .moments = moments,
                                        .pool = calibration->pool};
}

tapml_status delta_calibration_make(const struct delta_calibration *calibration,
                                    const double *moments,
                                    struct delta_form *io_form,
                                    const void *base,
                                    const void *fine,
                                    void *out_body)
{
    const struct delta_prune_options options = options_of(calibration, moments, io_form);
    double *changes = subtract(io_form, base, fine);
    float *scales =
        alloc_array(options.rows * delta_levels_blocks(options.columns), sizeof(*scales));
    int8_t *levels = alloc_array(io_form->count, sizeof(*levels));
    tapml_status status = changes && scales && levels
                              ? delta_prune(&options, changes, scales, levels)
                              : status_no_memory();
    if (status == TAPML_OK) {
        delta_levels_pack(io_form, scales, levels, out_body);
    }
    alloc_free(changes);
    alloc_free(scales);
    alloc_free(levels);
    return status;
}

static tapml_status add_effect(const struct delta_prune_options *options,
                               const struct delta_form *form,
                               const void *from,
                               const void *to,
                               double *io_sum)
{
    double sum = 0;
    double *errors = subtract(form, from, to);
    const tapml_status status =
        errors ? delta_prune_effect(options, errors, &sum) : status_no_memory();
    alloc_free(errors);
    *io_sum += sum;
    return status;
}

tapml_status delta_calibration_weigh(const struct delta_calibration *calibration,
                                     const double *moments,
                                     const struct delta_calibration_tensor *tensor,
                                     struct delta_effect *io_effect)
{
    const struct delta_prune_options options = options_of(calibration, moments, tensor->form);
    ASSERT(moments);
    TAPML_TRY(add_effect(&options, tensor->form, tensor->fine, tensor->made, &io_effect->lost));
    return add_effect(&options, tensor->form, tensor->fine, tensor->base, &io_effect->whole);
}
