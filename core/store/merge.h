// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Two stores of one run become one: by keys, never by row ids.
//
// Merged are prompts, cases with their contents, calls, results, limits, trials, findings of
// invariance and what places have cost (store/usage.h). The steps of an offload follow from these
// and are those of one store: the next start takes them again where it needs to. What both stores
// have must agree; what does not is reported, the row of the receiving store stays, and so does the
// other store, which is only read.
//
// One thread for both stores.
#pragma once

#include "base/hash.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct store;

// What came over, and how many rows of both stores say different things.
struct merge_counts {
    int64_t prompts, cases, calls, results, trials, disagreements;
};

// Called with a sentence for each disagreement. The text lives until it returns.
typedef void (*merge_report_fn)(void *user, const char *sentence);

// Adds to `into` what `from` has and it lacks, in one transaction; merged a second time nothing
// changes. TAPML_PRECONDITION if the stores are of different runs: another model, weights, source,
// prompts or decode.
tapml_status merge_run(struct store *into,
                       struct store *from,
                       merge_report_fn report,
                       void *user,
                       struct merge_counts *out_counts) STATUS_USED;

// The same of cases with all that they are made of, prompts and calls. What became of them on
// targets, limits and metadata of targets stay behind: the receiving store is one of another run,
// over the same cases.
tapml_status merge_cases(struct store *into,
                         struct store *from,
                         merge_report_fn report,
                         void *user,
                         struct merge_counts *out_counts) STATUS_USED;

// The same of some cases, by their ids in `from`, with their calls, the tensors that they need and
// the limits that are known: the share of one of several processes. Or, with `are_calls`, of all
// prompts that were carved to their end with all their calls, and of the cases of the calls of
// these ids: what one of several processes of the source has carved. The other calls are not kept.
struct merge_ids {
    const int64_t *items;
    size_t count;
    int are_calls;

    const struct hash *prompts; // Of these alone, with `are_calls`; NULL: of all.
    size_t prompt_count;
};
tapml_status merge_share(struct store *into,
                         struct store *from,
                         const struct merge_ids *ids,
                         merge_report_fn report,
                         void *user,
                         struct merge_counts *out_counts) STATUS_USED;

// What became on targets of cases that `into` has too, by their content keys alone, whatever run
// and prompt they are of: for a store that takes the place of `from` since the prompts or the model
// have changed. With the results come their limits, what the targets were, and what `tapml-host
// watch` has noted (store/look.h, store/watched.h, store/turned.h), trials, and findings of
// invariance (store/invariant.h). Of the counts `results` alone is set.
tapml_status
merge_results(struct store *into, struct store *from, struct merge_counts *out_counts) STATUS_USED;

// Removes what the run `id` (table `run`) has written: its prompts with their calls and cases, its
// cases, its results and trials, what it has cost, findings of invariance of targets that it has
// results of, and tensors that nothing refers to any more. TAPML_NOT_FOUND if the store has no such
// run.
tapml_status
merge_remove(struct store *store, const char *id, struct merge_counts *out_counts) STATUS_USED;
