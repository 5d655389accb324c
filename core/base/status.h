// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Status codes, and the message that goes with a failure.
//
// The core uses the ABI's codes. The function that detects an error describes it with
// `status_fail`. A caller that can add helpful context does so with `status_explain`. The caller
// that handles the error prints `status_message`. The message is kept per thread and lasts until
// the thread's next failure.
#pragma once

#include <tapml/abi.h>

#define STATUS_PRINTF(at, first) __attribute__((format(printf, at, first)))

// Marks a status that must be used. Only clang accepts a cast to void as a use.
#if defined(__clang__)
#define STATUS_USED __attribute__((warn_unused_result))
#else
#define STATUS_USED
#endif

// Returns from the calling function with the status of `call_` if it is a failure.
#define TAPML_TRY(call_)                                                                           \
    do {                                                                                           \
        const tapml_status try_status_ = (call_);                                                  \
        if (try_status_ != TAPML_OK) {                                                             \
            return try_status_;                                                                    \
        }                                                                                          \
    } while (0)

// Sets this thread's message, formatted as by printf, and returns `code`:
// `return status_fail(TAPML_NOT_FOUND, "no op '%s'", name);`. [any]
tapml_status status_fail(tapml_status code, const char *format, ...) STATUS_PRINTF(2, 3);

// Sets the message of TAPML_NO_MEMORY and returns this code. [any]
tapml_status status_no_memory(void);

// Prepends context to the message: "while loading 'x': no such tensor". Returns `code`. [any]
tapml_status status_explain(tapml_status code, const char *format, ...) STATUS_PRINTF(2, 3);

// Returns the message of this thread's last failure, or "". [any]
const char *status_message(void);

// Whether a failure ends the work in progress, independently of the op that returned it: exhausted
// memory, a cancelled run, a lost device. No op is to blame for these. [any]
int status_ends_all(tapml_status code);

// Returns the name of a code, "not found" for TAPML_NOT_FOUND; never NULL. [any]
const char *status_name(tapml_status code);
