// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a search of plans has found, as text and as a JSON object, and the plan as a file.
//
// One thread. Failures are those of the ground and of the file.
#pragma once

#include "commands/plan_output.h"
#include "run/plan_seeking.h"

struct plan_search_shown {
    struct plan_ground *ground;
    const struct plan_sought *sought;
    struct plan_shown best; // What it comes to, where there is one.
    const char *text;       // The path of the text.
};

void plan_search_output_text(const struct plan_search_shown *shown, int explains, struct text *out);
tapml_status plan_search_output_json(const struct plan_search_shown *shown,
                                     struct text *out) STATUS_USED;

// Appends the plan as `--plan` reads it, with what was found in comments.
tapml_status plan_search_output_plan(const struct plan_search_shown *shown,
                                     struct text *out) STATUS_USED;
