// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Asks another machine which devices it has: a session of its own, without a worker process. One
// thread.
#pragma once

#include "remote/reach.h"

struct text;

// Appends a line for each device, as the machine says it, made plain for a terminal. Failures are
// those of remote/reach.h, with where the machine is, and TAPML_UNAVAILABLE with why it lists none.
tapml_status far_devices_ask(const struct reach_options *options,
                             struct text *out_lines) STATUS_USED;
