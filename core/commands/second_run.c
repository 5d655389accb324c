// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/second_run.h"

#include "base/clock.h"
#include "run/interrupt.h"
#include "run/outcome.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_MS = 5 };

static int start(const struct second_run *run, pid_t *out_child)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);

    if (error != 0) {
        return error;
    }
    if (run->output != NULL) {
        error = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, run->output,
                                                 O_WRONLY | O_CREAT | O_TRUNC, 0600);
        error = error != 0
                    ? error
                    : posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    }
    if (error == 0) {
        error = posix_spawn(out_child, run->arguments[0], &actions, NULL, run->arguments, environ);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

// Looks again and again, since a signal that this process gets, and hands on once, ends no wait.
static int wait_for(pid_t child)
{
    int state = 0, is_told = 0;

    while (waitpid(child, &state, WNOHANG) == 0) {
        if (!is_told && interrupt_check() != TAPML_OK) {
            is_told = 1;
            (void)kill(child, SIGINT);
        }
        (void)poll(NULL, 0, LOOK_MS);
    }
    return state;
}

tapml_status second_run_wait(const struct second_run *run, uint64_t *out_elapsed_ns)
{
    const uint64_t begin_ns = clock_now_ns();
    pid_t child = 0;

    (void)fflush(stdout);
    const int error = start(run, &child);

    if (error != 0) {
        return status_fail(TAPML_UNAVAILABLE, "cannot start '%s': %s", run->arguments[0],
                           strerror(error));
    }
    const int state = wait_for(child);

    TAPML_TRY(interrupt_check());
    *out_elapsed_ns = clock_now_ns() - begin_ns;
    if (WIFEXITED(state) &&
        (WEXITSTATUS(state) == OUTCOME_OK || WEXITSTATUS(state) == OUTCOME_WRONG)) {
        return TAPML_OK;
    }
    return WIFEXITED(state)
               ? status_fail(TAPML_INTERNAL, "the run ended with exit status %d",
                             WEXITSTATUS(state))
               : status_fail(TAPML_INTERNAL, "the run was ended by signal %d", WTERMSIG(state));
}
