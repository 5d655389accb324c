// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Where a folder of data that comes with the programs is: the first of
//
//   1  a variable of the environment, an absolute folder; not under AT_SECURE
//   2  in a build tree, what the build has left beside the executable
//   3  beside the executable: ../share/tapml/1/NAME
//   4  the folder that the build was configured for
//
// One thread, because the environment is read.
#pragma once

#include "base/status.h"

enum data_folder {
    DATA_FOLDER_MODELS, // The list of published models. TAPML_MODELS.
    DATA_FOLDER_CASES,  // Carved cases, for plugins that are checked. TAPML_CASES.
};

// `program` is the running executable; or NULL. The folder need not be there. TAPML_NO_MEMORY, and
// what is wrong with the file of a build tree. The caller frees the path by alloc_free.
tapml_status
data_folder_find(enum data_folder which, const char *program, char **out_folder) STATUS_USED;
