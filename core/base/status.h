// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Status codes, and the message that goes with a failure.
//
// The core uses the ABI's codes. Who detects an error describes it with `status_fail`; who can add
// what helps the user does so with `status_explain`; who handles it prints `status_message`. The
// message is kept per thread and lasts until the thread's next failure.
#pragma once

#include <tapml/abi.h>

#define STATUS_PRINTF(at, first) __attribute__((format(printf, at, first)))

// A status that must be looked at. Only clang takes a cast to void as having looked.
#if defined(__clang__)
#define STATUS_USED __attribute__((warn_unused_result))
#else
#define STATUS_USED
#endif

// Passes a failure on.
#define TAPML_TRY(call_)                                                                           \
    do {                                                                                           \
        const tapml_status try_status_ = (call_);                                                  \
        if (try_status_ != TAPML_OK) {                                                             \
            return try_status_;                                                                    \
        }                                                                                          \
    } while (0)

// Sets the message and returns `code`: `return status_fail(TAPML_NOT_FOUND, "no op '%s'", name);`.
tapml_status status_fail(tapml_status code, const char *format, ...) STATUS_PRINTF(2, 3);

// TAPML_NO_MEMORY, with its message.
tapml_status status_no_memory(void);

// Puts what was being done before the message: "while loading 'x': no such tensor". Returns `code`.
tapml_status status_explain(tapml_status code, const char *format, ...) STATUS_PRINTF(2, 3);

// The message of this thread's last failure, or "".
const char *status_message(void);

// Whether a failure ends what is under way, whoever was called: memory that is wanting, a run that
// was cancelled, a device that is lost. It says nothing of the op that met it.
int status_ends_all(tapml_status code);

// "not found" for TAPML_NOT_FOUND; never NULL.
const char *status_name(tapml_status code);
