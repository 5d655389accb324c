// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/log.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

Test(log, a_line_at_the_bottom_stays_there, .init = cr_redirect_stderr)
{
    log_show("1 of 2");
    log_line(LOG_WARNING, "one");
    log_say("two");
    log_show("2 of 2");
    log_hide();
    log_say("three");
    fflush(stderr);
    cr_assert_stderr_eq_str("1 of 2"
                            "\r\033[Kwarning: one\n1 of 2"
                            "\r\033[Ktwo\n1 of 2"
                            "\r\033[K2 of 2"
                            "\r\033[K"
                            "three\n");
}

Test(log, lines_of_several_places_stand_below_each_other, .init = cr_redirect_stderr)
{
    log_show_at(2, "b 1");
    log_show_at(1, "a 1");
    log_say("one");
    log_show_at(2, "");
    log_show_at(2, "");
    log_words("two\n", 4);
    log_show_at(1, "");
    log_say("three");
    fflush(stderr);
    cr_assert_stderr_eq_str("b 1"
                            "\r\033[Ka 1\nb 1"
                            "\r\033[K\033[A\033[Kone\na 1\nb 1"
                            "\r\033[K\033[A\033[Ka 1"
                            "\r\033[Ktwo\na 1"
                            "\r\033[K"
                            "three\n");
}

Test(log, lines_for_the_terminal_of_another_process_are_marked, .init = cr_redirect_stderr)
{
    cr_expect_not(log_is_shown());
    log_relay();
    cr_expect(log_is_shown());
    log_show("1 of 2");
    log_say("one");
    log_hide();
    fflush(stderr);
    cr_assert_stderr_eq_str("\r1 of 2\none\n\r\n");
}

Test(log, words_of_others_share_no_line, .init = cr_redirect_stderr)
{
    log_words("", 0);
    log_show("1 of 2");
    log_words("half a ", 7);
    log_words("line\n", 5);
    log_words("and one", 7);
    log_line(LOG_ERROR, "of ours");
    log_hide();
    log_words("more", 4);
    log_say("of ours");
    fflush(stderr);
    cr_assert_stderr_eq_str("1 of 2"
                            "\r\033[Khalf a line\n1 of 2"
                            "\r\033[Kand one\nerror: of ours\n1 of 2"
                            "\r\033[K"
                            "more\nof ours\n");
}

// The error stream becomes a terminal of 20 columns, whose other end is returned.
static int watch_terminal(void)
{
    const struct winsize size = {.ws_row = 24, .ws_col = 20};
    const int end = posix_openpt(O_RDWR | O_NOCTTY);

    cr_assert_geq(end, 0);
    cr_assert_eq(grantpt(end), 0);
    cr_assert_eq(unlockpt(end), 0);
    const int terminal = open(ptsname(end), O_RDWR | O_NOCTTY);

    cr_assert_geq(terminal, 0);
    cr_assert_eq(ioctl(terminal, TIOCSWINSZ, &size), 0);
    cr_assert_eq(dup2(terminal, STDERR_FILENO), STDERR_FILENO);
    return end;
}

// A terminal hands on what was written in pieces.
static void read_whole(int end, char *text, size_t length)
{
    for (size_t done = 0; done < length;) {
        const ssize_t count = read(end, text + done, length - done);

        cr_assert_gt(count, 0, "after '%s'", text);
        done += (size_t)count;
    }
}

Test(log, a_terminal_gets_colours_and_what_fits)
{
    static const char expected[] =
        "\033[33mwarning\033[0m: one\r\n12345678901234567\xc3\xa4\r\033[K";
    const int end = watch_terminal();
    char text[sizeof(expected)] = "";

    cr_assert_eq(setenv("TERM", "xterm", 1), 0);
    cr_assert_eq(unsetenv("NO_COLOR"), 0);
    log_line(LOG_WARNING, "one");
    log_show("12345678901234567\xc3\xa4\xc3\xa4"); // Its 20th byte is within a character.
    log_hide();
    fflush(stderr);
    read_whole(end, text, strlen(expected));
    cr_assert_str_eq(text, expected);
}
