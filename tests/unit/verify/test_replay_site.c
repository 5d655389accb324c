// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/late.h"
#include "verify/replay_site.h"

#include <criterion/criterion.h>

static const int64_t shape[] = {3, 7};
static const float values[21] = {1, 2, 3, [20] = 21};
static const tapml_tensor form = {
    .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 2, .shape = shape};

static void load_weight(struct residency *weights)
{
    const struct residency_key key = {.tensor = "w", .dtype = TAPML_F32};
    struct resident *resident = NULL;
    cr_assert_eq(residency_find(weights, &key, values, &form, &resident), TAPML_OK);
    cr_assert_eq(residency_load(weights, resident), TAPML_OK);
}

// Weights that a call may have corrupted are gone once the site is renewed, and those behind them
// once it is closed.
Test(replay_site, forgets_weights)
{
    struct backend *late = late_create(&(struct late_options){0});
    struct replay_site site;
    cr_assert_eq(replay_site_open(late, NULL, &site), TAPML_OK);
    load_weight(site.weights);
    cr_expect_gt(late_counts(late).buffers_alive, 0);
    cr_assert_eq(replay_site_renew(&site), TAPML_OK);
    cr_expect_eq(late_counts(late).buffers_alive, 0);
    cr_expect_eq(residency_copied_bytes(site.weights), 0);
    load_weight(site.weights);
    replay_site_close(&site);
    cr_expect_eq(late_counts(late).buffers_alive, 0);
    backend_release(late);
}

Test(replay_site, weights_that_are_held_outlive_their_renewal)
{
    struct backend *late = late_create(&(struct late_options){0});
    struct replay_site site;
    cr_assert_eq(replay_site_open(late, NULL, &site), TAPML_OK);
    load_weight(site.weights);
    const struct residency *held = replay_site_hold(&site);
    cr_expect_eq(replay_site_hold(&site), held);
    cr_assert_eq(replay_site_renew(&site), TAPML_OK);
    cr_expect_neq(site.weights, held);
    cr_assert_eq(replay_site_renew(&site), TAPML_OK);
    replay_site_let_go(&site, held);
    cr_expect_gt(late_counts(late).buffers_alive, 0);
    replay_site_let_go(&site, held);
    cr_expect_eq(late_counts(late).buffers_alive, 0);
    cr_expect_null(site.retired);
    held = replay_site_hold(&site);
    replay_site_let_go(&site, held);
    replay_site_close(&site);
    backend_release(late);
}
