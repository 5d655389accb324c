// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A short run in a folder of its own, from the reference to the reference.
#pragma once

#include "harness/scratch.h"

static inline const char *short_run_write_of(struct scratch *scratch,
                                             const char *model,
                                             const char *prompts,
                                             const char *extra)
{
    char text[8 * SCRATCH_PATH];

    scratch_text(scratch, "prompts.txt", prompts);
    (void)snprintf(text, sizeof(text),
                   "[run]\ndir = %s/run\nprompts = %s/prompts.txt\ndecode = 3\ncapacity = 32\n"
                   "chunk = 16\n[model]\npath = %s\n[source]\nbackend = reference:f32\n"
                   "[target.other]\nbackend = reference:f64\n%s",
                   scratch->folder, scratch->folder, scratch_source(model), extra);
    return scratch_text(scratch, "run.ini", text);
}

// Writes run.ini, with `extra` behind it, and the prompts; gives the path of run.ini. The model is
// a fixture of two layers, without a tokenizer: a run takes a tenth of what the embedded model
// takes.
static inline const char *short_run_write(struct scratch *scratch, const char *extra)
{
    return short_run_write_of(scratch, "tests/data/models/llama", "ids: 5 17 3\nids: 7 9 21 40\n",
                              extra);
}

// The same of the embedded model, with a text among the prompts.
static inline const char *short_run_write_text(struct scratch *scratch, const char *extra)
{
    return short_run_write_of(scratch, "models/tiny", "The fox was\nids: 0 352 528 13\n", extra);
}
