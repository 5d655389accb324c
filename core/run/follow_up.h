// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the commands that a run prints (to replay a bundle, to go on with its plan) need beside
// their own words to find what the run has found: its plugins and the options of their components.
// Words are quoted for a shell, and paths are whole, so that the folder of the shell does not
// matter.
//
// One thread; a text says whether memory was there.
#pragma once

#include "base/text.h"

struct ini;
struct place_settings;
struct setup;

// Whether what happens on a target depends on more of the run's file than its backend: injected
// faults, observers, another machine, which plugins are loaded, options of components. Then a
// command has to be given --config and --target instead of --backend.
int follow_up_needs_config(const struct ini *ini, const struct place_settings *target);

// Appends what the command line of the run says of plugins: " --safe", " --plugin FILE". A command
// that is given the run's file needs no more.
void follow_up_print_given(const struct setup *setup, struct text *out);

// The same with what the run's file says, for a command that is not given it: " --plugin FILE" of
// each plugin that is named, " --option COMPONENT.NAME=TEXT".
void follow_up_print(const struct setup *setup, struct text *out);

// Appends a path as one word, from the root on where it is that of a file.
void follow_up_print_path(const char *path, struct text *out);
