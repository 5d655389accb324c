// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/clock.h"
#include "base/log.h"
#include "commands/side_by_side.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct side_by_side side;

static void begin(void)
{
    cr_redirect_stderr();
    side_by_side_init(&side, "targets", 1);
}

static void add_both(side_by_side_fn work)
{
    cr_assert_eq(side_by_side_add(&side, "target 'a'", work, NULL), TAPML_OK);
    cr_assert_eq(side_by_side_add(&side, "target 'b'", work, NULL), TAPML_OK);
    cr_assert_eq(side_by_side_listen(&side), TAPML_OK);
}

static void end(void)
{
    side_by_side_end(&side);
}

TestSuite(side_by_side, .init = begin, .fini = end, .timeout = 30);

static int has_heard(const struct side_link *link, enum side_word word, struct side_message *last)
{
    while (last->word != word) {
        if (side_by_side_hear(link, -1, last) != TAPML_OK) {
            return 0;
        }
    }
    return 1;
}

// Says what it hears, once it may.
static enum outcome listen_and_say(void *user, size_t index, const struct side_link *link)
{
    struct side_message last = {.word = SIDE_NOTHING};

    (void)user;
    (void)fprintf(stderr, "unheard\n");
    if (!has_heard(link, SIDE_OPENED, &last)) {
        return OUTCOME_ENVIRONMENT;
    }
    side_by_side_speak(link);
    if (!has_heard(link, SIDE_CARVED, &last)) {
        return OUTCOME_ENVIRONMENT;
    }
    (void)fprintf(stderr, "%zu has heard of %d\n", index, (int)last.executions);
    return OUTCOME_OK;
}

// Shows how far it is, as if the host had a terminal.
static enum outcome show_and_say(void *user, size_t index, const struct side_link *link)
{
    (void)user;
    side_by_side_speak(link);
    log_relay();
    log_show(index == 0 ? "a 1 of 2" : "b 1 of 2");
    log_say("%zu says", index);
    return OUTCOME_OK;
}

static enum outcome kill_itself(void *user, size_t index, const struct side_link *link)
{
    (void)user;
    side_by_side_speak(link);
    if (index == 1) {
        (void)fprintf(stderr, "last words");
        (void)raise(SIGKILL);
    }
    return OUTCOME_OK;
}

static enum outcome hang(void *user, size_t index, const struct side_link *link)
{
    (void)user;
    (void)index;
    (void)link;
    (void)signal(SIGTERM, SIG_IGN);
    while (signal(SIGTERM, SIG_IGN) == SIG_IGN) {
        (void)pause();
    }
    return OUTCOME_OK;
}

// Ends with the host: a message that does not come is none.
static enum outcome outlive(void *user, size_t index, const struct side_link *link)
{
    struct side_message last;
    const tapml_status status = side_by_side_hear(link, -1, &last);

    (void)user;
    (void)index;
    side_by_side_speak(link);
    (void)fprintf(stderr, "%s\n", status == TAPML_CANCELLED ? "left alone" : "told");
    return OUTCOME_OK;
}

// The first one ends at once.
static enum outcome end_or_hear(void *user, size_t index, const struct side_link *link)
{
    return index == 0 ? OUTCOME_OK : listen_and_say(user, index, link);
}

static const char *printed(void)
{
    static char text[4096];
    FILE *said = cr_get_redirected_stderr();
    size_t size = 0;

    (void)fflush(stderr);
    size = fread(text, 1, sizeof(text) - 1, said);
    text[size] = '\0';
    return text;
}

Test(side_by_side, processes_hear_and_are_heard)
{
    add_both(listen_and_say);
    cr_assert_eq(side.count, 2);
    side_by_side_tell(&side, (struct side_message){.word = SIDE_OPENED});
    side_by_side_tell(&side, (struct side_message){SIDE_CARVED, 7});
    cr_assert_eq(side_by_side_wait(&side, NULL), TAPML_OK);
    const char *text = printed();

    cr_assert_not_null(strstr(text, "0 has heard of 7\n"), "%s", text);
    cr_assert_not_null(strstr(text, "1 has heard of 0\n"), "%s", text);
    cr_assert_null(strstr(text, "unheard"), "%s", text);
}

// Each in its own place, and none in the way of what is said; at the end nothing is left of them.
Test(side_by_side, progress_of_each_has_a_line)
{
    add_both(show_and_say);
    cr_assert_eq(side_by_side_wait(&side, NULL), TAPML_OK);
    side_by_side_end(&side);
    const char *text = printed();
    const size_t length = strlen(text);

    cr_assert_not_null(strstr(text, "a 1 of 2"), "%s", text);
    cr_assert_not_null(strstr(text, "b 1 of 2"), "%s", text);
    cr_assert_not_null(strstr(text, "\033[K0 says\n"), "%s", text);
    cr_assert_not_null(strstr(text, "1 says\n"), "%s", text);
    cr_assert_str_eq(text + length - 4, "\r\033[K");
}

Test(side_by_side, more_processes_than_lines)
{
    for (size_t i = 0; i < LOG_PLACES + 2; i++) {
        cr_assert_eq(side_by_side_add(&side, "one", show_and_say, NULL), TAPML_OK);
    }
    cr_assert_eq(side_by_side_listen(&side), TAPML_OK);
    cr_assert_eq(side_by_side_wait(&side, NULL), TAPML_OK);
    side_by_side_end(&side);
    cr_assert_not_null(strstr(printed(), "9 says\n"));
}

Test(side_by_side, one_that_is_killed_is_named)
{
    add_both(kill_itself);
    cr_assert_eq(side_by_side_wait(&side, NULL), TAPML_OK);
    side_by_side_tell(&side, (struct side_message){.word = SIDE_CARVED}); // Nobody is there.
    const char *text = printed();

    cr_assert_not_null(strstr(text, "target 'b' was ended by signal 9"), "%s", text);
    cr_assert_not_null(strstr(text, "last words\n"), "%s", text);
    cr_assert_null(strstr(text, "target 'a'"), "%s", text);
}

Test(side_by_side, those_that_hang_are_ended)
{
    const uint64_t begin_ns = clock_now_ns();

    add_both(hang);
    const pid_t process = side.hosts[0].process;

    cr_assert_eq(kill(process, 0), 0);
    side_by_side_end(&side);
    cr_assert_eq(side.count, 0);
    cr_assert(kill(process, 0) != 0 && errno == ESRCH);
    cr_assert_lt(clock_now_ns() - begin_ns, 20000000000u);
}

Test(side_by_side, a_host_that_has_gone_is_noticed)
{
    add_both(outlive);
    for (size_t i = 0; i < side.count; i++) {
        (void)close(side.hosts[i].telling);
        side.hosts[i].telling = -1;
    }
    cr_assert_eq(side_by_side_wait(&side, NULL), TAPML_OK);
    cr_assert_not_null(strstr(printed(), "left alone"));
}

// Others ask the system whether it lives, while the host is at work itself.
Test(side_by_side, one_that_has_ended_is_gone_before_anybody_waits_for_it)
{
    cr_assert_eq(side_by_side_add(&side, "target 'a'", end_or_hear, NULL), TAPML_OK);
    cr_assert_eq(side_by_side_add(&side, "target 'b'", end_or_hear, NULL), TAPML_OK);
    const pid_t first = side.hosts[0].process;

    cr_assert_eq(side_by_side_listen(&side), TAPML_OK);
    for (int i = 0; i < 500 && kill(first, 0) == 0; i++) {
        (void)usleep(10000);
    }
    cr_expect_eq(kill(first, 0), -1);
    cr_expect_eq(errno, ESRCH);
}
