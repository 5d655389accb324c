// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/model_list.h"

#include "base/alloc.h"
#include "config/data_folder.h"

tapml_status model_list_open(const char *program, struct published **out_list)
{
    char *folder = NULL;

    TAPML_TRY(data_folder_find(DATA_FOLDER_MODELS, program, &folder));
    const tapml_status status = published_open(folder, out_list);

    alloc_free(folder);
    return status;
}
