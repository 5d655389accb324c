// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What several processes of the source carve (`[source] workers`): each has some of the prompts and
// a store of its own, in a folder of its own below that of the run, and keeps each call that may be
// worth keeping (carve/seen). The stores become that of the run here, with the cases that one
// process would have kept: calls are looked at once more, in the order of the prompts.
//
// A share depends on the prompts alone: a process that is started again has the prompts that it had
// and goes on with them.
//
// One thread for all stores. Failures are those of the stores and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"
#include "model/prompts.h"

#include <stdint.h>

struct arena;
struct store;

// Whose share each prompt is, below `count`, in `arena`: much the same number of tokens for each,
// of which a prompt decodes `decode`. Equal prompts are of one share.
tapml_status source_shares_split(const struct prompts *prompts,
                                 int64_t decode,
                                 uint32_t count,
                                 struct arena *arena,
                                 uint32_t **out_shares) STATUS_USED;

// The folder "source-I-of-N" below `folder`, of the share `index`, from 0. NULL: no memory.
const char *
source_shares_folder(const char *folder, uint32_t index, uint32_t count, struct arena *arena);

struct source_shares_counts {
    int64_t prompts, calls, cases;
    int64_t candidates; // Calls that a process has kept.
};

// Takes what the folders of shares below `folder` have, of prompts that were carved to their end,
// and removes these folders; none is fine. With `keep_all` all cases come over. What is no store,
// or a damaged one, is left out with a warning. After a failure the folders stay:
// TAPML_PRECONDITION if one is of another run.
tapml_status source_shares_take(const char *folder,
                                struct store *store,
                                int keep_all,
                                struct source_shares_counts *out_counts) STATUS_USED;
