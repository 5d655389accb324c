// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Lines for people on the error stream: one level for the process, set once at the start.
#pragma once

#include <stdarg.h>

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

// Lines above `level` are dropped. LOG_WARNING until set.
void log_set_level(enum log_level level);

// One line, without its end. [any]
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
