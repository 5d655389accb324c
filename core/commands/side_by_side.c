// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/side_by_side.h"

#include "base/clock.h"
#include "base/log.h"
#include "run/interrupt.h"
#include "run/run_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_MS = 200, PAUSE_MS = 20, PATIENCE_MS = 3000 };

struct side_link {
    int hearing;  // -1 once the host has gone.
    int speaking; // The host's end of the error stream.
    int is_shown; // The host has a terminal.
};

static void close_end(int *descriptor)
{
    if (*descriptor >= 0) {
        (void)close(*descriptor);
        *descriptor = -1;
    }
}

// -- In a process ------------------------------------------------------------------------------

static tapml_status host_has_gone(void)
{
    return status_fail(TAPML_CANCELLED, "the host of the run has gone");
}

tapml_status
side_by_side_hear(const struct side_link *link, int wait_ms, struct side_message *out_message)
{
    struct pollfd ear = {.fd = link->hearing, .events = POLLIN};

    *out_message = (struct side_message){.word = SIDE_NOTHING};
    TAPML_TRY(interrupt_check());
    const int heard = poll(&ear, 1, wait_ms);

    if (heard <= 0) { // A signal is asked for above, at the next call.
        return TAPML_OK;
    }
    // A message is smaller than what a pipe takes at once.
    return read(link->hearing, out_message, sizeof(*out_message)) == sizeof(*out_message)
               ? TAPML_OK
               : host_has_gone();
}

void side_by_side_speak(const struct side_link *link)
{
    (void)dup2(link->speaking, STDERR_FILENO);
    if (link->is_shown) {
        log_relay();
    }
}

// The host prints what is to be printed on standard output, and refuses what can be refused.
static void fall_silent(void)
{
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (nowhere >= 0) {
        (void)dup2(nowhere, STDOUT_FILENO);
        (void)dup2(nowhere, STDERR_FILENO);
        (void)close(nowhere);
    }
}

static void work_and_end(
    side_by_side_fn work, void *user, size_t index, const struct side_link *link, pid_t host)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); // A host that is killed leaves nothing behind.
    if (getppid() != host) {
        _exit(OUTCOME_ENVIRONMENT);
    }
    fall_silent();
    _exit((int)work(user, index, link));
}

// -- What processes say --------------------------------------------------------------------------

// In a place of its own, as long as there are some.
static void show_progress(const struct side_by_side *side, size_t index, const char *line)
{
    if (side->line + index < LOG_PLACES) {
        log_show_at(side->line + index, line);
    }
}

// Shows how far the process is in a place of its own, or prints a line; whole ones, so that those
// of two processes do not mix.
static void pass_line_on(const struct side_by_side *side, struct side_host *host)
{
    if (host->line[0] == LOG_RELAYED) {
        host->line[host->held - 1] = '\0'; // In place of its end.
        show_progress(side, (size_t)(host - side->hosts), host->line + 1);
    } else {
        log_words(host->line, host->held);
    }
    host->held = 0;
}

static void
pass_on(const struct side_by_side *side, struct side_host *host, const char *words, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        host->line[host->held++] = words[i];
        if (words[i] == '\n' || host->held == sizeof(host->line)) {
            pass_line_on(side, host);
        }
    }
}

// Reads what there is by now.
static void listen_to(struct side_by_side *side, struct side_host *host)
{
    char words[1024];
    ssize_t size = 0;

    (void)pthread_mutex_lock(&side->lock);
    while (host->listening >= 0 && (size = read(host->listening, words, sizeof(words))) > 0) {
        pass_on(side, host, words, (size_t)size);
    }
    if (host->listening >= 0 && size == 0) {
        if (host->held > 0) { // Its last words.
            pass_on(side, host, "\n", 1);
        }
        close_end(&host->listening);
        show_progress(side, (size_t)(host - side->hosts), "");
    }
    (void)pthread_mutex_unlock(&side->lock);
}

