// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The widest row of a state that linear_scan keeps on the stack; wider ones are refused.
enum { SCAN_WIDTH_MAX = 4096 };
