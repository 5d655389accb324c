// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Checks of what a plugin gives for its devices: the table of functions and the list of devices.
// Any thread; nothing is kept.
#pragma once

#include "base/status.h"

#include <tapml/backend.h>

// Whether all functions are there that must be. TAPML_ABI_MISMATCH names the first that is missing.
tapml_status device_table_check(const tapml_backend *table) STATUS_USED;

// Whether a list of devices can be read. TAPML_ABI_MISMATCH names what is too short.
tapml_status device_table_check_list(const tapml_device_info *const *list,
                                     uint32_t count) STATUS_USED;

// The place of the device with the id `device` in such a list; the first if that is NULL.
// TAPML_NOT_FOUND names those that are there, TAPML_UNAVAILABLE if there is none; `component` is
// for the message.
tapml_status device_table_find(const char *component,
                               const char *device,
                               const tapml_device_info *const *list,
                               uint32_t count,
                               uint32_t *out_index) STATUS_USED;
