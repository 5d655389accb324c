// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Lines on the error stream, and one that stays the last of a terminal. The process has one level,
// which is set once at the start. Lines of several threads do not mix, and none shares a line of
// the terminal with another.
#pragma once

#include <stdarg.h>
#include <stddef.h>

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

// Drops all lines above `level` from now on; the level is LOG_WARNING before the first call. [any]
void log_set_level(enum log_level level);

// Writes one line with the name of its level, formatted as by printf; `format` has no line end. On
// a terminal that wants it the name has a colour. [any]
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Writes one line as it is, at any level. [any]
void log_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Passes on what another program says, as it comes: whole lines, or the begin of one. [any]
void log_words(const void *words, size_t size);

// Shows `line`, which has no line end, as the last of a terminal until another one is shown; what
// is written meanwhile goes above it. It is cut at the terminal's width. Only for a terminal. [any]
void log_show(const char *line);

// Removes that line. [any]
void log_hide(void);
