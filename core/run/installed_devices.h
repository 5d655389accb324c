// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The devices of all backends that are installed, found without running code of a plugin here
// (config/survey.h); and what is not there, with the reason.
//
// One thread. Everything lives as long as the setup. TAPML_NO_MEMORY; TAPML_UNAVAILABLE where
// nothing can be asked, since there is no worker program.
#pragma once

#include "config/survey.h"
#include "device/backend.h"

struct setup;

struct installed_device {
    const char *plugin, *plugin_version, *build; // Of its component.
    const char *component;
    const struct survey_device *device; // NULL: the component has none, or is not asked:
    int opens_late;                     // it opens something, such as a browser, to list them.
    enum candidate_state state;         // Of the component.
    const char *sentence;               // Why it has none; or "".
};

// In the order of the registry. Backends that an earlier one hides are left out.
tapml_status installed_devices_list(struct setup *setup,
                                    struct installed_device **out_items,
                                    size_t *out_count) STATUS_USED;

// What is known of a device before it is opened, as an open one says it.
struct backend_info installed_devices_info(const struct installed_device *item);
