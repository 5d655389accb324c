// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// `tapml-host rank --over model|encoding|plan`: which contender is best on a text (run/trials.h).
#pragma once

#include "choose/budget.h"
#include "choose/race.h"
#include "commands/command.h"
#include "run/contender_list.h"

// What is asked. Borrowed.
struct rank_contenders {
    const struct command *command;
    const struct options *options;
    enum contender_over over;
    enum race_method method;
    struct case_budget budget;
};

// Ranks and prints. TAPML_INVALID for options that do not go together.
tapml_status rank_contenders_run(const struct rank_contenders *asked) STATUS_USED;
