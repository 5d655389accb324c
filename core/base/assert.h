// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Assertions that stay in release builds: what they find is our own mistake, and going on would
// make it a wrong verdict.
#pragma once

// Ends the program with place and text where `condition` is false.
#define ASSERT(condition) ((condition) ? (void)0 : assert_failed(#condition, __FILE__, __LINE__))

_Noreturn void assert_failed(const char *condition, const char *file, int line);
