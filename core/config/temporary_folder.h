// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Folders for temporary files. Any thread.
#pragma once

#include "base/status.h"

enum { TEMPORARY_FOLDER_TEXT = 256 };

// Makes a folder of its own in $TMPDIR, or /tmp, whose name begins with `name`, for this user
// alone. TAPML_UNAVAILABLE; the path is "" then.
tapml_status temporary_folder_make(const char *name,
                                   char out_path[TEMPORARY_FOLDER_TEXT]) STATUS_USED;
