// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exec/session.h"
#include "model/checkpoint.h"
#include "reading.h"
#include "run/setup.h"

// What the programs share that measure a model: its session, its weights, and what the machine can
// do, measured in the same run by the same threads.

// Rounds that a machine's figure and the host's take turns for.
enum { MEASURE_ROUNDS_MAX = 64 };

struct measure {
    struct options options;
    struct setup setup;
    struct session *session;
    const struct checkpoint *checkpoint; // The model's.
    struct reading *reading;             // What memory gives.
    uint64_t read_bytes;                 // Of a reading.
    uint64_t weight_bytes;               // Of all weights that a token reads.
    uint64_t state_bytes;                // That each position of the context adds to them.
    int64_t context, rounds;
};

// --model, --backend, --weights, --threads, --context, --rounds, --short, --json.
extern const struct options_spec measure_specs[];

// The host of the build that a program of this folder, started as `own`, belongs to.
void measure_program(const char *own, char *out_program, size_t size);

// Reads the options and looks for plugins.
tapml_status measure_begin(int argc, char **argv, struct measure *measure) STATUS_USED;

// The same, and opens model and backend with a session of `context` + `more` tokens, in calls of at
// most `chunk`.
tapml_status measure_open(int argc, char **argv, int64_t more, struct measure *measure) STATUS_USED;

// Runs `count` tokens, the logits of the last one wanted, and waits for them.
tapml_status measure_step(struct measure *measure, int64_t count) STATUS_USED;

// The middle one of `count` values, which are sorted.
double measure_median(double *values, size_t count);

// Prints a line "name  value unit", or a member of the JSON object that measure_end ends.
void measure_print(const struct measure *measure, const char *name, double value, const char *unit);

// The exit status, after telling an error.
int measure_end(struct measure *measure, tapml_status status);
