// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// `tune --keys`: values of those keys of a run's file that change its time alone
// (run/host_knobs.h), each tried by whole runs in a folder of their own, which goes afterwards. A
// combination counts if its report is that of the file as it is, but for times and costs.
//
// One thread. Failures name the file or the folder; what is interrupted goes on with the next
// start.
#pragma once

#include "commands/command.h"
#include "config/run_config.h"
#include "run/host_knobs.h"
#include "run/tuning_trials.h"

struct keys_tuning_options {
    const struct command *command;
    const struct run_config *config;
    enum tuner_chooser chooser;
    size_t trials;
    uint64_t seed;

    // As that of struct tuning_options.
    tapml_status (*progress)(
        void *user, size_t done, size_t all, const char *what, const char *outcome);
    void *user;
};

struct keys_tuning {
    struct host_knobs knobs;
    struct tuning_result result;
};

// Tries values. What is found is in `arena`. TAPML_PRECONDITION if the file as it is does not run.
tapml_status keys_tuning_run(const struct keys_tuning_options *options,
                             struct arena *arena,
                             struct keys_tuning *out_tuning) STATUS_USED;

// Writes the run's file as `path` with the values that have won, which there are.
tapml_status keys_tuning_write(const struct run_config *config,
                               const struct keys_tuning *tuning,
                               const char *path) STATUS_USED;
