// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The kept cases of a store against a target: those without a fresh result are replayed.
#pragma once

#include "verify/divider.h"
#include "verify/verdict.h"

// Judges all kept cases of the store of `options`, those that they choose, or those that they
// name, and adds a verdict for each to `io_list`, which has none yet and owns what is added; it is
// in the order of the store at the end. Results are written to the store, some cases a transaction.
// Results that are there and fresh (store/result.h) are not computed again. Unless all are to be
// computed again (`fresh`), what results depend on is noted (store/maker.h) and stale ones are
// deleted first, with a line of log for each op. At the end every verdict is that of the limits
// that all cases have led to.
//
// A failure of the backend is the verdict of its case; a lost device ends it all, with what is
// known written. All is borrowed and belongs to the calling thread.
tapml_status kept_cases_judge(const struct verdict_options *options,
                              struct examiner *examiner,
                              struct divider *divider,
                              struct verdict_list *io_list) STATUS_USED;
