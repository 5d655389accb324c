// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/process.h"

#include <fcntl.h>
#include <fenv.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)

#include <xmmintrin.h>

// The low six bits of MXCSR are flags that every operation may raise; the rest is the mode. The
// control word of the x87 unit stands in the upper half.
enum { MXCSR_FLAGS = 0x3f };

uint64_t process_float_mode(void)
{
    uint16_t control = 0;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    return (uint64_t)control << 32 | (_mm_getcsr() & ~(unsigned)MXCSR_FLAGS);
}

void process_set_float_mode(uint64_t mode)
{
    const uint16_t control = (uint16_t)(mode >> 32);
    __asm__ volatile("fldcw %0" : : "m"(control));
    _mm_setcsr((unsigned)mode | (_mm_getcsr() & MXCSR_FLAGS));
}

#elif defined(__aarch64__)

uint64_t process_float_mode(void)
{
    uint64_t mode = 0;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
}

void process_set_float_mode(uint64_t mode)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(mode));
}

#else

uint64_t process_float_mode(void)
{
    return (uint64_t)fegetround();
}

void process_set_float_mode(uint64_t mode)
{
    fesetround((int)mode);
}

#endif

static mode_t file_mask(void)
{
    // It can only be read by setting it; in between new files are private.
    const mode_t mask = umask(S_IRWXG | S_IRWXO);
    umask(mask);
    return mask;
}

static void copy_locale(char *target)
{
    const char *name = setlocale(LC_ALL, NULL);
    target[0] = '\0';
    if (name && strlen(name) < PROCESS_LOCALE_BYTES) {
        memcpy(target, name, strlen(name) + 1);
    }
}

void process_save(struct process_state *out_state)
{
    memset(out_state, 0, sizeof(*out_state));
    out_state->float_mode = process_float_mode();
    pthread_sigmask(SIG_SETMASK, NULL, &out_state->signal_mask);
    for (int i = 1; i < PROCESS_SIGNALS; ++i) {
        (void)sigaction(i, NULL, &out_state->handlers[i]); // Two numbers are the C library's own.
    }
    copy_locale(out_state->locale);
    out_state->thread_locale = uselocale((locale_t)0);
    out_state->file_mask = file_mask();
    out_state->folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void say(struct text *changes, const char *what)
{
    if (changes->length > 0) {
        text_append(changes, ", ");
    }
    text_append(changes, what);
}

static void restore_mask(const struct process_state *state, struct text *changes)
{
    sigset_t now;
    sigemptyset(&now);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    for (int i = 1; i < PROCESS_SIGNALS; ++i) {
        if (sigismember(&now, i) != sigismember(&state->signal_mask, i)) {
            say(changes, "signal mask");
            pthread_sigmask(SIG_SETMASK, &state->signal_mask, NULL);
            return;
        }
    }
}

static void restore_handlers(const struct process_state *state, struct text *handlers)
{
    for (int i = 1; i < PROCESS_SIGNALS; ++i) {
        struct sigaction now;
        memset(&now, 0, sizeof(now));
        if (sigaction(i, NULL, &now) != 0 || (now.sa_handler == state->handlers[i].sa_handler &&
                                              now.sa_flags == state->handlers[i].sa_flags)) {
            continue;
        }
        const char *name = sigabbrev_np(i);
        say(handlers, name ? name : "a real-time signal");
        (void)sigaction(i, &state->handlers[i], NULL);
    }
}

static void restore_locale(const struct process_state *state, struct text *changes)
{
    char now[PROCESS_LOCALE_BYTES];
    copy_locale(now);
    if (strcmp(now, state->locale) != 0) {
        say(changes, "locale");
        setlocale(LC_ALL, state->locale);
    }
    if (uselocale((locale_t)0) != state->thread_locale) {
        say(changes, "the thread's locale");
        uselocale(state->thread_locale);
    }
}

static void restore_folder(struct process_state *state, struct text *changes)
{
    struct stat saved;
    struct stat now;
    if (state->folder >= 0 && fstat(state->folder, &saved) == 0 &&
        (stat(".", &now) != 0 || now.st_dev != saved.st_dev || now.st_ino != saved.st_ino)) {
        say(changes, fchdir(state->folder) == 0 ? "current folder" : "current folder (it stays)");
    }
    if (state->folder >= 0) {
        close(state->folder);
        state->folder = -1;
    }
}

void process_restore(struct process_state *state, struct text *changes, struct text *handlers)
{
    if (process_float_mode() != state->float_mode) {
        say(changes, "floating-point mode");
        process_set_float_mode(state->float_mode);
    }
    restore_mask(state, changes);
    restore_handlers(state, handlers);
    restore_locale(state, changes);
    if (file_mask() != state->file_mask) {
        say(changes, "umask");
        umask(state->file_mask);
    }
    restore_folder(state, changes);
}
