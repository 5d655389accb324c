// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Which setting of a device's knobs is tried next, of one class of an op. First comes what the
// device chooses by itself; then, by the chooser:
//
// - random: any that was not tried.
// - predictor: half of the trials at random, at most TUNER_RANDOM_MOST, then what a predictor
//   (choose/plan_model.h) takes for the fastest, with one trial of ten at random.
// - transferred: the predictor begins with what was measured of other classes or devices, each time
//   as a share of what that device chooses there by itself; their best settings are tried first.
//
// A setting that was wrong is known and says nothing about times. Pure: the same input gives the
// same answer. One thread. TAPML_NO_MEMORY is the one failure.
#pragma once

#include "base/status.h"
#include "device/knobs.h"

// Words of `tune --by`, in this order.
enum tuner_chooser { TUNER_RANDOM, TUNER_PREDICTOR, TUNER_TRANSFERRED };
#define TUNER_CHOOSERS "random predictor transferred"

enum { TUNER_RANDOM_MOST = 12, TUNER_SEEDS = 4, TUNER_OTHERS_MAX = 256 };

// A setting that was tried.
struct tuner_trial {
    uint32_t number; // Of the combination.
    double ratio;    // Its time over that of what the device chooses by itself; NaN: it is wrong.
};

struct tuner_input {
    const struct knob_space *space;
    enum tuner_chooser chooser;
    const struct tuner_trial *trials; // Of this class, in the order in which they were tried,
    size_t count;
    const struct tuner_trial *others; // and of others, those of the most alike class first: as
    size_t other_count;               // combinations of this space. At most TUNER_OTHERS_MAX count.
    size_t budget;                    // Trials that there will be in all.
    uint64_t seed;
};

// The next setting. `*out_has` is 0 where all that are legal were tried, or the budget is spent.
tapml_status
tuner_next(const struct tuner_input *input, uint32_t *out_number, int *out_has) STATUS_USED;

// The fastest trial that is right; NULL where there is none.
const struct tuner_trial *tuner_best(const struct tuner_trial *trials, size_t count);
