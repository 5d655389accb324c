// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its probe changes the state of the process and puts nothing back.
#include <tapml/plugin.h>

#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static tapml_status
probe(const tapml_component *component, const tapml_host *host, tapml_call *call)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGUSR2, SIG_IGN);
    setlocale(LC_ALL, "C.UTF-8");
    umask(0);
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040u);
#endif
    return chdir("/") == 0 ? TAPML_OK : TAPML_INTERNAL;
}

#define ZOO_PROBE probe
#include "zoo.h"
