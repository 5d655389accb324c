// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Checks of what a driver does with memory: transfers of many sizes at many offsets, each alone.
//
// Each fails or skips the trial, or leaves it as it is: then the driver has passed. A status is
// that of the backend; work may be pending then.
#pragma once

#include "verify/driver_trial.h"

// A write arrives whole, and nothing beside it changes. The same of a read and of a fill.
tapml_status driver_memory_write(struct driver_trial *trial) STATUS_USED;
tapml_status driver_memory_read(struct driver_trial *trial) STATUS_USED;
tapml_status driver_memory_fill(struct driver_trial *trial) STATUS_USED;

// A copy between two buffers does the same. Skipped if the device has no such copy.
tapml_status driver_memory_copy(struct driver_trial *trial) STATUS_USED;

// A state that is reset has no old row.
tapml_status driver_memory_reset(struct driver_trial *trial) STATUS_USED;

// What is shown by `map` is what was written. Skipped if the device shows nothing.
tapml_status driver_memory_map(struct driver_trial *trial) STATUS_USED;

// Memory of the host, from any address on, is read and written where it lies. Skipped if the device
// has memory of its own.
tapml_status driver_memory_wrap(struct driver_trial *trial) STATUS_USED;

// Both ends of a large buffer are memory of their own. Skipped if there is no memory for it.
tapml_status driver_memory_large(struct driver_trial *trial) STATUS_USED;
