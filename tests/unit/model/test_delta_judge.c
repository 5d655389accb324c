// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "base/pool.h"
#include "delta_models.h"
#include "model/delta.h"
#include "model/delta_judge.h"
#include "model/delta_make.h"

#include <criterion/criterion.h>

// Each input of a weight was seen once, alone.
static tapml_status
find_moments(void *user, const char *weight, uint64_t columns, double **out_moments)
{
    (void)user;
    (void)weight;
    *out_moments = alloc_array(columns * columns, sizeof(**out_moments));
    for (uint64_t i = 0; *out_moments && i < columns; ++i) {
        (*out_moments)[i * columns + i] = 1;
    }
    return *out_moments ? TAPML_OK : status_no_memory();
}

Test(delta_judge, sums_are_those_that_making_found)
{
    struct scratch scratch;
    struct delta_models models;
    struct delta_make_counts counts;
    struct delta_judged judged;
    struct delta *delta = NULL;
    struct pool *pool = NULL;
    scratch_make(&scratch);
    delta_models_make(&models);
    cr_assert_eq(pool_create(1, &pool), TAPML_OK);
    const struct delta_make_options options = {
        .base = models.base,
        .fine = models.fine,
        .kind = DELTA_24Q4,
        .calibration = {.find_moments = find_moments, .pool = pool}};
    const char *path = scratch_path(&scratch, "d");
    cr_assert_eq(delta_make(&options, path, &counts), TAPML_OK, "%s", status_message());
    cr_assert(counts.lossy == 1 && counts.exact == 1 && counts.calibrated == 1);
    struct checkpoint *made = delta_models_checkpoint(models.base_values, 3);
    struct checkpoint *less = delta_models_checkpoint(models.fine_values, 1);
    cr_assert_eq(delta_open(path, &delta), TAPML_OK);
    cr_assert_eq(delta_apply(delta, made), TAPML_OK, "%s", status_message());
    cr_assert_eq(delta_judge(delta, models.base, models.fine, made, &options.calibration, &judged),
                 TAPML_OK, "%s", status_message());
    cr_assert_eq(judged.count, 1);
    cr_assert_eq(judged.weights[0].item, delta_at(delta, 0));
    cr_assert_eq(judged.weights[0].effect.lost, judged.effect.lost);
    // The file says so too, but for its digits.
    cr_assert(delta_at(delta, 0)->is_of_outputs);
    cr_assert_float_eq(delta_at(delta, 0)->lost, counts.lost, 1e-8);
    cr_assert_lt(delta_at(delta, 1)->lost, 0);
    cr_assert_eq(judged.effect.lost, counts.effect.lost);
    cr_assert_eq(judged.effect.whole, counts.effect.whole);
    cr_assert_float_eq(delta_calibration_part(&judged.effect), counts.lost, 1e-9);
    delta_judge_release(&judged);
    cr_assert_eq(delta_judge(delta, models.base, less, made, &options.calibration, &judged),
                 TAPML_INVALID);
    cr_assert_str_eq(status_message(),
                     "tensor 'row' of the fine-tune: expected 64 values of f32, found 0 of none");
    delta_judge_release(&judged);
    delta_close(delta);
    checkpoint_close(made);
    checkpoint_close(less);
    pool_destroy(pool);
    delta_models_release(&models);
    scratch_remove(&scratch);
}
