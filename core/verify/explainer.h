// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Which precision explains a wrong result: a kernel that is right but for formats that nobody
// declared. A failure is computed again in each of some forms, by the devices that calibrate; one
// explains it if the result is right by that, and much nearer than before.
//
// A few cases of an op are tried; of one that was explained, later ones by the same form first.
// One thread. Failures are those of the devices that calibrate.
#pragma once

#include "verify/calibrator.h"

struct explainer;

enum { EXPLAINER_TEXT = 64 };

// All is borrowed. The caller owns the explainer; `explainer_destroy` accepts NULL.
tapml_status explainer_create(struct registry *registry,
                              const struct checkpoint *checkpoint,
                              struct backend *target,
                              struct explainer **out_explainer) STATUS_USED;
void explainer_destroy(struct explainer *explainer);

// What a target has computed of a case, and what it was compared with.
struct explainer_question {
    const struct carved_case *item;
    const struct compiled_op *schema;
    const struct replay_output *outputs; // With the values that were expected.
    uint32_t output_count;
};

// Writes "as if activations were f16", or "" where nothing explains it.
tapml_status explainer_ask(struct explainer *explainer,
                           const struct explainer_question *question,
                           char out_text[EXPLAINER_TEXT]) STATUS_USED;

// Op executions so far, on devices that calibrate.
uint64_t explainer_executions(const struct explainer *explainer);
