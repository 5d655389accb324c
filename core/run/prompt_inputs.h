// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the prompts of a run have beside their ids: the files behind "inputs:".
//
// Of a text these are what its parts read (run/model_parts.h), and its tokens stand for the rows
// that come of it, which the source computes once, before the run. Of a part that is run alone they
// are its own inputs.
#pragma once

#include "run/model_parts.h"

struct prompt_inputs_options {
    struct registry *registry;
    const struct model *model;           // Of the run.
    const struct model_options *opening; // How it was opened.
    struct place *source;                // Open; NULL: nothing is computed, all is checked.
    const char *path;                    // Of the prompts file, for messages.
    size_t length_max;                   // Tokens of a prompt; 0: any number.
};

// Reads the files of all prompts, sets what they are given, and makes as many tokens of one as it
// has rows. All of it lives as long as the prompts. Failures name file and line: TAPML_INVALID for
// tokens that stand for rows without a file, a file without such tokens, one that does not fit, and
// a prompt that is too long with its rows; others are those of model_parts_compute.
tapml_status prompt_inputs_read(const struct prompt_inputs_options *options,
                                struct prompts *prompts) STATUS_USED;
