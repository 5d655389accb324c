// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Fine-tunes of a model that is open: their weights are those of the model, where they lie and once
// at each place, but for those that they change (checkpoint_branch, exec/residency.h), and with
// --beside those too (model/delta_beside.h).
//
// One thread. Failures are those of model_open, with the fine-tune's path.
#pragma once

#include "config/options.h"
#include "plugin/model.h"

struct setup;
struct text;

enum { FINE_TUNES_MAX = 256 };

#define FINE_TUNES_OPTIONS                                                                         \
    {"--fine-tune", "PATH",                                                                        \
     "the file of a delta, or the folder of a LoRA adapter, on the weights of the model, "         \
     "which are there once for all of them; may be given several times"},                          \
    {                                                                                              \
        "--beside", NULL,                                                                          \
            "of --fine-tune with deltas of 24q2 and 24q4: the weights that change stay, too, and " \
            "the products of the changes are added"                                                \
    }

struct fine_tune {
    const char *path; // As it was given.
    struct model *model;
    uint64_t own_bytes; // Of the weights of its graph that are not those of the base.
};

struct fine_tunes {
    const struct model *base;
    uint64_t base_bytes; // Of the weights of its graph.
    struct fine_tune items[FINE_TUNES_MAX];
    size_t count;
};

// Opens those of the options on the setup's model, which was opened by `model`, with weights.
// Nothing is opened where the options name none. TAPML_INVALID for too many, or where the model is
// divided. The caller closes them before the setup, also after a failure, which destroys the places
// of the setup.
tapml_status fine_tunes_open(struct setup *setup,
                             const struct options *options,
                             const struct model_options *model,
                             struct fine_tunes *out_fine_tunes) STATUS_USED;
void fine_tunes_close(struct setup *setup, struct fine_tunes *fine_tunes);

// Appends what the weights of the base take, and those of its own of each, in bytes.
void fine_tunes_print(const struct fine_tunes *fine_tunes, struct text *out_text);
