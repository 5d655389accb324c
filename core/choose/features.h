// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a case is like, in numbers: made of the case itself, without its op's schema, so that a case
// of any op, and one from somebody else, has them. docs/store.md says what each column is.
//
// Any thread; nothing is kept.
#pragma once

#include "store/case.h"
#include "store/feature.h"

struct arena;

// Measures a case whose contents were checked (case_check_argument). Weights count by their sizes
// alone. The signature is put into `arena`. TAPML_NO_MEMORY is the one failure.
tapml_status features_measure(const struct carved_case *item,
                              struct arena *arena,
                              struct feature_row *out_row) STATUS_USED;
