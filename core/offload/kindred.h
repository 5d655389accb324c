// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Instances of the kernel of an op that a derived case has shown to be wrong.
//
// A derived case has values or a shape that the model has not had yet. The instance that it was
// derived from is a carrier by chance: the fault is one of the kernel, and any instance of it that
// can come to such values or such a shape is at risk with another prompt.
#pragma once

#include "offload/trial.h"
#include "verify/derive.h"

// Whether two ops of a graph are calls of one kernel: op, types, encodings, optional arguments, and
// attributes that are 0 are the same. Any thread.
int kindred_shares(const struct graph *graph, uint32_t op, uint32_t other);

// Whether an op can come to what a recipe changes: to values always, to a shape where the symbol
// depends on the tokens or the position of a call, or has this very extent. Any thread.
int kindred_reaches(const struct graph *graph, uint32_t op, const struct derive_recipe *recipe);

// Blames the kindred of each op that is blamed for a derived case alone, where they can reach what
// that case has. Failures are those of `trial_blame`.
tapml_status kindred_blame(struct trial *trial, const struct verdict_list *verdicts) STATUS_USED;
