// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Whether targets can run what they are wanted to through their rings (exec/ring), before a case is
// carved: what has no room is known from sizes alone.
#pragma once

#include "config/run_config.h"
#include "run/setup.h"

// Compiles a prompt's and a token's call of the model for each of `targets` that has a ring and was
// not lost, with the source at `setup`'s first place. Nothing is run or uploaded. One thread.
// Failures are those of `ring_pass` with the key of the run's file, and TAPML_NO_MEMORY.
tapml_status ring_check_run(const struct run_config *config,
                            struct setup *setup,
                            struct place *const *targets,
                            size_t target_count) STATUS_USED;
