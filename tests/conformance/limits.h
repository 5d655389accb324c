// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a component is not held to: tests/conformance/limits/COMPONENT, lines "suite/test: reason",
// and lines "refuses TEXT: reason" where it may refuse a call, with TEXT in what it says then.
#pragma once

#include <criterion/criterion.h>

// Leaves the tests out that the file of `component` names, and prints the reasons. What a single
// device is not held to is in a file of both names: "vulkan-swiftshader-0". A component without a
// file is held to everything. False where the file cannot be understood: a line without a
// reason, or with a test that there is not.
bool limits_apply(const struct criterion_test_set *tests, const char *component);

// Whether the file of `component` allows a refusal that says `reason`. It is read anew, since each
// test is a process of its own.
bool limits_allow(const char *component, const char *reason);
