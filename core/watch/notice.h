// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Telling the user that verdicts have turned: `on-change` of [watch], a command of /bin/sh that
// gets the facts in environment variables (docs/environment.md).
//
// Each look that nobody was told of is told by itself, the oldest first, until the command ends
// with 0 or was tried LOOK_TRIES times: a host that is killed on the way tells again at the next
// start, so the command may run twice for one look, and never not at all. One thread.
#pragma once

#include "base/status.h"

struct store;

struct notice_options {
    struct store *store;
    const char *command; // NULL: nobody is to be told, and looks count as told.
    const char *dir;     // Of the run,
    const char *config;  // its INI file,
    const char *page;    // and the page.
};

enum { NOTICE_SECONDS = 60 }; // For which the command may run.

// Failures are those of the store and TAPML_NO_MEMORY; a command that fails is logged.
tapml_status notice_give(const struct notice_options *options) STATUS_USED;

// "2 verdicts are worse, 1 is better, first silu on gpu at layers.0/mlp/silu: pass, now fail".
struct look_row;
struct text;
struct turned_row;
void notice_print(const struct look_row *look, const struct turned_row *first, struct text *out);
