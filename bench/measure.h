// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exec/session.h"
#include "model/checkpoint.h"
#include "run/setup.h"

// What the programs share that measure a model: its session, its weights, and what the machine can
// do, measured in the same run by the same threads.

// Rounds that a machine's figure and the host's take turns for.
enum { MEASURE_ROUNDS_MAX = 64 };

struct measure {
    struct options options;
    struct setup setup;
    struct session *session;
    struct checkpoint *checkpoint;
    unsigned char *buffer; // Read to measure the bandwidth.
    uint64_t weight_bytes; // Of all weights that a token reads.
    uint64_t state_bytes;  // That each position of the context adds to them.
    int64_t context, rounds;
};

// --model, --backend, --weights, --threads, --context, --rounds, --json.
extern const struct options_spec measure_specs[];

// Reads the options and looks for plugins.
tapml_status measure_begin(int argc, char **argv, struct measure *measure) STATUS_USED;

// The same, and opens model and backend with a session of `context` + `more` tokens, in calls of at
// most `chunk`.
tapml_status measure_open(int argc, char **argv, int64_t more, struct measure *measure) STATUS_USED;

// Runs `count` tokens, the logits of the last one wanted, and waits for them.
tapml_status measure_step(struct measure *measure, int64_t count) STATUS_USED;

// What it takes the threads of the pool to read `MEASURE_READ_BYTES` from memory.
enum { MEASURE_READ_BYTES = 256 << 20 };
struct moment measure_read(struct measure *measure);

// The middle one of `count` values, which are sorted.
double measure_median(double *values, size_t count);

// Seconds since some moment: of the clock, and of the processor for all threads of this process. On
// a loaded machine the second says more, with one thread above all.
struct moment {
    double wall, processor;
};

struct moment measure_now(void);
struct moment measure_since(struct moment begin);

// Prints a line "name  value unit", or a member of the JSON object that measure_end ends.
void measure_print(const struct measure *measure, const char *name, double value, const char *unit);

// The exit status, after telling an error.
int measure_end(struct measure *measure, tapml_status status);
