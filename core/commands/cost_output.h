// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The answer of `tapml-host cost` in words: how many places to take, what a run takes and costs
// then, where keeping them pays, and what would turn the choice. As text and as JSON.
//
// Pure; any thread.
#pragma once

#include "base/text.h"
#include "choose/case_price.h"
#include "choose/pool_cost.h"

struct cost_answer {
    const char *target;
    struct case_price price;
    struct pool_input input;
    struct pool_cost cost;
    int has_rate;                  // Else time alone counts.
    struct rate rates[POOL_KINDS]; // With one currency.
    int is_start_given;            // By an option, not measured.
};

// Appends the choice in a sentence or two; with `explains` also what is predicted, each number of
// members, where both kinds cost the same and what would turn the choice.
void cost_output_text(const struct cost_answer *answer, int explains, struct text *out);

// Appends all of it as an object, with a line feed behind it.
void cost_output_json(const struct cost_answer *answer, struct text *out);
