// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/run_folders.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/folder.h"

int run_folders_has_run(const char *folder)
{
    char *path = file_join(folder, "run.tapmlrun");
    const int has = path != NULL && file_exists(path);

    alloc_free(path);
    return has;
}

static tapml_status add(struct run_folders *folders, struct arena *arena, const char *folder)
{
    void *names = folders->names;

    if (!alloc_grow(&names, &folders->capacity, folders->count, sizeof(*folders->names))) {
        return status_no_memory();
    }
    folders->names = names;
    folders->names[folders->count] = arena_text(arena, folder);
    return folders->names[folders->count++] != NULL ? TAPML_OK : status_no_memory();
}

static tapml_status add_below(struct run_folders *folders, struct arena *arena, const char *folder)
{
    struct folder_names names;
    tapml_status status = folder_list(folder, &names);

    for (size_t i = 0; status == TAPML_OK && i < names.count; i++) {
        if (run_folders_has_run(names.items[i])) {
            status = add(folders, arena, names.items[i]);
        }
    }
    folder_release(&names);
    return status;
}

int run_folders_has_any(const char *folder)
{
    struct run_folders folders = {.names = NULL};
    struct arena *arena = arena_create();
    const int has = arena != NULL && run_folders_add(&folders, arena, folder) == TAPML_OK;

    run_folders_release(&folders);
    arena_destroy(arena);
    return has;
}

tapml_status run_folders_add(struct run_folders *folders, struct arena *arena, const char *folder)
{
    const size_t before = folders->count;

    TAPML_TRY(run_folders_has_run(folder) ? add(folders, arena, folder)
                                          : add_below(folders, arena, folder));
    return folders->count > before
               ? TAPML_OK
               : status_fail(TAPML_NOT_FOUND, "there is no run in '%s'", folder);
}

void run_folders_release(struct run_folders *folders)
{
    alloc_free(folders->names);
    *folders = (struct run_folders){.names = NULL};
}
