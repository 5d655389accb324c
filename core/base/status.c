// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_SIZE = 4096 };

// The one piece of state outside of objects: each thread's last failure.
static _Thread_local char message[MESSAGE_SIZE];

tapml_status status_fail(tapml_status code, const char *format, ...)
{
    // An argument may be the message itself.
    char fresh[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(fresh, sizeof(fresh), format, args); // A message that is cut is still one.
    va_end(args);
    utf8_make_plain(fresh); // It quotes what strangers wrote.
    memcpy(message, fresh, strlen(fresh) + 1);
    return code;
}

tapml_status status_no_memory(void)
{
    return status_fail(TAPML_NO_MEMORY, "out of memory");
}

tapml_status status_explain(tapml_status code, const char *format, ...)
{
    char context[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(context, sizeof(context), format, args);
    va_end(args);
    return status_fail(code, "%s: %s", context, message);
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
