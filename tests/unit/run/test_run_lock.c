// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/file.h"
#include "run/run_lock.h"

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct scratch scratch;

static void setup(void)
{
    scratch_make(&scratch);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(run_lock, .init = setup, .fini = teardown);

// A process that takes the folder, tells of a phase, and waits to be killed.
static pid_t start_holder(void)
{
    int ready[2];

    cr_assert_eq(pipe(ready), 0);
    const pid_t child = fork();

    if (child == 0) {
        struct run_lock *lock = NULL;
        const int is_taken = run_lock_take(scratch.folder, &lock) == TAPML_OK;

        run_lock_publish(lock, &(struct run_lock_phase){"replay \"x\"", "cases", 3, 12, 4.5});
        if (!is_taken || write(ready[1], "x", 1) != 1) {
            _exit(1);
        }
        for (;;) {
            (void)pause();
        }
    }
    char byte = 0;

    (void)close(ready[1]);
    cr_assert_eq(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    return child;
}

static void kill_holder(pid_t child)
{
    cr_assert_eq(kill(child, SIGKILL), 0);
    cr_assert_eq(waitpid(child, NULL, 0), child);
}

static struct run_lock_state read_state(void)
{
    struct run_lock_state state;

    cr_assert_eq(run_lock_read(scratch.folder, &state), TAPML_OK);
    return state;
}

Test(run_lock, a_second_host_is_refused_with_the_first)
{
    struct run_lock *lock = NULL;
    char process[32];
    const pid_t child = start_holder();

    (void)snprintf(process, sizeof(process), "process %ld on", (long)child);
    cr_assert_eq(run_lock_take(scratch.folder, &lock), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), process), "%s", status_message());
    cr_assert_not_null(strstr(status_message(), "since 20"), "%s", status_message());
    kill_holder(child);
    cr_assert_eq(run_lock_take(scratch.folder, &lock), TAPML_OK, "%s", status_message());
    run_lock_release(lock);
}

Test(run_lock, what_it_publishes_is_read_and_outlives_it)
{
    const pid_t child = start_holder();
    struct run_lock_state state = read_state();

    cr_assert(state.is_held && state.has_text && !state.has_ended);
    cr_assert_eq(state.process, child);
    cr_assert_str_eq(state.phase, "replay \"x\"");
    cr_assert_str_eq(state.unit, "cases");
    cr_assert_eq(state.done, 3);
    cr_assert_eq(state.all, 12);
    cr_assert_float_eq(state.left_s, 4.5, 1e-9);
    kill_holder(child);
    state = read_state();
    cr_assert(!state.is_held && state.has_text && !state.has_ended);
    cr_assert_eq(state.process, child);
}

Test(run_lock, links_are_not_followed)
{
    struct run_lock *lock = NULL;
    char target[SCRATCH_PATH + 16];

    (void)snprintf(target, sizeof(target), "%s/precious", scratch.folder);
    cr_assert_eq(symlink(target, scratch_path(&scratch, "run.lock")), 0);
    cr_assert_eq(run_lock_take(scratch.folder, &lock), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "it is a link"), "%s", status_message());
    cr_assert_eq(access(target, F_OK), -1, "nothing was made");
    scratch_write(&scratch, "precious", "{\"phase\": \"x\"}", 14);
    cr_assert_not(read_state().has_text);
}

Test(run_lock, an_end_is_published_with_its_reason)
{
    struct run_lock *lock = NULL;

    cr_assert_eq(run_lock_take(scratch.folder, &lock), TAPML_OK);
    run_lock_end(lock, 3, "the disk is \"full\"");
    run_lock_release(lock);
    const struct run_lock_state state = read_state();

    cr_assert(!state.is_held && state.has_ended);
    cr_assert_eq(state.exit_code, 3);
    cr_assert_str_eq(state.message, "the disk is \"full\"");
    cr_assert(isnan(state.left_s));
}

Test(run_lock, a_text_of_any_length_fits)
{
    char message[4 * RUN_LOCK_MESSAGE_TEXT];
    struct run_lock *lock = NULL;

    memset(message, 1, sizeof(message)); // Each is six bytes of JSON.
    message[sizeof(message) - 1] = '\0';
    cr_assert_eq(run_lock_take(scratch.folder, &lock), TAPML_OK);
    run_lock_publish(lock, &(struct run_lock_phase){message, message, 1, 2, NAN});
    run_lock_end(lock, 1, message);
    run_lock_release(lock);
    cr_assert_eq(strlen(read_state().message), RUN_LOCK_MESSAGE_TEXT - 1);
}

Test(run_lock, what_is_not_there_or_no_json_is_no_failure)
{
    struct run_lock_state state = read_state();

    cr_assert(!state.is_held && !state.has_text);
    cr_assert_eq(file_write(scratch_path(&scratch, "run.lock"), "{\"proc", 6), TAPML_OK);
    state = read_state();
    cr_assert(!state.is_held && !state.has_text);
    cr_assert_eq(file_write(scratch_path(&scratch, "run.lock"), "[1, {}]", 7), TAPML_OK);
    state = read_state();
    cr_assert(!state.is_held && !state.has_text);
}

Test(run_lock, no_host_has_an_empty_folder)
{
    run_lock_publish(NULL, &(struct run_lock_phase){"x", "", 0, 0, NAN});
    run_lock_end(NULL, 0, "");
    run_lock_release(NULL);
}
