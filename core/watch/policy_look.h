// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The trigger `policy`: a policy of a plugin (plugin/policy.h) is told what a look has found and
// what is other than when all verdicts were fresh last, and says whether cases run.
//
// What was then is metadata of the store, `watch.fresh.*`, which change only together with the end
// of a look that leaves nothing stale. So a look that is killed, and one whose policy says no, lose
// no change.
//
// A store belongs to one thread. Failures are those of the store and of the policy, and
// TAPML_NO_MEMORY.
#pragma once

#include "watch/trigger.h"
#include "watch/watched_files.h"

struct arena;
struct policy;
struct store;

// Asks about the targets of the run, as the store has them now, and the files of now. `io_facts`
// gets the answer, with a text in `arena`.
tapml_status policy_look_ask(struct policy *policy,
                             struct store *store,
                             const struct watched_files *files,
                             struct arena *arena,
                             struct trigger_facts *io_facts) STATUS_USED;

// Notes that all verdicts are fresh with the targets and files of now, in the transaction at hand.
tapml_status policy_look_keep(struct store *store, const struct watched_files *files) STATUS_USED;
