// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Whether the source is what it was when its cases were carved: what targets are held against came
// from it.
#pragma once

#include "base/status.h"

struct setup;
struct store;

// Of each op that the model has the store knows by what code the source computed it (fact
// "source.code.OP"). The cases of ops whose code is another one now are run on the source, once: if
// it gives their very bits they stay, else all prompts, calls and cases are deleted with a warning,
// so that the next carving carves them again.
tapml_status source_check_run(struct store *store, const struct setup *setup) STATUS_USED;
