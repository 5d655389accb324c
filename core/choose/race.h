// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Which of several arms has the largest mean, from as few of their cases as possible. An arm is a
// group of cases, an operator's or a target's, each of which gives a value once it has run: 1 for a
// failure, a margin, a time. A race says round by round how many cases of each arm are to be known,
// and the caller runs them.
//
// - exhaustive: all cases, an eighth of each arm a round.
// - uniform: as many of each arm as the budget allows, a quarter of them a round.
// - halving: every round has the same share of the budget, and only the better half of the arms
//   goes on (sequential halving: Karnin, Koren and Somekh, Almost Optimal Exploration in
//   Multi-Armed Bandits, 2013).
//
// Each ends early where no value of the cases that are left can change which arm is first. What a
// race does follows from values and budget alone, so that the same race asks for the same cases.
// Plain data, one thread; the caller owns it all.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Words of `rank --method`, in this order.
enum race_method { RACE_AUTO, RACE_EXHAUSTIVE, RACE_UNIFORM, RACE_HALVING };
#define RACE_METHODS "auto exhaustive uniform halving"

// Arms above which halving finds the first one more often than uniform does; of so few both find it
// as often (bench/race).
enum { RACE_UNIFORM_MOST = 4 };

struct race_arm {
    size_t count; // Cases, in the order in which they are taken.

    // The module's.
    size_t taken;        // Of them, so far,
    size_t judged;       // those that gave a value,
    double sum, squares; // and the values.
    size_t goal;         // Cases that are to be taken by the end of the round at hand.
    size_t last_round;   // After which halving left it out; 0: it is in.
};

struct race {
    enum race_method method; // RACE_AUTO is replaced by what it comes to.
    struct race_arm *arms;
    size_t arm_count;
    size_t budget;      // Cases of all arms together; 0: all of them.
    size_t rounds_most; // Of exhaustive and uniform, where a round has a price of its own; or 0.
    double least, most; // That a value can be; INFINITY: no bound is known.
    int is_of_failures; // Each value is 0 or 1.
    int is_sample;      // Cases stand for more than there are: a mean of all of them has a spread.

    // The module's.
    size_t rounds, round; // Rounds at most, and the one at hand, from 1.
    size_t spent;         // Cases taken.
    int is_settled;       // It has ended early.
};

// Begins a race: chooses the method, if it is left to it.
void race_begin(struct race *race);

// Begins the next round by setting the goals of all arms. 0: the race is over. All cases up to the
// goals must have been taken before it is called again.
int race_next(struct race *race);

// Takes the next case of an arm, with its value; NaN if it has none, as where it is unsupported.
void race_take(struct race *race, size_t arm, double value);

// The mean of an arm's values; NaN without any.
double race_value(const struct race_arm *arm);

// Two standard errors of that mean, of a sample without replacement (Cochran, Sampling Techniques,
// 2.5 and 3.2), unless the cases are a sample themselves; of failures with two of each kind added
// (Agresti and Coull, 1998), so that a few cases that are all alike do not look certain. NaN where
// there is nothing to tell it from.
double race_spread(const struct race *race, const struct race_arm *arm);

// Indices of the arms, first the one with the largest mean: those that halving left out stand
// behind those that it did not, the later ones first. Arms without a value are last.
void race_sort(const struct race *race, size_t *out_order);

// "halving"; static.
const char *race_method_name(enum race_method method);
