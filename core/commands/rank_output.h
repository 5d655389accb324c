// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How `rank` prints a contest, whatever was ranked: its end in a sentence, what it cost, and the
// members of its JSON. One thread.
#pragma once

#include "base/text.h"
#include "choose/contest.h"

// What cases are called, what was done with them, and how often: "cases", "replayed", "replays".
struct rank_words {
    const char *cases, *done, *runs;
};

// How the race came to its end.
enum { RANK_OUTPUT_END = 160 };
void rank_output_end(const struct contest *contest,
                     const struct rank_words *words,
                     char out[RANK_OUTPUT_END]);

// Appends a line with what was predicted and what was spent.
void rank_output_cost(const struct contest *contest,
                      const struct rank_words *words,
                      struct text *out);

// Appends the members that a result begins with, up to those of a caller; and a member that is a
// number, or null where there is none.
void rank_output_json(const struct contest *contest,
                      const struct rank_words *words,
                      struct text *out);
void rank_output_number(const char *name, double value, struct text *out);
