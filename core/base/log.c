// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include "base/sentence.h"
#include "base/terminal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN_TEXT = 512 };

// Of the process, as the error stream is.
static _Atomic int level_max = LOG_WARNING;

// Lines of two threads do not mix. The stream's own lock would do, but sanitizers do not know it.
static pthread_mutex_t stream_lock = PTHREAD_MUTEX_INITIALIZER;

// What the last line of the error stream is, for those who have its lock.
static struct {
    char line[SHOWN_TEXT]; // What is to be shown last; "" if nothing is.
    int is_drawn;          // It is there now.
    int is_open;           // Words without a line end are.
} shown;

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

static const char *level_colour(enum log_level level)
{
    return level == LOG_ERROR ? "\033[31m" : level == LOG_WARNING ? "\033[33m" : "";
}

// Afterwards the stream is at the begin of a line.
static void begin_line(void)
{
    if (shown.is_drawn) {
        (void)fputs("\r\033[K", stderr);
    } else if (shown.is_open) {
        (void)fputc('\n', stderr);
    }
    shown.is_drawn = shown.is_open = 0;
}

static void draw(void)
{
    if (shown.line[0] != '\0') {
        (void)fputs(shown.line, stderr);
        shown.is_drawn = 1;
    }
    (void)fflush(stderr);
}

static void print_line(const char *begin, const char *name, const char *format, va_list args)
{
    char line[SENTENCE_BYTES];
    sentence_format(line, sizeof(line), format, args);
    (void)pthread_mutex_lock(&stream_lock);
    begin_line();
    (void)fprintf(stderr, "%s%s%s%s", begin, name, *begin != '\0' ? "\033[0m" : "",
                  *name != '\0' ? ": " : "");
    (void)fputs(line, stderr);
    (void)fputc('\n', stderr);
    draw();
    (void)pthread_mutex_unlock(&stream_lock);
}

void log_line(enum log_level level, const char *format, ...)
{
    if ((int)level > atomic_load(&level_max)) {
        return;
    }
    va_list args;
    va_start(args, format);
    print_line(terminal_wants_colour(STDERR_FILENO) ? level_colour(level) : "", level_name(level),
               format, args);
    va_end(args);
}

void log_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line("", "", format, args);
    va_end(args);
}

void log_words(const void *words, size_t size)
{
    if (size == 0) {
        return;
    }
    (void)pthread_mutex_lock(&stream_lock);
    if (shown.is_drawn) {
        begin_line();
    }
    (void)fwrite(words, 1, size, stderr);
    shown.is_open = ((const char *)words)[size - 1] != '\n';
    if (!shown.is_open) {
        draw();
    }
    (void)pthread_mutex_unlock(&stream_lock);
}

// Of a line that is longer than the terminal is wide, only the last row could be erased.
static void cut(char *line)
{
    const int columns = terminal_columns(STDERR_FILENO);
    size_t length = strlen(line);

    if (columns > 1 && length >= (size_t)columns) {
        length = (size_t)columns - 1;
        while (length > 0 && ((unsigned char)line[length] & 0xc0) == 0x80) {
            length--; // Within a character.
        }
        line[length] = '\0';
    }
}

void log_show(const char *line)
{
    (void)pthread_mutex_lock(&stream_lock);
    begin_line();
    (void)snprintf(shown.line, sizeof(shown.line), "%s", line);
    cut(shown.line);
    draw();
    (void)pthread_mutex_unlock(&stream_lock);
}

void log_hide(void)
{
    log_show("");
}
