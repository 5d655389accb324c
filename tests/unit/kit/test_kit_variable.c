// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_variable.h"

#include <criterion/criterion.h>
#include <stdlib.h>

Test(kit_variable, a_value_comes_back)
{
    struct kit_variable variable;

    setenv("TAPML_SOME", "before", 1);
    cr_assert_eq(kit_variable_set(&variable, "TAPML_SOME", "now"), TAPML_OK);
    cr_expect_str_eq(getenv("TAPML_SOME"), "now");
    kit_variable_restore(&variable);
    cr_expect_str_eq(getenv("TAPML_SOME"), "before");
    unsetenv("TAPML_SOME");
    cr_assert_eq(kit_variable_set(&variable, "TAPML_SOME", "now"), TAPML_OK);
    kit_variable_restore(&variable);
    cr_expect_null(getenv("TAPML_SOME"));
    setenv("TAPML_SOME", "later", 1);
    kit_variable_restore(&variable); // Nothing is set any more.
    cr_expect_str_eq(getenv("TAPML_SOME"), "later");
}
