// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What is in a folder, in an order that does not depend on the file system; and its end.
#pragma once

#include "base/status.h"

#include <stddef.h>

struct folder_names {
    char **items; // `folder`/NAME each, as file_join makes it.
    size_t count, capacity;
};

// The paths of all that is in `folder` and does not begin with a dot, in the order of the bytes of
// their names. A folder that cannot be read has none. The caller releases them, also after a
// failure: TAPML_NO_MEMORY.
tapml_status folder_list(const char *folder, struct folder_names *out_names) STATUS_USED;
void folder_release(struct folder_names *names);

// Removes a folder with all that is in it; links are removed, not followed. What cannot be removed,
// or is not there, is passed over.
void folder_remove(const char *folder);
