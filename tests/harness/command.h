// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Runs a command of tapml-host in this process and keeps what it printed.
#pragma once

#include "commands/command.h"

struct printed {
    enum outcome outcome;
    char *out; // Both ended by a zero byte; freed by printed_release.
    char *err;
};

// `words` is ended by NULL. The program is the build's tapml-host, so that plugins are found.
struct printed printed_run(enum outcome (*run)(const struct command *), char **words);
void printed_release(struct printed *printed);

// The command ended with `outcome` and printed `piece` on one of the two; releases `printed`.
void printed_expect(struct printed printed, enum outcome outcome, const char *piece);

#define PRINTED(run_, ...) printed_run(run_, (char *[]){__VA_ARGS__, NULL})
