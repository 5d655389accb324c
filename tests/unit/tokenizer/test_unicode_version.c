// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "tokenizer/unicode_version.h"

#include <criterion/criterion.h>

Test(unicode_version, what_came_later_is_known)
{
    cr_assert(unicode_version_is_late(UNICODE_VERSION_NONSPACING, 0xd3b));
    cr_assert(unicode_version_is_late(UNICODE_VERSION_NONSPACING, 0x1e94a)); // The last one.
    cr_assert_not(unicode_version_is_late(UNICODE_VERSION_NONSPACING, 0x301));
    cr_assert(unicode_version_is_late(UNICODE_VERSION_PUNCTUATION, 0x61d)); // The first one.
    cr_assert_not(unicode_version_is_late(UNICODE_VERSION_PUNCTUATION, 0x10ffff));
    cr_assert(unicode_version_is_late(UNICODE_VERSION_MARK, 0x897));
    cr_assert(unicode_version_is_late(UNICODE_VERSION_FORM, 0x32ff));
    cr_assert(unicode_version_is_late(UNICODE_VERSION_FORMAT, 0x8e2));
}

Test(unicode_version, what_was_in_a_class_is_known)
{
    cr_assert(unicode_version_is_former(UNICODE_VERSION_PUNCTUATION, 0x166d));
    cr_assert(unicode_version_is_former(UNICODE_VERSION_NONSPACING, 0x1734));
    cr_assert(unicode_version_is_former(UNICODE_VERSION_MARK, 0x1cf3));
    cr_assert_not(unicode_version_is_former(UNICODE_VERSION_FORM, 0x1734));
}

Test(unicode_version, new_numbers_and_capitals_are_known)
{
    cr_assert(unicode_version_is_new_number(0x16ff6));
    cr_assert_not(unicode_version_is_new_number('1'));
    cr_assert_eq(unicode_version_new_lower(0xa7cb), 0x264);
    cr_assert_eq(unicode_version_new_lower(0x10d65), 0x10d85);
    cr_assert_eq(unicode_version_new_lower('A'), 'A');
}
