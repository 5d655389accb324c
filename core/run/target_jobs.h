// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The jobs of one target of a run: to check its driver, to replay the cases, to offload, to measure
// what the ops cost under the final plan, to bundle what is blamed. Each reads rows of the store,
// works, and writes rows in transactions of its own; one that an earlier start has finished is not
// repeated. Nothing outlives a job but the verdicts of the replay, which the offload and the
// bundles begin with. In a run over cases, without a model, what the replay has shown takes the
// place of offload and measuring (offload/alone.h). If the driver is wrong, at the begin, after a
// case has failed or at the end, no op is judged (run/driver_checks.h).
#pragma once

#include "run/run_judge.h"

struct place;
struct store;
struct verdict_list;

// Who hands out cases to a process that replays beside others: run/case_share.h to the members of a
// pool, run/case_rounds.h to targets that keep step. One thread, that of the store.
struct handed_cases {
    // Hands out the next cases that have no result, whose ids are valid until the next call; those
    // of the call before are done. None: nothing is left by now; `*out_waits` says whether
    // something will be, once other processes have done what they have.
    tapml_status (*next)(void *user, const int64_t **out_ids, size_t *out_count, int *out_waits)
        STATUS_USED;

    // Told of the verdicts on what was handed out, before `next` is called again; or NULL.
    tapml_status (*judged)(void *user, const struct verdict_list *verdicts) STATUS_USED;

    // Whether the process judges what is derived for the op that is the `index`th with such cases,
    // once there are no kept ones; NULL: that is none of its work.
    int (*takes_op)(void *user, size_t index);
    void *user; // Borrowed by the functions.
};

// All is borrowed.
struct target_jobs_options {
    struct run_judge *judge; // With setup, configuration, store, prompts and lock of the run.
    struct place *target;    // An open one.
    unsigned *io_bundles;    // FAULT-n.tapmlrun of the run so far; NULL: another host writes them.

    // Of a shard: the store that has all cases. Then the driver is checked, and the kept cases of
    // the judge's store are replayed, by limits of the first cases of `whole`, and nothing more is
    // done; else NULL.
    struct store *whole;

    // For target_jobs_follow: what hands out its cases; NULL: it takes those that it finds.
    const struct handed_cases *handed;
    int is_member; // Of a pool, so that it has some of the cases.
};

// Replays the kept cases that the store has by now, and again what has come since, for a host that
// works beside the one that carves. Between two looks `is_whole` is called, which waits, and ends
// it: once it says that all cases are there, or by its failure. Where [select] chooses of all
// cases, and where the driver is wrong, nothing is replayed. Of `judge` what it is made of is
// there.
//
// Where cases are handed out it replays these, also after all are there, until there is nothing;
// `is_whole` is asked where there is nothing by now. Of a member of a pool TAPML_UNAVAILABLE if it
// is another device than the store says of the target.
tapml_status target_jobs_follow(const struct target_jobs_options *options,
                                tapml_status (*is_whole)(void *user, int *out_is_whole),
                                void *user) STATUS_USED;

// Does all jobs of a target. What is committed stays, whatever ends it. Of a shard
// TAPML_UNAVAILABLE if the driver is wrong: what it has replayed says nothing.
tapml_status target_jobs_run(const struct target_jobs_options *options) STATUS_USED;
