// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Runs of equal key share one carving ([source] shared): what decides over the cases, model,
// prompts, lengths and source, is the name of a folder below one that all these runs see. It has a
// store with what one of them has carved, and its run lock (run/run_lock.h) says which one carves.
// The others take over what is there by then, again and again, until all prompts are.
//
// A run whose carver has ended carves what is missing itself. What is shared is whole prompts, in a
// file that is replaced and never changed, so that it does not matter where a carver has ended, nor
// on which machine. What is damaged is carved again; what refers to weights with other bytes is
// left out with a warning, and the run shares nothing.
//
// In place of a folder there may be another machine, where `tapml-host serve` serves the folder of
// a run of the same key (run/case_reach.h): what that run carves is taken over What is still
// missing then is carved here, and stays here.
#pragma once

#include "base/status.h"

struct prompts;
struct run_config;
struct run_lock;
struct setup;
struct store;

// Sees to it that `store`, which has the metadata of the run, has all prompts of the run. The
// progress is published in `lock`; NULL is allowed. One thread. Failures are those of carving, and
// TAPML_UNAVAILABLE where the folder cannot be made or written.
tapml_status shared_carving_run(const struct run_config *config,
                                struct setup *setup,
                                struct store *store,
                                const struct prompts *prompts,
                                struct run_lock *lock) STATUS_USED;
