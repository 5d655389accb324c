// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The errors of what a target has computed for a case, with the limits that they are held against.
//
// One thread, that of the calibrator. Failures are its own and TAPML_NO_MEMORY.
#pragma once

#include "verify/compare.h"
#include "verify/replay.h"
#include "verify/verdict.h"

struct arena;
struct calibrator;
struct carved_case;

// A case on its way to a verdict. The caller sets the item and what it knows of it.
struct examination {
    const struct carved_case *item;
    const struct compiled_op *schema; // Of its op; NULL where no plugin that was opened knows it.
    int is_timed;
    int is_derived; // `limits` are its own, and there already.
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    int is_computed; // By the target: what is run now is what it should have computed.
    struct replay_result result;

    // Where a result is judged as declared: the outputs that are right in f32, and what the
    // declaration costs against them (`struct verdict`).
    const void *right[REPLAY_OUTPUTS_MAX];
    double cost;
};

// Both are borrowed. Of the options count store and activation.
struct output_measure {
    const struct verdict_options *options;
    struct calibrator *calibrator;
};

// The argument of a name; NULL where there is none.
const struct case_argument *output_measure_argument(const struct carved_case *item,
                                                    const char *param);

// Measures all outputs of the result in `examination`, `errors` having room for one each, and puts
// their limits there. What is expected becomes what the target should have made of it, as it
// declares and rounds. A case beyond the limit of its class is calibrated itself before that is
// held against it. Texts are put into `arena`.
tapml_status output_measure_all(const struct output_measure *measure,
                                struct examination *examination,
                                struct arena *arena,
                                struct output_error *errors) STATUS_USED;
