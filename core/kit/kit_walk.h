// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A walk of legal calls on the memory of a device, drawn by a seed, beside a copy in this process
// of what each buffer should hold: buffers come and go, are filled, written, copied and read, and
// nothing is waited for more often than chance has it.
//
// One thread.
#pragma once

#include "kit/kit_device.h"

// Makes `steps` calls on an open device, and reads all buffers at the end. What differs is told to
// the result, with the step and the seed. Returns whether all was right.
int kit_walk(struct kit_device *device, struct kit_result *io_result, uint64_t seed, int steps);
