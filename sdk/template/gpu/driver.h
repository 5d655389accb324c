// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The driver: what its files share. <tapml/gpu/driver.h> is the manual of each function.
//
// Until an interface stands behind it, its device is ordinary memory, its commands are done in the
// call, and it has no kernel, so that every op is refused.
#pragma once

#include <tapml/gpu/entries.h>
#include <tapml/gpu/support.h>

// What stands before a device: the interface's library, which `load` opens, and its functions.
struct driver_root {
    const struct gpu_host *host;
};

// A device with its stream.
struct driver_device {
    const struct driver_root *root;
    uint64_t reached; // The last ticket.
};

struct driver_buffer {
    uint64_t size_bytes;
    unsigned char *data;
};

struct driver_pipeline {
    const struct k_kernel *kernel;
};
