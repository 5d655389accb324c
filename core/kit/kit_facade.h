// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The plugin as the host itself opens it, behind the checks of the façade, in this process.
//
// One thread.
#pragma once

#include "kit/kit_check.h"
#include "plugin/registry.h"

struct kit_facade {
    struct registry *registry; // Of this plugin alone.
    struct backend *backend;   // The subject's component and device.
};

// Opens both. Without a driver or a device the check is skipped; what the host refuses is its
// failure. Returns whether the backend is open; the caller closes it in either case.
int kit_facade_open(const struct kit_subject *subject,
                    struct kit_result *io_result,
                    struct kit_facade *out_facade);
void kit_facade_close(struct kit_facade *facade);
