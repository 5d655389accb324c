// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Limits of a store that has some of the cases of another one. A limit is that of the first case of
// its class (verify/calibrator.h); which one that is must not depend on who has it, or the same
// error would be judged in two ways.
//
// One thread for both stores. Failures are those of the stores, of a device that went away, and
// TAPML_NO_MEMORY.
#pragma once

#include "verify/verdict.h"

// Measures the limits of each class of which `options->store` has a case and no limits, on the
// first case that `whole` has of the class, in the order of `stored_case_ids`. Limits are those of
// `options->backend`, as examiner_create would have them. Told of each class is
// `options->progress`.
tapml_status first_limits_settle(const struct verdict_options *options,
                                 struct store *whole) STATUS_USED;
