// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/terminal.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

// The other end of a new terminal.
static int open_terminal(void)
{
    const struct winsize size = {.ws_row = 24, .ws_col = 77};
    const int end = posix_openpt(O_RDWR | O_NOCTTY);

    cr_assert_geq(end, 0);
    cr_assert_eq(grantpt(end), 0);
    cr_assert_eq(unlockpt(end), 0);
    const int terminal = open(ptsname(end), O_RDWR | O_NOCTTY);

    cr_assert_geq(terminal, 0);
    cr_assert_eq(ioctl(terminal, TIOCSWINSZ, &size), 0);
    return terminal;
}

Test(terminal, colours_are_for_those_who_did_not_refuse_them)
{
    const int terminal = open_terminal();

    cr_assert_eq(unsetenv("NO_COLOR"), 0);
    cr_assert_eq(setenv("TERM", "xterm", 1), 0);
    cr_assert(terminal_wants_colour(terminal));
    cr_assert_eq(setenv("NO_COLOR", "", 1), 0);
    cr_assert(terminal_wants_colour(terminal), "an empty one refuses nothing");
    cr_assert_eq(setenv("NO_COLOR", "0", 1), 0);
    cr_assert_not(terminal_wants_colour(terminal), "whatever its value");
    cr_assert_eq(unsetenv("NO_COLOR"), 0);
    cr_assert_eq(setenv("TERM", "dumb", 1), 0);
    cr_assert_not(terminal_wants_colour(terminal));
}

Test(terminal, its_width_is_known)
{
    cr_assert_eq(terminal_columns(open_terminal()), 77);
}

Test(terminal, a_file_is_none)
{
    const int file = open("/dev/null", O_WRONLY);

    cr_assert_eq(setenv("TERM", "xterm", 1), 0);
    cr_assert_not(terminal_wants_colour(file));
    cr_assert_eq(terminal_columns(file), 0);
}

Test(terminal, a_column_is_as_wide_as_its_longest_word)
{
    cr_assert_eq(terminal_widen(4, "abc"), 4);
    cr_assert_eq(terminal_widen(4, "abcdef"), 6);
    cr_assert_eq(terminal_widen(1, "\xc3\xa4\xc3\xb6"), 2, "characters, not bytes");
    char stranger[1024];

    (void)memset(stranger, 'x', sizeof(stranger) - 1);
    stranger[sizeof(stranger) - 1] = '\0';
    cr_assert_eq(terminal_widen(4, stranger), TERMINAL_COLUMN_MAX);
    cr_assert_eq(terminal_widen(80, stranger), 80);
}
