// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "tokenizer/base64.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect_read(const char *encoded, const char *expected)
{
    struct text out;
    text_init(&out);
    const tapml_status status = base64_read(encoded, strlen(encoded), &out);
    cr_assert_str_eq(status == TAPML_OK ? out.data : "refused", expected, "%s", encoded);
    text_release(&out);
}

Test(base64, bytes_come_in_threes)
{
    expect_read("", "");
    expect_read("YQ==", "a");
    expect_read("YWI=", "ab");
    expect_read("YWJj", "abc");
    expect_read("/+8=", "\xff\xef");
}

Test(base64, anything_else_is_refused)
{
    expect_read("YQ", "refused");
    expect_read("Y===", "refused");
    expect_read("YW-j", "refused");
    expect_read("=YWJ", "refused");
    expect_read("====", "refused");
}
