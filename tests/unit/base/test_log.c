// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/log.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>

Test(log, warnings_pass_until_something_else_is_said, .init = cr_redirect_stderr)
{
    log_line(LOG_ERROR, "one %d", 1);
    log_line(LOG_WARNING, "two");
    log_line(LOG_INFO, "three");
    fflush(stderr);
    cr_assert_stderr_eq_str("error: one 1\nwarning: two\n");
}

Test(log, the_level_decides, .init = cr_redirect_stderr)
{
    log_set_level(LOG_DEBUG);
    log_line(LOG_DEBUG, "one");
    log_set_level(LOG_ERROR);
    log_line(LOG_WARNING, "two");
    log_line(LOG_ERROR, "three");
    fflush(stderr);
    cr_assert_stderr_eq_str("debug: one\nerror: three\n");
}
