// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <stdatomic.h>
#include <stdio.h>

// Of the process, as the error stream is.
static _Atomic int level_max = LOG_WARNING;

void log_set_level(enum log_level level)
{
    atomic_store(&level_max, (int)level);
}

static const char *level_name(enum log_level level)
{
    switch (level) {
    case LOG_ERROR:
        return "error";
    case LOG_WARNING:
        return "warning";
    case LOG_INFO:
        return "info";
    case LOG_DEBUG:
        return "debug";
    }
    return "log";
}

void log_line(enum log_level level, const char *format, ...)
{
    if ((int)level > atomic_load(&level_max)) {
        return;
    }
    va_list args;
    va_start(args, format);
    flockfile(stderr); // Lines of two threads do not mix.
    fprintf(stderr, "%s: ", level_name(level));
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    funlockfile(stderr);
    va_end(args);
}
