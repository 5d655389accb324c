// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_folder.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { DESCRIPTORS = 16 };

static const char VARIABLE[] = "TMPDIR";

void kit_folder_begin(struct kit_folder *out_folder)
{
    const char *parent = secure_getenv(VARIABLE);

    *out_folder = (struct kit_folder){.path = ""};
    (void)snprintf(out_folder->path, sizeof(out_folder->path), "%.200s/tapml-check-XXXXXX",
                   parent != NULL && *parent == '/' ? parent : "/tmp");
    if (mkdtemp(out_folder->path) == NULL) {
        out_folder->path[0] = '\0';
    } else if (kit_variable_set(&out_folder->variable, VARIABLE, out_folder->path) != TAPML_OK) {
        kit_folder_end(out_folder);
    }
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    (void)remove(path);
    return 0; // What cannot be removed hinders nothing else.
}

void kit_folder_end(struct kit_folder *folder)
{
    kit_variable_restore(&folder->variable);
    if (folder->path[0] != '\0') {
        (void)nftw(folder->path, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    }
    folder->path[0] = '\0';
}
