// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A short run of the embedded model in a folder of its own, from the reference to the reference.
#pragma once

#include "harness/scratch.h"

// Writes run.ini, with `extra` behind it, and the prompts; gives the path of run.ini.
static inline const char *short_run_write(struct scratch *scratch, const char *extra)
{
    char text[8 * SCRATCH_PATH];

    scratch_text(scratch, "prompts.txt", "The fox was\nids: 0 352 528 13\n");
    (void)snprintf(text, sizeof(text),
                   "[run]\ndir = %s/run\nprompts = %s/prompts.txt\ndecode = 3\ncapacity = 32\n"
                   "chunk = 16\n[model]\npath = %s\n[source]\nbackend = reference:f32\n"
                   "[target.other]\nbackend = reference:f64\n%s",
                   scratch->folder, scratch->folder, scratch_source("models/tiny"), extra);
    return scratch_text(scratch, "run.ini", text);
}
