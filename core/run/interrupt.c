// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/interrupt.h"

#include "base/mapping.h"
#include "base/timeline.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <unistd.h>

// How long the step in hand may go on; with what follows it is less than a second.
enum { PATIENCE_US = 600000 };

#define SENTENCE "interrupted; the same command resumes after the last finished step"

// A signal handler can reach nothing else.
static volatile sig_atomic_t interrupted, is_told;
static const struct interrupt_farewell *_Atomic farewell;
static const struct interrupt_scratch *_Atomic scratch;

// In a handler: nothing can be done about a failure, and little is allowed.
static void write_text(const char *text)
{
    const ssize_t size = write(STDERR_FILENO, text, strlen(text));

    (void)size;
}

_Noreturn static void leave(void)
{
    const struct interrupt_scratch *last = atomic_load(&scratch);

    for (size_t i = 0; last != NULL && i < last->file_count; i++) {
        (void)unlink(last->files[i]);
    }
    if (last != NULL) {
        (void)rmdir(last->folder);
    }
    _exit(INTERRUPT_EXIT);
}

// What is committed stays, as when a host is killed; beside it only temporary files need an end.
static void end_now(int number)
{
    const struct interrupt_farewell *last = atomic_load(&farewell);

    (void)number;
    timeline_settle();
    if (last != NULL) {
        const ssize_t size = pwrite(last->descriptor, last->bytes, last->size, 0);

        (void)size;
    }
    if (!is_told) {
        write_text(isatty(STDERR_FILENO) ? "\r\033[K" : "");
        write_text("tapml-host: " SENTENCE " (this one took too long to end)\n");
    }
    leave();
}

static void take_note(int number)
{
    const struct itimerval patience = {.it_value = {.tv_usec = PATIENCE_US}};

    if (interrupted) {
        timeline_settle();
        leave();
    }
    interrupted = 1;
    if (number == SIGINT) {
        (void)setitimer(ITIMER_REAL, &patience, NULL); // A system call, which cannot fail on this.
    }
}

void interrupt_watch(void)
{
    struct sigaction action = {.sa_handler = take_note, .sa_flags = SA_RESTART};
    struct sigaction end = {.sa_handler = end_now, .sa_flags = SA_RESTART};

    (void)sigemptyset(&action.sa_mask); // Cannot fail on a set of our own.
    (void)sigfillset(&end.sa_mask);
    (void)sigaction(SIGALRM, &end, NULL);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

tapml_status interrupt_check(void)
{
    return interrupted ? status_fail(TAPML_CANCELLED, SENTENCE) : mapping_check();
}

const char *interrupt_sentence(void)
{
    return SENTENCE;
}

void interrupt_set_farewell(const struct interrupt_farewell *words)
{
    atomic_store(&farewell, words);
}

void interrupt_drop_farewell(const struct interrupt_farewell *words)
{
    const struct interrupt_farewell *expected = words;

    (void)atomic_compare_exchange_strong(&farewell, &expected, NULL);
}

void interrupt_set_scratch(const struct interrupt_scratch *files)
{
    atomic_store(&scratch, files);
}

void interrupt_told(void)
{
    is_told = 1;
}

tapml_status interrupt_open(int *out_descriptor)
{
    sigset_t ends;

    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGINT);
    (void)sigaddset(&ends, SIGTERM);
    *out_descriptor =
        pthread_sigmask(SIG_BLOCK, &ends, NULL) == 0 ? signalfd(-1, &ends, SFD_CLOEXEC) : -1;
    return *out_descriptor >= 0 ? TAPML_OK
                                : status_fail(TAPML_UNAVAILABLE, "signals cannot be waited for: %s",
                                              strerror(errno));
}
