// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugins/reference.h"

#include <stdlib.h>

static void check(const struct op_fixture *fixture, size_t rows, double *expected)
{
    reference_check(fixture, rows, expected, 5e-5);
    free(expected);
}

#define SUITE                                        reference_recurrence
#define CHECK(op_fixture_, rows_, count_, expected_) check(op_fixture_, rows_, expected_)
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
        struct op_fixture fixture = {.op = &tapml_linear_scan, .output = TAPML_LINEAR_SCAN_Y};
        struct op_fixture_argument *arguments = fixture.arguments;

        arguments[TAPML_LINEAR_SCAN_R].tensor =
            op_fixture_heads(TAPML_F32, 1, all[i].r_heads, 2, ones);
        arguments[TAPML_LINEAR_SCAN_W].tensor =
            op_fixture_heads(TAPML_F32, 1, 4, all[i].decays, ones);
        arguments[TAPML_LINEAR_SCAN_K].tensor = op_fixture_heads(TAPML_F32, 1, 1, 2, ones);
        arguments[TAPML_LINEAR_SCAN_V].tensor = op_fixture_heads(TAPML_F32, 1, 4, 3, ones);
        if (all[i].kk_heads > 0) {
            arguments[TAPML_LINEAR_SCAN_KK].tensor =
                op_fixture_heads(TAPML_F32, 1, all[i].kk_heads, 2, ones);
        }
        arguments[TAPML_LINEAR_SCAN_STATE].tensor = op_fixture_heads(TAPML_F32, 4, 3, 2, ones);
        arguments[TAPML_LINEAR_SCAN_Y].tensor = op_fixture_heads(TAPML_F32, 1, 4, 3, NULL);

        const tapml_support support = op_fixture_supports(&fixture, plugin);

        cr_assert_eq(support.grade, TAPML_SUPPORT_NO);
        cr_assert_str_eq(support.reason, all[i].reason);
    }
    reference_close(plugin);
}
