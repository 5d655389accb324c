// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    CHILDREN_BYTES = 4096, // Of the list that is read at once; the others are in the next.
    ROUNDS_MAX = 1000      // Of 1 ms, until those that cannot be killed are left.
};

// The children of a process as the system lists them, with blanks between; "" where it does not.
static void list_children(long process, char out_text[CHILDREN_BYTES])
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%ld/task/%ld/children", process, process);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? 0 : read(file, out_text, CHILDREN_BYTES - 1);
    if (file >= 0) {
        close(file);
    }
    out_text[size > 0 ? size : 0] = '\0';
}

long supervisor_watched(long supervisor)
{
    char text[CHILDREN_BYTES];
    list_children(supervisor, text);
    const long first = strtol(text, NULL, 10);
    return first > 0 ? first : supervisor;
}

static void kill_children(void)
{
    char text[CHILDREN_BYTES];
    char *at = text;
    list_children((long)getpid(), text);
    for (long child = strtol(at, &at, 10); child > 0; child = strtol(at, &at, 10)) {
        (void)kill((pid_t)child, SIGKILL);
    }
}

// Whose parents end is the supervisor's child: at the end there is none left.
static void end_all(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int round = 0; round < ROUNDS_MAX; round++) {
        pid_t child = 0;
        kill_children();
        do {
            child = waitpid(-1, NULL, WNOHANG);
        } while (child > 0);
        if (child < 0 && errno == ECHILD) {
            return;
        }
        (void)nanosleep(&pause, NULL);
    }
}

// Ends as a child has ended.
static _Noreturn void end_like(int status)
{
    if (WIFSIGNALED(status)) {
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, WTERMSIG(status));
        (void)signal(WTERMSIG(status), SIG_DFL);
        (void)raise(WTERMSIG(status));
        (void)sigprocmask(SIG_UNBLOCK, &one, NULL);
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
}

static _Noreturn void watch(pid_t child, const sigset_t *signals)
{
    int status = 0;
    pid_t ended = 0;
    // Who waits for the end of a pipe or a socket must not wait for this process.
    (void)close_range(0, ~0U, 0);
    while (ended == 0) {
        siginfo_t info = {0};
        if (sigwaitinfo(signals, &info) == SIGTERM) {
            (void)kill(child, SIGKILL);
        }
        ended = waitpid(child, &status, WNOHANG);
        // Others that became children and ended are only taken away.
        while (ended == 0 && info.si_signo == SIGCHLD && info.si_pid != child &&
               waitpid(info.si_pid, NULL, WNOHANG) > 0) {
        }
    }
    end_all();
    end_like(status);
}

static tapml_status refuse(void)
{
    return status_fail(TAPML_UNAVAILABLE, "this system makes no worker of it: %s", strerror(errno));
}

static tapml_status settle(long parent)
{
    const struct rlimit none = {0, 0};
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || setrlimit(RLIMIT_CORE, &none) != 0) {
        return refuse();
    }
    return getppid() == (pid_t)parent ? TAPML_OK
                                      : status_fail(TAPML_UNAVAILABLE, "its parent is gone");
}

tapml_status supervisor_begin(long parent)
{
    sigset_t signals, before;
    const pid_t self = getpid();
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGCHLD);
    if (sigprocmask(SIG_BLOCK, &signals, &before) != 0) {
        return refuse();
    }
    TAPML_TRY(settle(parent));
    const pid_t child = fork();
    if (child > 0) {
        watch(child, &signals);
    }
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    if (child < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
        return refuse();
    }
    return getppid() == self ? TAPML_OK : status_fail(TAPML_UNAVAILABLE, "its supervisor is gone");
}
