// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "delta_models.h"
#include "model/delta.h"
#include "model/delta_make.h"

#include <criterion/criterion.h>
#include <math.h>

Test(delta_make, what_is_exact_is_what_has_no_kind_of_its_own)
{
    struct scratch scratch;
    struct delta_models models;
    struct delta_make_counts counts;
    struct delta *delta = NULL;
    scratch_make(&scratch);
    delta_models_make(&models);
    const char *path = scratch_path(&scratch, "d");
    const struct delta_make_options options = {
        .base = models.base, .fine = models.fine, .kind = DELTA_SPARSE, .density = 0.25};
    cr_assert_eq(delta_make(&options, path, &counts), TAPML_OK, "%s", status_message());
    cr_assert(counts.same == 1 && counts.exact == 1 && counts.lossy == 1);
    cr_assert_eq(counts.fine_bytes, 3 * DELTA_MODELS_VALUES * sizeof(float));
    cr_assert_eq(delta_open(path, &delta), TAPML_OK, "%s", status_message());
    cr_assert_eq(delta_count(delta), 2);
    cr_assert_str_eq(delta_at(delta, 0)->name, "matrix");
    cr_assert_eq(delta_at(delta, 0)->form.kind, DELTA_SPARSE);
    cr_assert_eq(delta_at(delta, 0)->form.kept, 16);
    cr_assert_eq(delta_at(delta, 1)->form.kind, DELTA_XOR);
    // The changes 0 .. 47 of 0 .. 63 are lost, but for the rounding of the others.
    double all = 0, lost = 0;
    for (int i = 0; i < DELTA_MODELS_VALUES; ++i) {
        all += i * i;
        lost += i < 48 ? i * i : 0;
    }
    cr_assert_float_eq(counts.lost, sqrt(lost / all), 1e-4);
    delta_close(delta);
    delta_models_release(&models);
    scratch_remove(&scratch);
}

Test(delta_make, values_that_are_not_finite_stay_exact)
{
    struct scratch scratch;
    struct delta_models models;
    struct delta_make_counts counts;
    scratch_make(&scratch);
    delta_models_make(&models);
    models.fine_values[0][3] = INFINITY;
    const struct delta_make_options options = {
        .base = models.base, .fine = models.fine, .kind = DELTA_SPARSE, .density = 0.25};
    cr_assert_eq(delta_make(&options, scratch_path(&scratch, "d"), &counts), TAPML_OK);
    cr_assert(counts.exact == 2 && counts.lossy == 0);
    delta_models_release(&models);
    scratch_remove(&scratch);
}

Test(delta_make, tensors_of_one_side_are_named)
{
    struct scratch scratch;
    struct delta_models models;
    struct delta_make_counts counts;
    scratch_make(&scratch);
    delta_models_make(&models);
    struct checkpoint *less = delta_models_checkpoint(models.fine_values, 2);
    const struct delta_make_options lacking = {.base = models.base, .fine = less};
    const struct delta_make_options more = {.base = less, .fine = models.fine};
    cr_assert_eq(delta_make(&lacking, scratch_path(&scratch, "d"), &counts), TAPML_INVALID);
    cr_assert_str_eq(status_message(), "tensor 'same' is in the base and not in the fine-tune");
    cr_assert_eq(delta_make(&more, scratch_path(&scratch, "d"), &counts), TAPML_INVALID);
    cr_assert_str_eq(status_message(), "tensor 'same' is in the fine-tune and not in the base");
    cr_assert_eq(rmdir(scratch.folder), 0, "a file is left");
    checkpoint_close(less);
    delta_models_release(&models);
}
