// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "model/delta_form.h"

#include <criterion/criterion.h>

Test(delta_form, words_are_those_of_kinds)
{
    cr_assert_eq(delta_form_find("xor"), DELTA_XOR);
    cr_assert_str_eq(delta_form_word(DELTA_SPARSE), "sparse");
    cr_assert_eq(delta_form_find("xo"), DELTA_KINDS);
    cr_assert_eq(delta_form_find("24q4"), DELTA_24Q4);
}
