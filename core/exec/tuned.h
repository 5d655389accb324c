// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Settings of a device's kernels (tapml/draft/tuning.h) as a host keeps them, and how a device that
// was just opened gets them: here, or in the worker where it is.
//
// One thread, that of the backend.
#pragma once

#include "base/status.h"
#include "device/backend.h"

struct catalogue;

// A setting, and for which device it is. Texts are borrowed.
struct tuned_setting {
    const char *device; // Its id; NULL: of any device, driver and digest, as in a trial.
    const char *driver;
    const char *digest; // Of the op, as it is without any setting.
    const char *op;     // Its full name,
    int64_t version;    // and version.
    const char *shape_class;
    const char *values; // "form=1 width=4".
};

// The settings that a place gives its device.
struct tuned_settings {
    const struct tuned_setting *items;
    size_t count;
};

// Whether a setting is for this backend, be there settings of the op already: device, driver and
// digest are the same, and it has the op.
int tuned_fits(struct backend *backend,
               const struct catalogue *catalogue,
               const struct tuned_setting *setting);

// Gives a device of this process those that are for it. One that it refuses stays out, with a line
// of log: it is what some file says. The first failure of the device is returned.
tapml_status tuned_apply(struct backend *backend,
                         const struct catalogue *catalogue,
                         struct tuned_settings settings) STATUS_USED;
