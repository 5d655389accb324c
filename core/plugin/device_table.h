// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Checks of a plugin's table of device functions and of its list of devices, and what the host
// knows of a device by both. Any thread; nothing is kept.
#pragma once

#include "device/backend.h"

struct arena;

// Checks that all required functions are set. TAPML_ABI_MISMATCH names the first that is missing.
tapml_status device_table_check(const tapml_backend *table) STATUS_USED;

// Checks that a list of devices can be read. TAPML_ABI_MISMATCH names the struct that is too short.
tapml_status device_table_check_list(const tapml_device_info *const *list,
                                     uint32_t count) STATUS_USED;

// Finds the index of the device with the id `device` in such a list, or of the first if `device` is
// NULL. TAPML_NOT_FOUND names the devices of the list and the one that was probably meant,
// TAPML_UNAVAILABLE if it is empty; `component` is for the message.
tapml_status device_table_find(const char *component,
                               const char *device,
                               const tapml_device_info *const *list,
                               uint32_t count,
                               uint32_t *out_index) STATUS_USED;

// The same in a list of ids, ended by NULL.
tapml_status device_table_find_id(const char *component,
                                  const char *id,
                                  const char *const *ids,
                                  size_t *out_index) STATUS_USED;

// Sets what such a list says of a device, with texts in `arena`: id, names, kind and size of
// memory.
tapml_status device_table_describe(const tapml_backend *table,
                                   const tapml_device_info *info,
                                   struct arena *arena,
                                   struct backend_info *io_info) STATUS_USED;
