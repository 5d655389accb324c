// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Checks of a plugin's table of device functions and of its list of devices. Any thread; nothing is
// kept.
#pragma once

#include "base/status.h"

#include <tapml/backend.h>

// Checks that all required functions are set. TAPML_ABI_MISMATCH names the first that is missing.
tapml_status device_table_check(const tapml_backend *table) STATUS_USED;

// Checks that a list of devices can be read. TAPML_ABI_MISMATCH names the struct that is too short.
tapml_status device_table_check_list(const tapml_device_info *const *list,
                                     uint32_t count) STATUS_USED;

// Finds the index of the device with the id `device` in such a list, or of the first if `device` is
// NULL. TAPML_NOT_FOUND names the devices of the list, TAPML_UNAVAILABLE if it is empty;
// `component` is for the message.
tapml_status device_table_find(const char *component,
                               const char *device,
                               const tapml_device_info *const *list,
                               uint32_t count,
                               uint32_t *out_index) STATUS_USED;
