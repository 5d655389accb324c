// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "base/pool.h"
#include "model/delta_levels.h"
#include "model/delta_prune.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { ROWS = 21, COLUMNS = 135, COUNT = ROWS * COLUMNS, BLOCKS = 2, INPUTS = 400 };

struct matrices {
    double changes[COUNT], moments[COLUMNS * COLUMNS];
    float scales[ROWS * BLOCKS];
    int8_t levels[COUNT];
};

static double draw(uint32_t *io_state)
{
    *io_state = *io_state * 1664525 + 1013904223;
    return (double)(*io_state >> 8) / (1 << 23) - 1;
}

// Changes, and moments of inputs that hang together: each is like the one before it.
static struct matrices *make(void)
{
    struct matrices *made = alloc_new(sizeof(*made));
    uint32_t state = 26;
    cr_assert_not_null(made);
    for (int i = 0; i < COUNT; ++i) {
        made->changes[i] = draw(&state) / 64;
    }
    for (int n = 0; n < INPUTS; ++n) {
        double x[COLUMNS];
        for (int i = 0; i < COLUMNS; ++i) {
            x[i] = (i > 0 ? 0.9 * x[i - 1] : 0) + draw(&state);
        }
        for (int i = 0; i < COLUMNS; ++i) {
            for (int k = 0; k < COLUMNS; ++k) {
                made->moments[i * COLUMNS + k] += x[i] * x[k];
            }
        }
    }
    return made;
}

static struct delta_prune_options options_of(const double *moments, int bits, struct pool *pool)
{
    return (struct delta_prune_options){
        .rows = ROWS, .columns = COLUMNS, .bits = bits, .moments = moments, .pool = pool};
}

// Prunes, and gives which part of the outputs' changes is lost.
static double lost_of(struct matrices *made, int is_calibrated, int bits, struct pool *pool)
{
    double *errors = alloc_array(COUNT, sizeof(*errors)), lost = 0, whole = 0;
    const struct delta_prune_options used =
        options_of(is_calibrated ? made->moments : NULL, bits, pool);
    const struct delta_prune_options judged = options_of(made->moments, bits, pool);
    cr_assert_not_null(errors);
    (void)memcpy(errors, made->changes, sizeof(made->changes));
    cr_assert_eq(delta_prune_effect(&judged, errors, &whole), TAPML_OK);
    cr_assert_eq(delta_prune(&used, made->changes, made->scales, made->levels), TAPML_OK);
    for (int i = 0; i < COUNT; ++i) {
        const int block = i / COLUMNS * BLOCKS + (i % COLUMNS >= DELTA_LEVELS_BLOCK);
        errors[i] -= (double)made->scales[block] * made->levels[i];
    }
    cr_assert_eq(delta_prune_effect(&judged, errors, &lost), TAPML_OK);
    alloc_free(errors);
    return sqrt(lost / whole);
}

Test(delta_prune, inputs_that_are_known_make_the_loss_smaller)
{
    struct pool *pool = NULL;
    cr_assert_eq(pool_create(1, &pool), TAPML_OK);
    for (int bits = 2; bits <= 4; bits += 2) {
        struct matrices *direct = make(), *calibrated = make();
        const double without = lost_of(direct, 0, bits, pool);
        const double with = lost_of(calibrated, 1, bits, pool);
        cr_assert(with < 0.6 * without, "%d bits: %g with moments, %g without", bits, with,
                  without);
        alloc_free(direct);
        alloc_free(calibrated);
    }
    pool_destroy(pool);
}

Test(delta_prune, two_of_four_stay_whatever_the_threads)
{
    struct matrices *one = make(), *more = make();
    struct pool *pool = NULL, *wide = NULL;
    cr_assert_eq(pool_create(1, &pool), TAPML_OK);
    cr_assert_eq(pool_create(4, &wide), TAPML_OK);
    cr_assert_eq(lost_of(one, 1, 4, pool), lost_of(more, 1, 4, wide));
    cr_assert_eq(memcmp(one->levels, more->levels, sizeof(one->levels)), 0);
    cr_assert_eq(memcmp(one->scales, more->scales, sizeof(one->scales)), 0);
    for (int row = 0; row < ROWS; ++row) {
        for (int i = 0; i < COLUMNS; i += DELTA_LEVELS_GROUP) {
            int stay = 0;
            for (int k = i; k < i + DELTA_LEVELS_GROUP && k < COLUMNS; ++k) {
                stay += one->levels[row * COLUMNS + k] != 0;
            }
            cr_assert(stay <= DELTA_LEVELS_STAY);
        }
    }
    alloc_free(one);
    alloc_free(more);
    pool_destroy(pool);
    pool_destroy(wide);
}

Test(delta_prune, what_does_not_change_stays_as_it_is)
{
    struct matrices *made = make();
    struct pool *pool = NULL;
    cr_assert_eq(pool_create(1, &pool), TAPML_OK);
    const struct delta_prune_options options = options_of(made->moments, 2, pool);
    (void)memset(made->changes, 0, sizeof(made->changes));
    cr_assert_eq(delta_prune(&options, made->changes, made->scales, made->levels), TAPML_OK);
    for (int i = 0; i < COUNT; ++i) {
        cr_assert_eq(made->levels[i], 0);
    }
    pool_destroy(pool);
    alloc_free(made);
}

Test(delta_prune, moments_may_lack_rank_and_must_be_finite)
{
    struct matrices *made = make();
    struct pool *pool = NULL;
    cr_assert_eq(pool_create(1, &pool), TAPML_OK);
    const struct delta_prune_options options = options_of(made->moments, 4, pool);
    for (int i = 0; i < COLUMNS; ++i) { // The last input was always zero, all others were alike.
        for (int k = 0; k < COLUMNS; ++k) {
            made->moments[i * COLUMNS + k] = i + 1 < COLUMNS && k + 1 < COLUMNS;
        }
    }
    cr_assert_eq(delta_prune(&options, made->changes, made->scales, made->levels), TAPML_OK, "%s",
                 status_message());
    (void)memset(made->moments, 0, sizeof(made->moments));
    cr_assert_eq(delta_prune(&options, made->changes, made->scales, made->levels), TAPML_OK);
    made->moments[7] = INFINITY;
    cr_assert_eq(delta_prune(&options, made->changes, made->scales, made->levels), TAPML_INVALID);
    cr_assert_str_eq(status_message(), "expected finite inputs, found moment inf");
    made->moments[7] = 0;
    SCRATCH_SWEEP(delta_prune(&options, made->changes, made->scales, made->levels));
    pool_destroy(pool);
    alloc_free(made);
}