// Waits until some process says something, or for a while. How many may still.
static nfds_t wait_for_words(struct side_by_side *side)
{
    struct pollfd ears[SIDE_HOSTS_MAX];
    nfds_t count = 0;

    (void)pthread_mutex_lock(&side->lock);
    for (size_t i = 0; i < side->count; i++) {
        if (side->hosts[i].listening >= 0) {
            ears[count++] = (struct pollfd){.fd = side->hosts[i].listening, .events = POLLIN};
        }
    }
    (void)pthread_mutex_unlock(&side->lock);
    (void)poll(ears, count, LOOK_MS);
    return count;
}

static void tell_end(const struct side_host *host, int state)
{
    if (WIFSIGNALED(state)) {
        log_line(LOG_WARNING,
                 "the process of %s was ended by signal %d: what it has not done is done now",
                 host->name, WTERMSIG(state));
    }
}

// Whether it has ended by now. The system knows of it until then, as those do that wait for it
// (run/case_rounds.h).
static int reap(struct side_by_side *side, struct side_host *host)
{
    int state = 0;

    (void)pthread_mutex_lock(&side->lock);
    const int is_new =
        host->process != 0 && waitpid(host->process, &state, WNOHANG) == host->process;

    host->process = is_new ? 0 : host->process;
    const int is_over = host->process == 0;

    (void)pthread_mutex_unlock(&side->lock);
    if (is_new) {
        listen_to(side, host);
        if (!atomic_load(&side->is_ended)) {
            tell_end(host, state);
        }
    }
    return is_over;
}

// While the host carves, too: a process whose words nobody takes would wait.
static void *listen_to_all(void *user)
{
    struct side_by_side *side = user;

    while (!atomic_load(&side->is_ending) && wait_for_words(side) > 0) {
        for (size_t i = 0; i < side->count; i++) {
            listen_to(side, &side->hosts[i]);
            (void)reap(side, &side->hosts[i]);
        }
    }
    return NULL;
}

// Signals are for the thread that works.
static tapml_status begin_listening(struct side_by_side *side)
{
    sigset_t all, before;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&side->listener, NULL, listen_to_all, side);

    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    side->has_listener = error == 0;
    return error == 0
               ? TAPML_OK
               : status_fail(TAPML_UNAVAILABLE, "no thread can be started that listens to %s: %s",
                             side->unit, strerror(error));
}

static void end_listening(struct side_by_side *side)
{
    if (side->has_listener) {
        atomic_store(&side->is_ending, 1);
        (void)pthread_join(side->listener, NULL);
        side->has_listener = 0;
    }
}

// -- Beginning ---------------------------------------------------------------------------------

static tapml_status no_process(const struct side_host *host)
{
    return status_fail(TAPML_UNAVAILABLE, "no process can be started for %s: %s", host->name,
                       strerror(errno));
}

// The process has its own ends of the pipes and none of the others'.
static void keep_own_ends(struct side_by_side *side, const int telling[2], const int words[2])
{
    for (size_t i = 0; i < side->count; i++) {
        close_end(&side->hosts[i].telling);
        close_end(&side->hosts[i].listening);
    }
    (void)close(telling[1]);
    (void)close(words[0]);
}

void side_by_side_init(struct side_by_side *side, const char *unit, size_t line)
{
    (void)signal(SIGPIPE, SIG_IGN); // A process that has gone is seen by its end.
    *side = (struct side_by_side){.unit = unit, .line = line};
    (void)pthread_mutex_init(&side->lock, NULL);
}

