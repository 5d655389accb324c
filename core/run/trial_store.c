// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/trial_store.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/user_folder.h"
#include "store/store_open.h"

static tapml_status open_own(struct store **out_store)
{
    char *folder = NULL;
    tapml_status status = user_folder_find(USER_FOLDER_CACHE, "tapml", &folder);

    if (status != TAPML_OK) {
        return status_explain(status, "results have no place to stay: give --store FILE");
    }
    char *path = file_join(folder, "rank.tapmlrun");

    status = path != NULL ? file_make_folder(folder) : status_no_memory();
    if (status == TAPML_OK) {
        status = store_open(path, 1, out_store);
    }
    alloc_free(path);
    alloc_free(folder);
    return status;
}

tapml_status trial_store_open(const char *path, struct store **out_store)
{
    return path != NULL ? store_open(path, 1, out_store) : open_own(out_store);
}
