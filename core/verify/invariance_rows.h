// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The axes of invariance that change how many rows a call has (verify/invariance_axis.h).
//
// One thread. Failures are those of the examiner, and TAPML_NO_MEMORY.
#pragma once

#include "verify/invariance_trial.h"

enum {
    INVARIANCE_DISTINCT = 8,      // Rows of a case that are tried alone.
    INVARIANCE_CHUNK_ROWS = 128,  // Rows of a case that are divided at most.
    INVARIANCE_DRAFTED_LEAST = 2, // Tokens that are verified at once.
    INVARIANCE_DRAFTED_MOST = 16
};

// The sizes of calls that prompts are divided into, ended by 0.
extern const int64_t invariance_rows_chunks[];

// Each of the first rows of a kept case of an op without states alone, then as many as there are
// sizes (2 .. 65) together, each of them several times: a row has the bits that it has alone.
tapml_status invariance_rows_try(struct invariance_trial *trial,
                                 const struct carved_case *item) STATUS_USED;

// A kept case of an op with states whole, and divided into calls of 1, 5 and 64 tokens, one behind
// the other. A state that goes as a whole from token to token is what the call before has left;
// rows of other states that lie before a call's are those of the case.
tapml_status invariance_rows_try_chunk(struct invariance_trial *trial,
                                       const struct carved_case *item) STATUS_USED;

// The last 2 to 16 tokens of such a case at once, and one at a time, for which the states are what
// they were before the first of them. Where a state goes from token to token: the first ones.
tapml_status invariance_rows_try_verify(struct invariance_trial *trial,
                                        const struct carved_case *item) STATUS_USED;
