// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What clang's analyzer cannot see, since it reads one source at a time: a failure is never
// TAPML_OK, and an explained one is the one that was explained. Put in front of every source of
// core/ but base/status.c by tests/lint/clang_tidy.py; never compiled.
#pragma once

#include "base/status.h"

#pragma clang diagnostic ignored "-Wgnu-statement-expression"

#define ANALYZER_FAILURE(call_)                                                                    \
    ({                                                                                             \
        const tapml_status failure_ = (call_);                                                     \
        if (failure_ == TAPML_OK) {                                                                \
            __builtin_unreachable();                                                               \
        }                                                                                          \
        failure_;                                                                                  \
    })
#define status_fail(...)   ANALYZER_FAILURE((status_fail)(__VA_ARGS__))
#define status_no_memory() ANALYZER_FAILURE((status_no_memory)())
#define status_explain(code_, ...)                                                                 \
    ({                                                                                             \
        const tapml_status explained_ = (code_);                                                   \
        (void)(status_explain)(explained_, __VA_ARGS__);                                           \
        explained_;                                                                                \
    })
