// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a broken driver does. Each animal does one of these.
#pragma once

#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline void deed_crash(void)
{
    (void)signal(SIGSEGV, SIG_DFL); // A sanitizer's report would stand in for the signal.
    (void)raise(SIGSEGV);
}

static inline void deed_abort(void)
{
    (void)signal(SIGABRT, SIG_DFL);
    (void)fputs("assertion 'the driver is right' failed\n", stderr);
    abort();
}

static inline void deed_exit(void)
{
    _exit(3);
}

static inline void deed_loop(void)
{
    for (volatile unsigned turns = 0;; ++turns) {
    }
}

static inline void deed_lock(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
}

static inline void deed_take_memory(void)
{
    enum { STEP = 1 << 24 };
    for (char *block = malloc(STEP); block != NULL; block = malloc(STEP)) {
        memset(block, 1, STEP);
        usleep(5000);
    }
}

static inline int deed_overflow_stack(volatile int depth)
{
    volatile char frame[4096];
    (void)signal(SIGSEGV, SIG_DFL);
    memset((char *)(size_t)frame, depth, sizeof(frame));
    return depth < 0 ? 0 : deed_overflow_stack(depth + 1) + frame[depth & 4095];
}

static inline void deed_close(void)
{
    for (int descriptor = 3; descriptor < 256; ++descriptor) {
        (void)close(descriptor);
    }
}

static inline void deed_change_signals(void)
{
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGSEGV, SIG_IGN);
}

static inline void deed_change_locale(void)
{
    if (setlocale(LC_ALL, "C.UTF-8") == NULL) {
        (void)setlocale(LC_ALL, "");
    }
}

static inline void deed_change_folder(void)
{
    if (chdir("/") != 0) {
        _exit(4);
    }
}

static inline void deed_print(void)
{
    (void)puts("{\"verdict\": \"all is well\"}");
    (void)fflush(stdout);
}

static inline void deed_leak(void)
{
    static void *last;
    void **block = malloc(1 << 20);
    if (block != NULL) {
        *block = last;
        last = block;
    }
}

static inline void deed_fork(void)
{
    if (fork() == 0) {
        for (;;) {
            (void)pause();
        }
    }
}

// A daemon: it leaves session and group, and its parent ends.
static inline void deed_fork_away(void)
{
    if (fork() == 0) {
        (void)setsid();
        if (fork() == 0) {
            for (;;) {
                (void)pause();
            }
        }
        _exit(0);
    }
}

static inline void *deed_sleep(void *nothing)
{
    for (;;) {
        (void)pause();
    }
    return nothing;
}

static inline void deed_leave_thread(void)
{
    pthread_t thread;
    (void)pthread_create(&thread, NULL, deed_sleep, NULL);
}
