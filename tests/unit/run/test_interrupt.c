// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/clock.h"
#include "run/interrupt.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

Test(interrupt, a_signal_is_noted_and_nothing_else)
{
    cr_assert_eq(interrupt_check(), TAPML_OK);
    interrupt_watch();
    cr_assert_eq(interrupt_check(), TAPML_OK);
    cr_assert_eq(raise(SIGINT), 0);
    cr_assert_eq(interrupt_check(), TAPML_CANCELLED);
    cr_assert_not_null(strstr(status_message(), "resumes after the last finished step"));
}

Test(interrupt, a_second_signal_ends_the_program, .exit_code = 130)
{
    interrupt_watch();
    (void)raise(SIGTERM);
    cr_assert_eq(interrupt_check(), TAPML_CANCELLED);
    (void)raise(SIGINT); // Of either kind.
}

// A program that is interrupted in a step that never ends. Nothing of it is the test's.
static void work_for_ever(const char *path, int is_told)
{
    const int errors = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    const struct interrupt_farewell words = {
        .descriptor = open(path, O_WRONLY), .bytes = "BYE", .size = 3};

    (void)dup2(errors, STDERR_FILENO);
    (void)write(errors, "long: ", 6);
    interrupt_watch();
    interrupt_set_farewell(&words);
    (void)raise(SIGINT);
    if (is_told) {
        interrupt_told();
    }
    while (1) {
        (void)pause();
    }
}

static void check_end(const char *path, int is_told, const char *expected)
{
    char text[256] = "";
    const uint64_t begin_ns = clock_now_ns();
    const pid_t child = fork();
    int status = 0;

    if (child == 0) {
        work_for_ever(path, is_told);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status));
    cr_assert_eq(WEXITSTATUS(status), 130);
    cr_assert_lt(clock_now_ns() - begin_ns, 5000000000u, "it waited for the step");
    const int file = open(path, O_RDONLY);

    cr_assert_gt(read(file, text, sizeof(text) - 1), 0);
    cr_assert_eq(close(file), 0);
    cr_assert_str_eq(text, expected);
}

Test(interrupt, a_step_that_does_not_end_is_not_waited_for)
{
    struct scratch scratch;

    scratch_make(&scratch);
    check_end(scratch_path(&scratch, "told"), 0,
              "BYEg: tapml-host: interrupted; the same command resumes after the last finished "
              "step (this one took too long to end)\n");
    scratch_remove(&scratch);
}

Test(interrupt, what_was_told_is_not_repeated)
{
    struct scratch scratch;

    scratch_make(&scratch);
    check_end(scratch_path(&scratch, "told"), 1, "BYEg: ");
    scratch_remove(&scratch);
}

// A second signal ends it, with files in a folder that the program made.
static void leave_files(const struct interrupt_scratch *files)
{
    interrupt_watch();
    interrupt_set_scratch(files);
    (void)raise(SIGTERM);
    (void)raise(SIGTERM);
}

Test(interrupt, temporary_files_go_with_a_program_that_does_not_end_by_itself)
{
    char folder[SCRATCH_PATH], file[2 * SCRATCH_PATH];
    struct scratch scratch;
    int status = 0;

    scratch_make(&scratch);
    (void)snprintf(folder, sizeof(folder), "%s", scratch_path(&scratch, "own"));
    cr_assert_eq(mkdir(folder, 0700), 0);
    (void)snprintf(file, sizeof(file), "%s", scratch_write(&scratch, "own/cases", "x", 1));
    const char *const files[] = {file, "/nowhere/at-all"};
    const struct interrupt_scratch mine = {.folder = folder, .files = files, .file_count = 2};
    const pid_t child = fork();

    if (child == 0) {
        leave_files(&mine);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 130);
    cr_assert_neq(access(folder, F_OK), 0, "%s is still there", folder);
    scratch_remove(&scratch);
}
