// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Why a kernel fails a case: the case is tried again in fresh processes, with one thing changed at
// a time. One thread. Failures are those of the stand.
#pragma once

#include "verify/conduct_kind.h"
#include "verify/conduct_stand.h"

struct conduct_question {
    struct conduct_stand *stand;
    const struct conduct_trial *trial; // That has failed.
    const struct verdict *first;       // In the first pass; NULL if it passed there.
    enum conduct_mode mode;            // In which it has failed.
    struct store *store;
    const struct verdict_list *list; // Of the first pass.
};

// Finds the kind, a sentence for it and the verdict of the failure, in `arena`.
tapml_status conduct_cause_find(const struct conduct_question *question,
                                struct arena *arena,
                                enum conduct_kind *out_kind,
                                const char **out_why,
                                struct verdict *out_failure) STATUS_USED;
