// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The errors of what a target has computed for a case, with the limits that they are held against.
//
// One thread, that of the calibrator. Failures are its own and TAPML_NO_MEMORY.
#pragma once

#include "verify/examiner.h"

struct calibrator;

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
