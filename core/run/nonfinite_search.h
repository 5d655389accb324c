// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Runs a prompt again to see where a NaN or an infinity first arises (run/nonfinite).
#pragma once

#include "exec/session.h"
#include "run/nonfinite.h"

struct nonfinite_run {
    const struct session_options *session; // What the run was made with; places are open.
    const int32_t *ids;                    // The prompt.
    int64_t count, decode;                 // Its length, and greedy steps behind it.
    const struct prompt_givens *given;     // What it has beside its ids; or NULL.
};

// Writes whether there is one, with its sentence. The graph of the finding is that of the model. A
// run that fails behind the finding, as one must that has to choose by a NaN, is no failure; others
// are those of the session.
tapml_status nonfinite_search(const struct nonfinite_run *run,
                              struct nonfinite *out_nonfinite) STATUS_USED;

// The same for a run that has failed with `status`, which is returned: a finding is appended to the
// message. A run that succeeded, or that was interrupted, is not made again.
tapml_status nonfinite_search_explain(tapml_status status,
                                      const struct nonfinite_run *run) STATUS_USED;
