// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A folder for the temporary files of a check, which the processes that are started meanwhile find
// as TMPDIR: whatever a check leaves there, and however it ends, goes with the folder.
//
// One thread: the environment changes.
#pragma once

#include "kit/kit_variable.h"

struct kit_folder {
    char path[256]; // "": there is none.
    struct kit_variable variable;
};

// Where no folder can be made, there is none, and a check that needs one says so.
void kit_folder_begin(struct kit_folder *out_folder);

// Removes the folder with all that is in it; links in it are removed, and not followed.
void kit_folder_end(struct kit_folder *folder);
