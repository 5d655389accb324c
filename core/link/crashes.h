// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Which instances have crashed the worker, and how often: one that has done it CRASHES_MAX times is
// not called again. One thread.
#pragma once

#include "base/table.h"
#include "link/backlog.h"

enum { CRASHES_MAX = 2 };

struct crashes {
    struct table counts; // Of instances.
};

void crashes_init(struct crashes *crashes);
void crashes_release(struct crashes *crashes);

// Counts a crash to an instance that is known to be the cause; of any other nothing is noted.
void crashes_note(struct crashes *crashes, const struct backlog_culprit *culprit);

// Before a call of `instance` (or NULL). TAPML_INTERNAL where it is not called again; the message
// names `component`.
tapml_status crashes_check(const struct crashes *crashes,
                           const char *component,
                           const char *instance) STATUS_USED;
