// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/process.h"

#include <criterion/criterion.h>
#include <fenv.h>
#include <sys/stat.h>
#include <unistd.h>

Test(process, what_nobody_touched_is_no_change)
{
    struct process_state state;
    struct text changes;
    struct text handlers;
    text_init(&changes);
    text_init(&handlers);
    process_save(&state);
    process_restore(&state, &changes, &handlers);
    cr_assert_str_eq(changes.data, "");
    cr_assert_str_eq(handlers.data, "");
    text_release(&changes);
    text_release(&handlers);
}

Test(process, puts_back_all_that_was_changed_and_says_what)
{
    struct process_state state;
    struct text changes;
    struct text handlers;
    struct stat before;
    struct stat after;
    sigset_t set;
    text_init(&changes);
    text_init(&handlers);
    const uint64_t mode = process_float_mode();
    const mode_t mask = umask(S_IRWXO);
    umask(mask);
    cr_assert_eq(stat(".", &before), 0);

    process_save(&state);
    fesetround(FE_DOWNWARD);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGUSR2, SIG_IGN);
    cr_assert_not_null(setlocale(LC_ALL, "C.UTF-8"));
    umask(S_IRWXU);
    cr_assert_eq(chdir("/"), 0);
    process_restore(&state, &changes, &handlers);

    cr_assert_str_eq(changes.data,
                     "floating-point mode, signal mask, locale, umask, current folder");
    cr_assert_str_eq(handlers.data, "USR2");
    cr_assert_eq(process_float_mode(), mode);
    cr_assert_eq(fegetround(), FE_TONEAREST);
    cr_assert_eq(umask(mask), mask);
    cr_assert_eq(stat(".", &after), 0);
    cr_assert_eq(before.st_ino, after.st_ino);
    cr_assert_str_eq(setlocale(LC_ALL, NULL), "C");
    pthread_sigmask(SIG_BLOCK, NULL, &set);
    cr_assert_eq(sigismember(&set, SIGUSR1), 0);
    text_release(&changes);
    text_release(&handlers);
}

// Flags of operations that were inexact are no mode: every division raises them.
Test(process, arithmetic_changes_no_mode)
{
    const uint64_t mode = process_float_mode();
    volatile double third = 1.0;
    third = third / 3.0;
    cr_assert(third > 0.0);
    cr_assert_eq(process_float_mode(), mode);
}

#if defined(__x86_64__)
Test(process, flush_to_zero_is_a_mode)
{
    const uint64_t mode = process_float_mode();
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8000u);
    cr_assert_neq(process_float_mode(), mode);
    volatile float tiny = 1e-38f;
    cr_assert(tiny / 16.0f == 0.0f);
    process_set_float_mode(mode);
    cr_assert_eq(process_float_mode(), mode);
    cr_assert(tiny / 16.0f != 0.0f);
}
#endif
