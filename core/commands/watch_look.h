// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// One look of `tapml-host watch` at a run: opens it as a run is opened, finds which cases have no
// fresh result, lets the triggers decide, replays within the budget, worst risk first, and notes
// which verdicts have turned, in the store, on the page and by the user's command.
//
// What a look knows of the looks before is rows of the store: it may be killed at any moment, and
// the next one goes on. Each case that it replays is a transaction; that a verdict has turned is
// written together with what was known of it. A store that holds a run of other prompts, another
// model or another [run] is set aside as before.tapmlrun; the cases are carved anew, and results of
// cases with the same content come over by their keys.
//
// A process makes one look: plugins stay loaded as they were found.
#pragma once

#include "config/options.h"
#include "run/outcome.h"

struct watch_look_options {
    const char *program; // As of `struct command`.
    const struct options *options;
    const char *config; // The run's INI file.
};

// What [watch] says, changed by the options --budget, --interval and --page. TAPML_INVALID for an
// option that is none.
struct watch_settings;
tapml_status watch_look_settle(const struct options *options,
                               struct watch_settings *io_settings) STATUS_USED;

// Makes a look. OUTCOME_WRONG: a verdict is worse than it was at the last look that told of it.
enum outcome watch_look_run(const struct watch_look_options *options);
