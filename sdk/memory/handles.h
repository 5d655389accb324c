// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What every device offers as TAPML_MEMORY_HANDLES: pointers, and files that are mapped.
#pragma once

#include <tapml/memory/object.h>

extern const tapml_memory_handles memory_handles_table;

// Ends the mapping of a buffer, if it has one.
void memory_handles_release(struct memory_object *buffer);
