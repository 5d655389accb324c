// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A second queue of a plugin's device, for what is written beside the first one; part of
// plugin/device. It is opened by its first use. What a plugin does with two queues is its own
// affair: one that has a single stream does one thing after another.
//
// One thread, that of the device.
#pragma once

#include "plugin/device_state.h"

// As `backend_aside`. TAPML_UNIMPLEMENTED of a device of host memory, and where queues of the
// plugin cannot wait for each other.
tapml_status device_aside(struct backend *backend, struct backend_aside *io_aside) STATUS_USED;

// Makes the first queue wait for all that was written aside, if anything was since the last time.
tapml_status device_aside_gather(struct device *device) STATUS_USED;

// Releases the queue, before or behind the first one. Points that were given out count as reached.
void device_aside_close(struct device *device);
