// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Log lines on the error stream. The process has one level, which is set once at the start.
#pragma once

#include <stdarg.h>

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

// Drops all lines above `level` from now on; the level is LOG_WARNING before the first call. [any]
void log_set_level(enum log_level level);

// Writes one line with the name of its level, formatted as by printf; `format` has no line end.
// Lines of several threads do not mix. [any]
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
