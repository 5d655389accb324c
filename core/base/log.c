// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include "base/assert.h"
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

// What the last lines of the error stream are, for those who have its lock.
static struct {
    char lines[LOG_PLACES][SHOWN_TEXT]; // What is to be shown last; "" where nothing is.
    int drawn;                          // So many of them are there now.
    int is_open;                        // Words without a line end are.
} shown;

static _Atomic int is_relayed;

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
    if (shown.drawn > 0) {
        (void)fputs("\r\033[K", stderr);
    } else if (shown.is_open) {
        (void)fputc('\n', stderr);
    }
    for (; shown.drawn > 1; shown.drawn--) {
        (void)fputs("\033[A\033[K", stderr); // The line above.
    }
    shown.drawn = shown.is_open = 0;
}

static void draw(void)
{
    for (size_t i = 0; i < LOG_PLACES; i++) {
        if (shown.lines[i][0] != '\0') {
            (void)fprintf(stderr, "%s%s", shown.drawn > 0 ? "\n" : "", shown.lines[i]);
            shown.drawn++;
        }
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
    if (shown.drawn > 0) {
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

void log_show_at(size_t place, const char *line)
{
    ASSERT(place < LOG_PLACES);
    (void)pthread_mutex_lock(&stream_lock);
    if (atomic_load(&is_relayed)) {
        (void)fprintf(stderr, "%c%s\n", LOG_RELAYED, line);
        (void)fflush(stderr);
    } else if (line[0] != '\0' || shown.lines[place][0] != '\0') {
        begin_line();
        (void)snprintf(shown.lines[place], sizeof(shown.lines[place]), "%s", line);
        cut(shown.lines[place]);
        draw();
    }
    (void)pthread_mutex_unlock(&stream_lock);
}

void log_show(const char *line)
{
    log_show_at(0, line);
}

void log_hide(void)
{
    log_show("");
}

void log_relay(void)
{
    atomic_store(&is_relayed, 1);
}

int log_is_shown(void)
{
    return atomic_load(&is_relayed) || isatty(STDERR_FILENO);
}
