// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugins/reference.h"

#include <stdlib.h>

static void check(const struct trial *trial, size_t rows, double *expected)
{
    reference_check(trial, rows, expected, 5e-5);
    free(expected);
}

#define SUITE                                   reference_recurrence
#define CHECK(trial_, rows_, count_, expected_) check(trial_, rows_, expected_)
#include "harness/recurrences.h"

// What the schema cannot say of heads and widths is refused with its reason.
Test(reference_recurrence, heads_that_do_not_divide)
{
    static const double ones[64] = {1};
    static const struct {
        int64_t r_heads, decays, kk_heads;
        const char *reason;
    } all[] = {
        {3, 1, 0, "4 heads do not share those of r, k or kk"},
        {4, 3, 0, "decays and rates are 1 or 2 wide, kk comes with a"},
        {4, 1, 2, "decays and rates are 1 or 2 wide, kk comes with a"},
        {4, 1, 3, "4 heads do not share those of r, k or kk"},
    };
    struct plugin *plugin = reference_open("f32", 1);

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        struct trial trial = {.op = &tapml_linear_scan, .output = TAPML_LINEAR_SCAN_Y};
        struct trial_argument *arguments = trial.arguments;

        arguments[TAPML_LINEAR_SCAN_R].tensor = trial_heads(TAPML_F32, 1, all[i].r_heads, 2, ones);
        arguments[TAPML_LINEAR_SCAN_W].tensor = trial_heads(TAPML_F32, 1, 4, all[i].decays, ones);
        arguments[TAPML_LINEAR_SCAN_K].tensor = trial_heads(TAPML_F32, 1, 1, 2, ones);
        arguments[TAPML_LINEAR_SCAN_V].tensor = trial_heads(TAPML_F32, 1, 4, 3, ones);
        if (all[i].kk_heads > 0) {
            arguments[TAPML_LINEAR_SCAN_KK].tensor =
                trial_heads(TAPML_F32, 1, all[i].kk_heads, 2, ones);
        }
        arguments[TAPML_LINEAR_SCAN_STATE].tensor = trial_heads(TAPML_F32, 4, 3, 2, ones);
        arguments[TAPML_LINEAR_SCAN_Y].tensor = trial_heads(TAPML_F32, 1, 4, 3, NULL);

        const tapml_support support = trial_supports(&trial, plugin);

        cr_assert_eq(support.grade, TAPML_SUPPORT_NO);
        cr_assert_str_eq(support.reason, all[i].reason);
    }
    reference_close(plugin);
}
