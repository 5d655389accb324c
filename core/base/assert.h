// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Assertions that stay in release builds: a failed one is a mistake of this program, and to
// continue could give a wrong verdict.
#pragma once

// Ends the program with file, line and text of `condition` if it is false. [any]
#define ASSERT(condition) ((condition) ? (void)0 : assert_failed(#condition, __FILE__, __LINE__))

// Prints the failed condition to the error stream and aborts. Called by ASSERT only. [any]
_Noreturn void assert_failed(const char *condition, const char *file, int line);
