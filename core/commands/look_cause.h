// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What was other at a look of `tapml-host watch` than at the one before, for people: which files
// have changed, and what became of a target. Nothing is decided by it: results say themselves what
// they depend on.
//
// One thread. Failures are TAPML_NO_MEMORY and those of the store.
#pragma once

#include "base/text.h"
#include "watch/watched_files.h"

struct registry;
struct run_config;
struct store;
struct target_row;

// Metadata that list the files of the last look (watch/watched_files.h), and what looks have found
// that were killed before they could write it.
#define LOOK_CAUSE_FILES "watch.files"
#define LOOK_CAUSE_KEPT  "watch.cause"

// Adds a sentence to a cause.
void look_cause_add(struct text *cause, const char *sentence);

// Lists the files that verdicts depend on, as they are before they are read: what changes later is
// of the next look. The second is for the model, whose place is known later.
tapml_status look_cause_list(const struct run_config *config,
                             const struct registry *registry,
                             struct watched_files *files) STATUS_USED;
tapml_status look_cause_list_model(const char *model, struct watched_files *files) STATUS_USED;

// Adds which of them are others than at the last look that the store knows.
tapml_status look_cause_compare(struct store *store,
                                const struct watched_files *files,
                                struct text *cause) STATUS_USED;

// Keeps a sentence, in a transaction of its own, for the look that follows if this one is killed:
// what it says is found once, unlike what has become of files. LOOK_CAUSE_KEPT is set to "" by the
// look that writes its row.
tapml_status look_cause_keep(struct store *store, const char *sentence) STATUS_USED;

// Keeps what a cause says, and adds to it what was kept before.
tapml_status look_cause_resume(struct store *store, struct text *cause) STATUS_USED;

// Adds what became of a target between two starts, beside its files.
void look_cause_target(const struct target_row *before,
                       const struct target_row *now,
                       struct text *cause);
