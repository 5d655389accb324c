// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/supervisor.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2];

static void setup(void)
{
    cr_assert_eq(pipe(ends), 0);
}

TestSuite(supervisor, .init = setup);

static void send_pid(pid_t process)
{
    if (write(ends[1], &process, sizeof(process)) != sizeof(process)) {
        _exit(99);
    }
}

static pid_t receive_pid(void)
{
    pid_t process = 0;
    cr_assert_eq(read(ends[0], &process, sizeof(process)), sizeof(process));
    return process;
}

static void wait_for_ever(void)
{
    for (;;) {
        (void)pause();
    }
}

// What a plugin may do: a process that has left the group, and whose parent is gone.
static void leave_one_behind(void)
{
    const pid_t first = fork();
    if (first > 0) {
        (void)waitpid(first, NULL, 0);
        return;
    }
    (void)setsid();
    const pid_t second = fork();
    if (second > 0) {
        send_pid(second);
        _exit(0);
    }
    wait_for_ever();
}

static pid_t start(void (*work)(void))
{
    const pid_t parent = getpid();
    const pid_t process = fork();
    if (process == 0) {
        if (supervisor_begin(parent) != TAPML_OK) {
            _exit(98);
        }
        work();
        _exit(7);
    }
    cr_assert_gt(process, 0);
    return process;
}

static int status_of(pid_t process)
{
    int status = 0;
    cr_assert_eq(waitpid(process, &status, 0), process);
    return status;
}

static int is_gone(pid_t process)
{
    for (int i = 0; i < 500 && kill(process, 0) == 0; i++) {
        usleep(10000);
    }
    return kill(process, 0) != 0;
}

Test(supervisor, ends_what_was_left_behind_and_then_like_its_child)
{
    const int status = status_of(start(leave_one_behind));
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7, "%d", status);
    cr_assert(is_gone(receive_pid()));
}

static void fail_itself(void)
{
    leave_one_behind();
    (void)signal(SIGABRT, SIG_DFL);
    (void)raise(SIGABRT);
}

Test(supervisor, ends_by_the_signal_that_ended_its_child)
{
    const int status = status_of(start(fail_itself));
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "%d", status);
    cr_assert(is_gone(receive_pid()));
}

static void work_on(void)
{
    leave_one_behind();
    send_pid(getpid());
    wait_for_ever();
}

Test(supervisor, ends_all_when_it_is_asked_to)
{
    const pid_t process = start(work_on);
    const pid_t left = receive_pid(), working = receive_pid();
    cr_assert_eq(supervisor_watched(process), working);
    cr_assert_eq(kill(process, SIGTERM), 0);
    const int status = status_of(process);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%d", status);
    cr_assert(is_gone(working));
    cr_assert(is_gone(left));
}

Test(supervisor, ends_all_when_the_host_is_gone)
{
    const pid_t host = fork();
    if (host == 0) {
        (void)start(work_on);
        wait_for_ever();
    }
    const pid_t left = receive_pid(), working = receive_pid();
    cr_assert_eq(kill(host, SIGKILL), 0);
    (void)status_of(host);
    cr_assert(is_gone(working));
    cr_assert(is_gone(left));
}

static void tell_settings(void)
{
    int signal = 0;
    (void)prctl(PR_GET_PDEATHSIG, &signal);
    _exit(signal == SIGKILL && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : 1);
}

Test(supervisor, gives_no_rights_and_goes_with_its_child)
{
    cr_assert_eq(status_of(start(tell_settings)), 0);
}

Test(supervisor, wants_its_host)
{
    cr_assert_eq(supervisor_begin(1L << 30), TAPML_UNAVAILABLE);
    cr_assert_eq(supervisor_watched(1L << 30), 1L << 30);
}
