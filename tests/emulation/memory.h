// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Memory of an emulated device: it begins as NaN and ends at a page that nobody can touch.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct emulation_memory {
    unsigned char *map, *begin;
    size_t mapped, size;
};

bool emulation_memory_new(size_t size, struct emulation_memory *out_memory);
void emulation_memory_free(const struct emulation_memory *memory);
