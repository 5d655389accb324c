// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/data_folder.h"

#include "base/alloc.h"
#include "base/file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

enum { MARKER_BYTES_MAX = 1 << 12 };

struct data_folder_places {
    const char *variable;
    const char *marker; // What the build leaves beside the executable: a line with the folder.
    const char *beside;
    const char *configured;
};

static const struct data_folder_places places[] = {
    [DATA_FOLDER_MODELS] = {"TAPML_MODELS", "tapml-build.models", "../" TAPML_DATADIR "/models",
                            TAPML_PREFIX "/" TAPML_DATADIR "/models"},
    [DATA_FOLDER_CASES] = {"TAPML_CASES", "tapml-build.cases", "../" TAPML_DATADIR "/cases",
                           TAPML_PREFIX "/" TAPML_DATADIR "/cases"},
};

// The folder of the executable; NULL if memory is exhausted.
static char *folder_of(const char *program)
{
    char *whole = realpath(program, NULL);
    char *folder = file_folder(whole != NULL ? whole : program);

    free(whole);
    return folder;
}

// The folder that the marker `path` names; `*out_folder` stays if there is no marker.
static tapml_status read_marker(const char *path, char **out_folder)
{
    char *text = NULL;
    size_t size = 0;

    if (!file_exists(path)) {
        return TAPML_OK;
    }
    TAPML_TRY(file_read(path, MARKER_BYTES_MAX, &text, &size));
    text[strcspn(text, "\n")] = '\0';
    *out_folder = text;
    return TAPML_OK;
}

static tapml_status
find_beside(const struct data_folder_places *where, const char *folder, char **out_folder)
{
    char *path = file_join(folder, where->marker);
    tapml_status status = path != NULL ? read_marker(path, out_folder) : status_no_memory();

    alloc_free(path);
    if (status != TAPML_OK || *out_folder != NULL) {
        return status;
    }
    path = file_join(folder, where->beside);
    if (path != NULL && file_is_folder(path)) {
        *out_folder = path;
        return TAPML_OK;
    }
    status = path != NULL ? TAPML_OK : status_no_memory();
    alloc_free(path);
    return status;
}

// `*out_folder` stays if the executable knows no folder.
static tapml_status
find_by_program(const struct data_folder_places *where, const char *program, char **out_folder)
{
    if (program == NULL || getauxval(AT_SECURE) != 0) {
        return TAPML_OK; // A link to the program would choose the folder.
    }
    char *beside = folder_of(program);
    const tapml_status status =
        beside != NULL ? find_beside(where, beside, out_folder) : status_no_memory();

    alloc_free(beside);
    return status;
}

tapml_status data_folder_find(enum data_folder which, const char *program, char **out_folder)
{
    const struct data_folder_places *where = &places[which];
    const char *given = secure_getenv(where->variable);
    const int is_given = given != NULL && given[0] == '/';
    char *folder = NULL;

    if (!is_given) {
        TAPML_TRY(find_by_program(where, program, &folder));
    }
    if (folder == NULL) {
        folder = alloc_text(is_given ? given : where->configured);
    }
    if (folder == NULL) {
        return status_no_memory();
    }
    *out_folder = folder;
    return TAPML_OK;
}
