// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A store that holds a run of other prompts, another model or another [run] makes room for a new
// one, in the same folder, as before.tapmlrun. Once the new one has its cases, it takes over what
// became of those that both have, and the old one goes. A host may be killed at any moment on the
// way.
//
// One thread. Failures are those of files and stores.
#pragma once

#include "base/status.h"

struct opened_run;
struct text;

// Sets the store of a run aside, after `opened_run_settle` has refused it with the message at hand,
// and opens a new one. Adds what was done to `cause`, as does the next one (commands/look_cause.h).
tapml_status set_aside_store(struct opened_run *run, struct text *cause) STATUS_USED;

// Takes over what a store that was set aside knows, if there is one.
tapml_status set_aside_take_over(struct opened_run *run, struct text *cause) STATUS_USED;
