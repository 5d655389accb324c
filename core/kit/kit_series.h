// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The checks of one plugin: which of them are wanted, and all of these made one after the other.
//
// One thread.
#pragma once

#include "base/ini.h"
#include "kit/kit_process.h"
#include "kit/kit_report.h"
#include "kit/kit_subject.h"

// Texts are borrowed.
struct kit_selection {
    struct kit_task task;        // Of every check. `component`: that one alone; NULL: all.
    int level;                   // Checks up to this one,
    const char *const *patterns; // or those whose ids match one of these, ended by NULL; or NULL.
    const char *expected;        // The file of those that are known to fail; or NULL.
    int in_process;              // Made in this process, for a debugger.

    // Is called behind each check; a failure ends the series. Or NULL.
    tapml_status (*made)(void *user, const struct kit_item *item);
    void *user;
};

struct kit_series {
    struct kit_selection selection;
    struct kit_subject subject; // As far as it can be read.
    struct ini expected;
    int is_read; // Else the plugin's manifest cannot be read, which its first check says.
    struct kit_item *items;
    size_t count, capacity;
};

// Makes the checks. A plugin that is wrong is no failure: TAPML_NOT_FOUND if there is no file,
// TAPML_INVALID if it has no such component, with the nearest one, or not that option, if no check
// is about it, or the file of known failures is wrong; both also of a plugin beside it;
// TAPML_NO_MEMORY. The caller releases the
// series in any case.
tapml_status kit_series_make(const struct kit_selection *selection,
                             struct kit_series *out_series) STATUS_USED;
void kit_series_release(struct kit_series *series);

// What they came to. Without a driver or a device there is nothing to say of a component, whatever
// passes without one: neither right nor wrong.
enum kit_series_verdict { KIT_SERIES_RIGHT, KIT_SERIES_WRONG, KIT_SERIES_NOTHING };
enum kit_series_verdict kit_series_conclude(const struct kit_series *series);
