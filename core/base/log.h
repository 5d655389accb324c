// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Lines on the error stream, and some that stay the last of a terminal. The process has one level,
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

// Whether lines can be shown: the error stream is a terminal, or `log_relay` was called. [any]
int log_is_shown(void);

// Shows `line`, which has no line end, as the last of a terminal until another one is shown; what
// is written meanwhile goes above it. It is cut at the terminal's width. Only where lines can be
// shown. [any]
void log_show(const char *line);

// The same in a place of its own: those of several places stand below each other. "" removes the
// line. `log_show` has place 0.
enum { LOG_PLACES = 8 };
void log_show_at(size_t place, const char *line);

// Removes the line of place 0. [any]
void log_hide(void);

// From now on a line to be shown is written as a line that begins with LOG_RELAYED, for another
// process that has the terminal and shows it in a place that it chooses. [any]
#define LOG_RELAYED '\r'
void log_relay(void);
