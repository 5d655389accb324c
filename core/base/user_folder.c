// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/user_folder.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/file.h"

#include <stdlib.h>

static const struct {
    const char *variable, *below_home;
} kinds[] = {
    [USER_FOLDER_CACHE] = {"XDG_CACHE_HOME", ".cache"},
    [USER_FOLDER_CONFIG] = {"XDG_CONFIG_HOME", ".config"},
};

static const char *find_absolute(const char *variable)
{
    const char *path = secure_getenv(variable);

    return path != NULL && path[0] == '/' ? path : NULL;
}

tapml_status user_folder_find(enum user_folder_kind kind, const char *below, char **out_path)
{
    ASSERT((size_t)kind < sizeof(kinds) / sizeof(*kinds));
    const char *given = find_absolute(kinds[kind].variable), *home = find_absolute("HOME");

    if (given == NULL && home == NULL) {
        return status_fail(TAPML_UNAVAILABLE, "neither %s nor HOME is set to an absolute path",
                           kinds[kind].variable);
    }
    char *folder = given != NULL ? alloc_text(given) : file_join(home, kinds[kind].below_home);

    if (folder != NULL && *below != '\0') {
        char *whole = file_join(folder, below);

        alloc_free(folder);
        folder = whole;
    }
    *out_path = folder;
    return folder != NULL ? TAPML_OK : status_no_memory();
}
