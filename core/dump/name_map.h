// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What tensors of one dump are called in another: a text of two names a line, in which `*` is the
// same part on both sides. Behind `#` is a remark. One thread.
#pragma once

#include "base/status.h"

#include <stddef.h>

struct arena;

struct name_map {
    struct arena *arena;
    struct name_map_row {
        const char *first, *second;
    } * rows;
    size_t count, capacity;
};

// Reads a file. The caller releases the map. TAPML_INVALID names the line.
tapml_status name_map_load(const char *path, struct name_map *out_map) STATUS_USED;
tapml_status name_map_parse(const char *name,
                            const char *text,
                            size_t size,
                            struct name_map *out_map) STATUS_USED;
void name_map_release(struct name_map *map); // A zeroed one is allowed.

// What the first dump's `name` is called in the second: by the first row that it matches, else as
// it is. In `arena`; NULL: no memory.
const char *name_map_find(const struct name_map *map, struct arena *arena, const char *name);
