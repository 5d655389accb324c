// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Hides from the processes that are started meanwhile the libraries that a plugin opens by name, as
// its manifest has them: a folder that is searched first has a file of each name that is no
// library. Those that this program itself is linked with cannot be hidden.
//
// One thread: the environment changes.
#pragma once

#include "kit/kit_variable.h"
#include "plugin/manifest.h"

struct kit_hiding {
    char folder[64];              // "": nothing is hidden.
    struct kit_variable variable; // LD_LIBRARY_PATH.
};

// TAPML_UNAVAILABLE where the folder cannot be made. The caller ends it in either case.
tapml_status kit_hiding_begin(const struct manifest *manifest,
                              struct kit_hiding *out_hiding) STATUS_USED;
void kit_hiding_end(struct kit_hiding *hiding);
