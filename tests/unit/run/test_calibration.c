// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/short_setup.h"
#include "run/calibration.h"
#include "store/metadata.h"

static void keep(struct short_setup *run, const struct calibration *calibration)
{
    SHORT_MUST(calibration_keep(run->store, calibration, &(struct judge_limits){1.5e-11, 0.1}));
}

static int find(struct short_setup *run,
                const struct calibration *calibration,
                struct judge_limits *out_limits)
{
    int has = 0;

    SHORT_MUST(calibration_find(run->store, calibration, out_limits, &has));
    return has;
}

Test(calibration, what_was_kept_is_found_in_every_bit)
{
    struct judge_limits limits = {0};
    struct short_setup run;

    short_setup_open(&run);
    const struct calibration calibration = {
        .name = "reference:f64", .device = "d", .source = "s", .prompts = 2};

    cr_assert_not(find(&run, &calibration, &limits));
    keep(&run, &calibration);
    cr_assert(find(&run, &calibration, &limits));
    cr_assert_eq(limits.distance, 1.5e-11);
    cr_assert_eq(limits.tie, 0.1);
    short_setup_close(&run);
}

Test(calibration, other_prompts_and_devices_have_limits_of_their_own)
{
    struct judge_limits limits = {0};
    struct short_setup run;

    short_setup_open(&run);
    struct calibration calibration = {
        .name = "reference:f64", .device = "d", .source = "s", .prompts = 2};

    keep(&run, &calibration);
    calibration.prompts = 20;
    cr_assert_not(find(&run, &calibration, &limits));
    calibration.prompts = 2;
    calibration.device = "mended";
    cr_assert_not(find(&run, &calibration, &limits));
    calibration.device = "d";
    cr_assert(find(&run, &calibration, &limits));
    calibration.name = "reference:f32-blocked";
    cr_assert_not(find(&run, &calibration, &limits));
    short_setup_close(&run);
}

Test(calibration, damaged_metadata_is_none)
{
    struct judge_limits limits = {0};
    struct short_setup run;

    short_setup_open(&run);
    const struct calibration calibration = {
        .name = "reference:f64", .device = "d", .source = "s", .prompts = 2};

    keep(&run, &calibration);
    SHORT_MUST(metadata_set(run.store, "calibration.reference:f64", "nonsense"));
    cr_assert_not(find(&run, &calibration, &limits));
    short_setup_close(&run);
}
