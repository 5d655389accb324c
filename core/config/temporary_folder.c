// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/temporary_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tapml_status temporary_folder_make(const char *name, char out_path[TEMPORARY_FOLDER_TEXT])
{
    const char *folder = getenv("TMPDIR");

    (void)snprintf(out_path, TEMPORARY_FOLDER_TEXT, "%.200s/%.40s-XXXXXX",
                   folder != NULL && *folder == '/' ? folder : "/tmp", name);
    if (mkdtemp(out_path) != NULL) {
        return TAPML_OK;
    }
    const tapml_status status = status_fail(TAPML_UNAVAILABLE, "%s: %s", out_path, strerror(errno));

    out_path[0] = '\0';
    return status;
}
