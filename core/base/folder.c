// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/folder.h"

#include "base/alloc.h"
#include "base/file.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static tapml_status add(struct folder_names *names, const char *folder, const char *name)
{
    void *items = names->items;
    if (!alloc_grow(&items, &names->capacity, names->count, sizeof(*names->items))) {
        return status_no_memory();
    }
    names->items = items;
    names->items[names->count] = file_join(folder, name);
    return names->items[names->count++] ? TAPML_OK : status_no_memory();
}

tapml_status folder_list(const char *folder, struct folder_names *out_names)
{
    struct dirent **entries = NULL;
    *out_names = (struct folder_names){.items = NULL};
    const int count = scandir(folder, &entries, is_visible, compare_names);
    tapml_status status = TAPML_OK;
    for (int i = 0; i < count; i++) {
        if (status == TAPML_OK) {
            status = add(out_names, folder, entries[i]->d_name);
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

void folder_release(struct folder_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        alloc_free(names->items[i]);
    }
    alloc_free(names->items);
    *names = (struct folder_names){.items = NULL};
}

static int remove_entry(const char *path, const struct stat *entry, int kind, struct FTW *depth)
{
    (void)entry;
    (void)kind;
    (void)depth;
    (void)remove(path);
    return 0;
}

void folder_remove(const char *folder)
{
    enum { DESCRIPTORS = 16 };

    (void)nftw(folder, remove_entry, DESCRIPTORS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
