// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The axis of invariance that divides a call: what a model over several devices relies on
// (docs/sharding.md).
//
// One thread. Failures are those of the examiner, and TAPML_NO_MEMORY.
#pragma once

#include "verify/invariance_trial.h"

// A kept case whole, and in two parts by each rule of its op's schema (schema/split): the parts,
// put together or added up, are the whole. What cuts has the bits of the whole call, or is within
// limits; a sum is within limits at best. Where the reference itself computes something else in
// parts, the rule is wrong.
tapml_status invariance_parts_try(struct invariance_trial *trial,
                                  const struct carved_case *item) STATUS_USED;
