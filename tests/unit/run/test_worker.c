// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../plugin/zoo_folder.h"
#include "run/worker.h"

#include <criterion/redirect.h>
#include <sys/socket.h>
#include <unistd.h>

Test(worker, serves_until_the_other_end_is_closed)
{
    int ends[2];

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    close(ends[1]);
    cr_assert_eq(worker_serve(ends[0]), OUTCOME_OK);
    close(ends[0]);
}

static void redirect(void)
{
    cr_redirect_stdout();
}

static void probe(const char *name, const char *question)
{
    static const char *const none[] = {NULL};
    char path[2 * SCRATCH_PATH];

    cr_assert_eq(
        worker_probe(&(struct worker_question){.plugin = zoo_library(name, path, sizeof(path)),
                                               .component = question,
                                               .options = none}),
        OUTCOME_OK);
    (void)fflush(stdout);
}

// What every animal has that is well.
#define DEVICES(name_)                                                                             \
    "component\t" name_ "\tusable\t\n"                                                             \
    "device\t" name_ "\tfirst\tordinary memory\t\t0\t1048576\n"                                    \
    "device\t" name_                                                                               \
    "\t0000:02/b\tthe same, with a name of colons and a slash\tzoo 1.0\t0\t1048576\n"
#define OPS(name_)                                                                                 \
    "op\t" name_ "\torg.example.scale\t1\n"                                                        \
    "op\t" name_ "\torg.example.sum\t1\n"                                                          \
    "op\t" name_ "\torg.example.trouble\t1\n"                                                      \
    "end\t" name_ "\n"

Test(worker, prints_states_devices_and_ops, .init = redirect)
{
    probe("good", NULL);
    cr_assert_stdout_eq_str(DEVICES("good") OPS("good"));
}

Test(worker, opens_the_device_that_it_is_asked_for, .init = redirect)
{
    probe("good", "good:0000:02/b");
    cr_assert_stdout_eq_str(DEVICES("good") OPS("good"));
}

Test(worker, says_why_a_device_cannot_be_opened, .init = redirect)
{
    probe("good", "good:firs");
    cr_assert_stdout_eq_str(
        DEVICES("good") "failed\tgood\tgood: no device 'firs', there are: 'first' "
                        "'0000:02/b'; did you mean 'first'?\nend\tgood\n");
}

Test(worker, asks_late_for_devices_only_if_it_is_told_to, .init = redirect)
{
    probe("late_device", "late_device");
    cr_assert_stdout_eq_str(
        "component\tlate_device\tusable\tits devices are looked for when one is "
        "used, not before\nend\tlate_device\n");
}

// What its probe prints would stand in front of the answer, or in it.
Test(worker, a_plugin_cannot_print_between_the_lines, .init = redirect)
{
    probe("prints_in_probe", NULL);
    cr_assert_stdout_eq_str(DEVICES("prints_in_probe") OPS("prints_in_probe"));
}

Test(worker, an_option_is_a_key_with_a_value, .init = cr_redirect_stderr)
{
    static const char *const options[] = {"speed=7=8", "colour=red", NULL};
    static const char *const none[] = {"speed", NULL};
    char path[2 * SCRATCH_PATH];
    const struct worker_question question = {
        .plugin = zoo_library("good", path, sizeof(path)), .component = "good", .options = options};
    const struct worker_question wrong = {
        .plugin = question.plugin, .component = "good", .options = none};

    cr_assert_eq(worker_probe(&question), OUTCOME_OK);
    cr_assert_eq(worker_probe(&wrong), OUTCOME_USAGE);
}
