// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include "base/sentence.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <string.h>

// The one piece of state outside of objects: each thread's last failure.
static _Thread_local char message[SENTENCE_BYTES];

// It quotes what strangers wrote.
static void keep(char *fresh)
{
    utf8_make_plain(fresh);
    memcpy(message, fresh, strlen(fresh) + 1);
}

// As much of `piece` as fits: a message that is cut is still one.
static void append(char fresh[SENTENCE_BYTES], const char *piece)
{
    const size_t length = strlen(fresh);
    const size_t most = SENTENCE_BYTES - 1 - length;
    const size_t count = strnlen(piece, most);
    memcpy(fresh + length, piece, count);
    fresh[length + count] = '\0';
}

tapml_status status_fail(tapml_status code, const char *format, ...)
{
    // An argument may be the message itself.
    char fresh[SENTENCE_BYTES];
    va_list args;
    va_start(args, format);
    sentence_format(fresh, sizeof(fresh), format, args);
    va_end(args);
    keep(fresh);
    return code;
}

tapml_status status_no_memory(void)
{
    return status_fail(TAPML_NO_MEMORY, "out of memory");
}

tapml_status status_explain(tapml_status code, const char *format, ...)
{
    char fresh[SENTENCE_BYTES];
    va_list args;
    va_start(args, format);
    sentence_format(fresh, sizeof(fresh), format, args);
    va_end(args);
    append(fresh, ": ");
    append(fresh, message); // Not shortened: it is a sentence.
    keep(fresh);
    return code;
}

const char *status_message(void)
{
    return message;
}

int status_ends_all(tapml_status code)
{
    return code == TAPML_NO_MEMORY || code == TAPML_CANCELLED || code == TAPML_DEVICE_LOST;
}

const char *status_name(tapml_status code)
{
    static const struct {
        tapml_status code;
        const char *name;
    } names[] = {
        {TAPML_OK, "ok"},
        {TAPML_CANCELLED, "cancelled"},
        {TAPML_INVALID, "invalid"},
        {TAPML_DEADLINE, "deadline passed"},
        {TAPML_NOT_FOUND, "not found"},
        {TAPML_NO_MEMORY, "out of memory"},
        {TAPML_PRECONDITION, "not in this state"},
        {TAPML_UNIMPLEMENTED, "not implemented"},
        {TAPML_INTERNAL, "internal error"},
        {TAPML_UNAVAILABLE, "unavailable"},
        {TAPML_DEVICE_LOST, "device lost"},
        {TAPML_ABI_MISMATCH, "ABI mismatch"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        if (names[i].code == code) {
            return names[i].name;
        }
    }
    return "unknown failure";
}
