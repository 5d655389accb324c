// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tapml/memory/object.h>

// What every object offers as TAPML_KIND_BACKEND.
extern const tapml_backend memory_backend_table;

// Makes an object with the host, the component and the device of `parent`, and `extra_bytes` of
// undefined memory behind it, to which `data` points. The host releases it through its `vt`.
tapml_status memory_object_new(const struct memory_object *parent,
                               tapml_call *call,
                               uint64_t extra_bytes,
                               tapml_object **out_object);