tapml_status
side_by_side_add(struct side_by_side *side, const char *name, side_by_side_fn work, void *user)
{
    if (side->count == SIDE_HOSTS_MAX) {
        return status_fail(TAPML_UNAVAILABLE, "%s: more than %d processes of %s", name,
                           (int)SIDE_HOSTS_MAX, side->unit);
    }
    struct side_host *host = &side->hosts[side->count];
    int telling[2] = {-1, -1}, words[2] = {-1, -1};
    const pid_t self = getpid();

    *host = (struct side_host){.telling = -1, .listening = -1};
    (void)snprintf(host->name, sizeof(host->name), "%s", name);
    if (pipe2(telling, O_CLOEXEC) != 0 || pipe2(words, O_CLOEXEC) != 0) {
        close_end(&telling[0]);
        close_end(&telling[1]);
        return no_process(host);
    }
    (void)fflush(stdout); // Else both processes print what is there.
    host->process = fork();
    if (host->process == 0) {
        const struct side_link link = {
            .hearing = telling[0], .speaking = words[1], .is_shown = log_is_shown()};

        keep_own_ends(side, telling, words);
        work_and_end(work, user, side->count, &link, self);
    }
    close_end(&telling[0]);
    close_end(&words[1]);
    host->telling = telling[1];
    host->listening = words[0];
    (void)fcntl(host->listening, F_SETFL, O_NONBLOCK);
    side->count++;
    if (host->process < 0) {
        host->process = 0;
        return no_process(host);
    }
    return TAPML_OK;
}

tapml_status side_by_side_listen(struct side_by_side *side)
{
    return side->count > 0 ? begin_listening(side) : TAPML_OK;
}

void side_by_side_tell(struct side_by_side *side, struct side_message message)
{
    for (size_t i = 0; i < side->count; i++) {
        // One that has gone does not hear it.
        (void)!write(side->hosts[i].telling, &message, sizeof(message));
        message.executions = 0;
    }
}

// -- Waiting -----------------------------------------------------------------------------------

// A signal ends it.
static void pause_briefly(void)
{
    (void)poll(NULL, 0, PAUSE_MS);
}

static size_t count_ended(struct side_by_side *side)
{
    size_t ended = 0;

    for (size_t i = 0; i < side->count; i++) {
        ended += reap(side, &side->hosts[i]) != 0;
    }
    return ended;
}

tapml_status side_by_side_wait(struct side_by_side *side, struct run_lock *lock)
{
    tapml_status status = TAPML_OK;
    char name[SIDE_NAME];
    size_t ended = 0;

    (void)snprintf(name, sizeof(name), "%s side by side", side->unit);
    while (status == TAPML_OK && (ended = count_ended(side)) < side->count) {
        run_lock_publish(lock, &(struct run_lock_phase){.name = name,
                                                        .unit = side->unit,
                                                        .done = ended,
                                                        .all = side->count,
                                                        .left_s = NAN});
        pause_briefly();
        status = interrupt_check();
    }
    return status;
}

static void send_all(struct side_by_side *side, int number)
{
    (void)pthread_mutex_lock(&side->lock);
    for (size_t i = 0; i < side->count; i++) {
        if (side->hosts[i].process != 0) {
            (void)kill(side->hosts[i].process, number);
        }
    }
    (void)pthread_mutex_unlock(&side->lock);
}

void side_by_side_end(struct side_by_side *side)
{
    const uint64_t end_ns = clock_now_ns() + (uint64_t)PATIENCE_MS * 1000000;

    atomic_store(&side->is_ended, 1);
    send_all(side, SIGTERM);
    while (count_ended(side) < side->count && clock_now_ns() < end_ns) {
        pause_briefly();
    }
    send_all(side, SIGKILL);
    end_listening(side); // It reaps processes, too.
    for (size_t i = 0; i < side->count; i++) {
        struct side_host *host = &side->hosts[i];

        while (host->process != 0 && waitpid(host->process, NULL, 0) < 0 && errno == EINTR) {
            // Asked again.
        }
    }
    for (size_t i = 0; i < side->count; i++) {
        close_end(&side->hosts[i].telling);
        close_end(&side->hosts[i].listening);
        show_progress(side, i, "");
    }
    side->count = 0;
}
