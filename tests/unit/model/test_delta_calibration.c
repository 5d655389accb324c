// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "base/pool.h"
#include "model/delta_calibration.h"
#include "model/delta_codec.h"

#include <tapml/tensor.h>

#include <criterion/criterion.h>
#include <string.h>

enum { ROWS = 4, COLUMNS = 8, COUNT = ROWS * COLUMNS };

// Knows the inputs of "known": all of them one; those of "wrong" cannot be read.
static tapml_status
find_moments(void *user, const char *weight, uint64_t columns, double **out_moments)
{
    ++*(int *)user;
    if (strcmp(weight, "wrong") == 0) {
        return status_fail(TAPML_INVALID, "no store");
    }
    if (strcmp(weight, "known") != 0) {
        return TAPML_OK;
    }
    *out_moments = alloc_array(columns * columns, sizeof(**out_moments));
    for (uint64_t i = 0; *out_moments && i < columns * columns; ++i) {
        (*out_moments)[i] = 1;
    }
    return *out_moments ? TAPML_OK : status_no_memory();
}

Test(delta_calibration, moments_are_asked_for_by_weight)
{
    int calls = 0;
    double *moments = NULL;
    const struct delta_calibration none = {.find_moments = NULL};
    const struct delta_calibration some = {.find_moments = find_moments, .user = &calls};
    cr_assert_eq(delta_calibration_find(&none, "known", COLUMNS, &moments), TAPML_OK);
    cr_assert_null(moments);
    cr_assert_eq(delta_calibration_find(&some, "other", COLUMNS, &moments), TAPML_OK);
    cr_assert_null(moments);
    cr_assert_eq(delta_calibration_find(&some, "wrong", COLUMNS, &moments), TAPML_INVALID);
    cr_assert_str_eq(status_message(), "tensor 'wrong': no store");
    cr_assert_eq(delta_calibration_find(&some, "known", COLUMNS, &moments), TAPML_OK);
    cr_assert_eq(moments[COLUMNS * COLUMNS - 1], 1);
    cr_assert_eq(calls, 3);
    alloc_free(moments);
}

Test(delta_calibration, what_is_made_is_weighed_by_outputs)
{
    struct pool *pool = NULL;
    float base[COUNT], fine[COUNT], made[COUNT];
    double *moments = NULL;
    unsigned char body[256];
    int calls = 0;
    cr_assert_eq(pool_create(1, &pool), TAPML_OK);
    const struct delta_calibration calibration = {
        .find_moments = find_moments, .user = &calls, .pool = pool};
    struct delta_form form = {
        .kind = DELTA_24Q4, .dtype = TAPML_F32, .count = COUNT, .kept = COUNT, .columns = COLUMNS};
    for (int i = 0; i < COUNT; ++i) {
        base[i] = (float)i;
        fine[i] = (float)i + (float)(i % COLUMNS + 1) / 64;
    }
    cr_assert_leq(delta_codec_bytes(&form), sizeof(body));
    cr_assert_eq(delta_calibration_find(&calibration, "known", COLUMNS, &moments), TAPML_OK);
    cr_assert_eq(delta_calibration_make(&calibration, moments, &form, base, fine, body), TAPML_OK,
                 "%s", status_message());
    cr_assert_eq(form.kept, COUNT / 2);
    cr_assert_eq(delta_codec_apply(&form, base, body, made), TAPML_OK, "%s", status_message());
    const struct delta_calibration_tensor tensor = {&form, base, fine, made};
    const struct delta_calibration_tensor same = {&form, base, fine, fine};
    struct delta_effect effect = {0, 0}, none = {0, 0};
    cr_assert_eq(delta_calibration_weigh(&calibration, moments, &tensor, &effect), TAPML_OK);
    cr_assert_eq(delta_calibration_weigh(&calibration, moments, &same, &none), TAPML_OK);
    // All inputs are one: an output changes by the sum of a row, 36 / 64.
    cr_assert_float_eq(effect.whole, ROWS * 36.0 / 64 * 36 / 64, 1e-9);
    cr_assert_eq(none.whole, effect.whole);
    cr_assert_eq(none.lost, 0);
    cr_assert(effect.lost < 0.02 * effect.whole, "%g of %g", effect.lost, effect.whole);
    SCRATCH_SWEEP(delta_calibration_make(&calibration, moments, &form, base, fine, body));
    SCRATCH_SWEEP(delta_calibration_weigh(&calibration, moments, &tensor, &effect));
    alloc_free(moments);
    pool_destroy(pool);
}
