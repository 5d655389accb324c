// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a component needs of the machine, by keys of its manifest, compared with what the kernel
// says of it: before anything of its library is mapped.
//
// One thread. Nothing of a manifest is trusted.
#pragma once

#include "base/status.h"

// Where the kernel says it.
struct hardware_paths {
    const char *sys;       // The folder "/sys".
    const char *processor; // The file "/proc/cpuinfo".
};
extern const struct hardware_paths hardware_of_machine;

// Whether the machine has what a component needs; both may be NULL.
//
// `devices`: patterns with blanks between, of which one device is enough: "pci:10de:*" or
// "usb:1a6e:089a", vendor and device as four hexadecimal digits in small letters, or `*`.
// `features`: names of features of the processor as the kernel has them, all of which are needed.
//
// TAPML_UNAVAILABLE says what is not there, TAPML_INVALID which word is no pattern. What the kernel
// does not say, as where /sys is not there, is left to the component's probe: TAPML_OK.
tapml_status hardware_check(const struct hardware_paths *paths,
                            const char *devices,
                            const char *features) STATUS_USED;
