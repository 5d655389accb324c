// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Verdicts of a target: on every kept case of a store, and on the cases derived from some of them.
#pragma once

#include "verify/verdict.h"

// Judges what `options` ask for, which are borrowed: see verify/kept_cases.h and
// verify/derived_cases.h. The caller releases the list. On failure there is none, and the store has
// what was judged until then.
tapml_status verdicts_make(const struct verdict_options *options,
                           struct verdict_list *out_list) STATUS_USED;
