// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Verdicts on derived cases (verify/derive.h), which surround one kept case of each op, phase and
// choice of dtypes and attributes. They are not in the store: a recipe and a seed give the same
// case again. Verdicts on them are, and stay as long as all is the same that those of an op depend
// on, their basis. Their limits are their own and no rows, so errors are not kept either.
#pragma once

#include "verify/divider.h"
#include "verify/verdict.h"

// Adds the verdicts on all derived cases to `io_list`, which has none yet and owns what is added;
// with `options->takes_op` those of some ops. Those of an op that `options->known` has with the
// same basis are taken over. Failures are as of `kept_cases_judge`. All is borrowed and belongs to
// the calling thread.
tapml_status derived_cases_judge(const struct verdict_options *options,
                                 struct examiner *examiner,
                                 struct divider *divider,
                                 struct verdict_list *io_list) STATUS_USED;
