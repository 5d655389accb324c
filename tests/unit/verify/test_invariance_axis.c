// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/invariance_axis.h"

#include <criterion/criterion.h>

static struct invariance_settings settings;

static void reset(void)
{
    settings = (struct invariance_settings){.axes = 0};
}

TestSuite(invariance_axis, .init = reset);

Test(invariance_axis, words_stand_with_commas_or_blanks)
{
    cr_assert_eq(invariance_axis_read("run, rows,chunk verify\torder, parts", &settings), TAPML_OK);
    cr_assert_eq(settings.axes, (1u << INVARIANCE_STRESS) - 1);
    cr_assert_eq(settings.stress, 0);
}

Test(invariance_axis, what_is_none_is_refused_with_the_nearest)
{
    cr_assert_eq(invariance_axis_read("run, row", &settings), TAPML_INVALID);
    cr_assert_str_eq(status_message(),
                     "expected axes (run, rows, chunk, verify, order, parts), found "
                     "'row', did you mean 'rows'?");
    reset();
    cr_assert_eq(invariance_axis_read("run run", &settings), TAPML_INVALID);
    cr_assert_str_eq(status_message(), "'run' is given twice");
    reset();
    cr_assert_eq(invariance_axis_read(" ,", &settings), TAPML_INVALID);
    cr_assert_str_eq(status_message(),
                     "expected axes (run, rows, chunk, verify, order, parts), found none");
    reset();
    cr_assert_eq(invariance_axis_read("stress", &settings), TAPML_INVALID, "it has its own key");
    cr_assert_eq(invariance_axis_read("a-word-that-is-longer-than-any-axis-could-be", &settings),
                 TAPML_INVALID);
}

Test(invariance_axis, a_share_is_in_percent)
{
    static const char *const wrong[] = {"", "%", "2", "0%", "-1%", "101%", "nan%", "2 %%", "x%"};
    cr_assert_eq(invariance_axis_read_stress("2%", &settings), TAPML_OK);
    cr_assert_float_eq(settings.stress, 0.02, 1e-12);
    cr_assert_eq(settings.axes, 1u << INVARIANCE_STRESS);
    cr_assert_eq(invariance_axis_read_stress("100%", &settings), TAPML_OK);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        cr_expect_eq(invariance_axis_read_stress(wrong[i], &settings), TAPML_INVALID, "'%s'",
                     wrong[i]);
    }
}

Test(invariance_axis, each_has_a_name_and_a_unit)
{
    for (int i = 0; i < INVARIANCE_AXES; i++) {
        cr_expect_neq(*invariance_axis_name((enum invariance_axis)i), '\0');
        cr_expect_neq(*invariance_axis_unit((enum invariance_axis)i), '\0');
        cr_expect_neq(*invariance_axis_before((enum invariance_axis)i), '\0');
        cr_expect_not_null(invariance_axis_behind((enum invariance_axis)i));
    }
}
