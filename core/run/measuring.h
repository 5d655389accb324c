// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the ops of a model cost under the plan that the offload has come to: the last job of a
// target.
//
// One thread.
#pragma once

#include "run/run_judge.h"

// Runs the first prompt of `judge` on its source and `place`, a target, under the plan `text`, with
// every call counted and timed, and writes the times and the end of the offload in one transaction.
// It is repeated once if it fails, since the plan was judged right; then its failure is returned.
tapml_status
measuring_run(const struct run_judge *judge, struct place *place, const char *text) STATUS_USED;
