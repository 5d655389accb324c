// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A replay on every installed device, one after the other: what `tapml-host replay` without a
// backend does. A device that is not there is told and is no failure.
//
// One thread.
#pragma once

#include "run/bundle_tags.h"

struct setup;
struct store;

// What a replay came to on one device.
struct replay_device_result {
    size_t bad, passed; // Cases of the worst repetition, and those that ran and are right.
    size_t others;      // That did not run: unsupported or skipped.
};

// Replays on the backend "COMPONENT:DEVICE".
typedef tapml_status (*replay_devices_fn)(void *user,
                                          const char *backend,
                                          struct replay_device_result *out_result);

struct replay_devices_options {
    struct setup *setup;
    struct store *store;                       // What is replayed: says what it had run on.
    const struct bundle_condition *conditions; // That the tags of a device have to meet.
    size_t condition_count;
    replay_devices_fn replay;
    void *user;
};

struct replay_devices_totals {
    size_t bad, passed; // Over all devices.
    size_t failed;      // Devices that are there and on which nothing could be tried.
};

// Prints what each device gives, and at the end a line for each with its verdict. Returns
// TAPML_UNAVAILABLE where no device meets the conditions, TAPML_CANCELLED and TAPML_NO_MEMORY from
// `replay`; its other failures are of one device.
tapml_status replay_devices_run(const struct replay_devices_options *options,
                                struct replay_devices_totals *out_totals) STATUS_USED;
