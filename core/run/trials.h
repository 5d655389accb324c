// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Which of several contenders (run/contender.h) is best on a text, by as few of its chunks as the
// question needs: arms of a contest (choose/contest.h) that all take the chunks in one order, each
// beginning of which is spread over the text.
//
// What a chunk gave is a row of a store (store/trial.h), under a key of all that it depends on: the
// same question runs nothing, and one over more contenders or more text runs what is new.
//
// What cannot be tried is left out, with a sentence. One thread. Failures are those of the store,
// of a device that went away, and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"
#include "choose/contest.h"
#include "run/contender.h"
#include "run/running_mean.h"

struct arena;
struct store;

// All is borrowed.
struct trials_options {
    struct contender_options contender;
    const struct contender *items;
    size_t count;
    struct store *store;
    struct contender_session **kept; // What is open between calls, closed by the caller; or NULL.
    int is_per_byte; // Perplexities are compared by the byte: tokens of models may differ.
    enum race_method method;
    struct case_budget budget; // Chunks of all contenders together; seconds are those of the clock.
    int explains;              // Logs what the race is, and what it is predicted to cost.

    // Called after each chunk, with those that were taken and those that the budget allows; a
    // status that is not TAPML_OK ends it.
    tapml_status (*progress)(void *user, size_t done, size_t all);
    void *user;
};

struct trials_arm {
    const struct contender *contender;
    const struct race_arm *race;
    struct contender_look look;
    struct running_mean value, beside; // Of the chunks that were taken, as in contender_trial.
    const char *failed;                // Why it could not go on; NULL: it could.

    // Its values less those of the first arm, of chunks that both have taken; nothing where chunks
    // of two arms are not the same text (`is_per_byte`). As each chunk is as hard for both, this is
    // better known than either mean.
    struct running_mean behind;
};

struct trials_left_out {
    const struct contender *contender;
    const char *why; // A sentence.
    uint64_t bytes;  // That it takes where that is why; else 0.
};

struct trials_result {
    struct contest contest; // Of values without their sign: the smallest is the best.
    struct trials_arm *arms;
    struct trials_left_out *left_out;
    size_t left_out_count;
    int64_t context; // Tokens of a chunk.
    size_t openings; // Contenders that were opened to run, and the time that this took.
    double openings_s;
};

// Ranks. The result is in `arena`. TAPML_UNAVAILABLE, with the first reason, if nothing can be
// tried.
tapml_status trials_make(const struct trials_options *options,
                         struct arena *arena,
                         struct trials_result *out_trials) STATUS_USED;

// The mean of an arm in the units of the race, and two standard errors of it: nats, nats per byte,
// or nanoseconds. NaN where nothing is known.
double trials_value(const struct trials_arm *arm);
double trials_spread(const struct trials_result *trials, const struct trials_arm *arm);

// Whether an arm and the first one are told apart by what is known: the mean of `behind` is larger
// than two standard errors of it.
int trials_is_behind(const struct trials_arm *arm);
