// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The devices of all backends that are installed, found without running code of a plugin here
// (config/survey.h); and what is not there, with the reason.
//
// One thread. Everything is in the arena that is given. TAPML_NO_MEMORY; TAPML_UNAVAILABLE where
// nothing can be asked, since there is no worker program.
#pragma once

#include "config/survey.h"
#include "device/backend.h"

struct text;

struct installed_device {
    const char *plugin, *plugin_version, *build; // Of its component.
    const char *component;
    const struct survey_device *device; // NULL: the component has none, or is not asked:
    int opens_late;                     // it opens something, such as a browser, to list them.
    enum candidate_state state;         // Of the component.
    const char *sentence;               // Why it has none; or "".
};

// In the order of the registry. Backends that an earlier one hides are left out. `program` is the
// path of the program that asks.
tapml_status installed_devices_list(const char *program,
                                    struct registry *registry,
                                    struct arena *arena,
                                    struct installed_device **out_items,
                                    size_t *out_count) STATUS_USED;

// Appends what people read of a device of a component, a line of it.
void installed_devices_append(const char *component,
                              const struct survey_device *device,
                              struct text *out_line);

// Appends a line for each device; of a component that opens something, such as a browser, to list
// its devices, a line that says so. Without a driver or a device there is nothing to list; whatever
// else is wrong is a line of the log. The status of `out_lines` reports a failure.
void installed_devices_print(const struct installed_device *items,
                             size_t count,
                             struct text *out_lines);

// What is known of a device before it is opened, as an open one says it.
struct backend_info installed_devices_info(const struct installed_device *item);
