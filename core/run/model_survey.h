// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What this host makes of a published model, found by building its graph at full size without
// weights: whether it opens, how many parameters it has, and the bytes of its weights in each form.
#pragma once

#include "base/status.h"
#include "model/published.h"
#include "plugin/registry.h"

struct arena;

// The forms that weights are measured in, the most precise first.
enum model_survey_form {
    MODEL_SURVEY_BF16,
    MODEL_SURVEY_Q8_0,
    MODEL_SURVEY_Q4_0,
    MODEL_SURVEY_FORMS
};

enum model_survey_state {
    MODEL_SURVEY_OPENS,
    MODEL_SURVEY_REFUSED,  // An architecture knows the type and refuses the configuration.
    MODEL_SURVEY_NO_PLUGIN // No architecture knows the type.
};

struct model_survey {
    enum model_survey_state state;
    const char *sentence;     // Why it does not open; "" if it does.
    const char *architecture; // Component id; NULL if no graph could be built.
    uint64_t parameters;      // All values of all weights; 0: unknown, as are the bytes.
    uint64_t bytes[MODEL_SURVEY_FORMS];
};

// "bf16", "q8_0", "q4_0".
const char *model_survey_form_name(enum model_survey_form form);

// Opens `model` without weights. If it is refused for keys that could be passed over, the sizes are
// those of the graph without these keys. Fails only if memory is exhausted. `arena` owns the
// sentence.
tapml_status model_survey_make(struct registry *registry,
                               const struct published_model *model,
                               struct arena *arena,
                               struct model_survey *out_survey) STATUS_USED;

// The most precise form whose weights take at most `bytes`; MODEL_SURVEY_FORMS if none does, or the
// sizes are unknown.
enum model_survey_form model_survey_fits(const struct model_survey *survey, uint64_t bytes);
