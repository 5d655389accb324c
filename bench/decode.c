// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How near is decoding to what memory allows? Each round reads a buffer with the same threads, then
// decodes some tokens; the figure is the bytes that a token reads, weights and state, over both
// times.
#include "measure.h"

enum { TOKENS = 4 };

struct figures {
    double walls[MEASURE_ROUNDS_MAX], processors[MEASURE_ROUNDS_MAX]; // Both ratios.
    double rates[MEASURE_ROUNDS_MAX], bandwidths[MEASURE_ROUNDS_MAX];
};

static tapml_status run_round(struct measure *measure, size_t round, struct figures *figures)
{
    const struct moment before = measure_read(measure), begin = measure_now();

    for (int token = 0; token < TOKENS; token++) {
        TAPML_TRY(measure_step(measure, 1));
    }
    const struct moment ours = measure_since(begin), after = measure_read(measure);
    const double bytes = (double)measure->weight_bytes +
                         (double)measure->state_bytes * (double)session_position(measure->session);
    const double reads = TOKENS * bytes / MEASURE_READ_BYTES / 2; // Of both readings.

    figures->rates[round] = TOKENS / ours.wall;
    figures->bandwidths[round] = 2.0 * MEASURE_READ_BYTES / (before.wall + after.wall);
    figures->walls[round] = reads * (before.wall + after.wall) / ours.wall;
    figures->processors[round] = reads * (before.processor + after.processor) / ours.processor;
    return TAPML_OK;
}

static tapml_status run(struct measure *measure)
{
    const size_t count = (size_t)measure->rounds;
    struct figures figures;

    TAPML_TRY(measure_step(measure, measure->context));
    TAPML_TRY(measure_step(measure, 1));
    for (size_t round = 0; round < count; round++) {
        TAPML_TRY(run_round(measure, round, &figures));
    }
    measure_print(measure, "weights read by a token", (double)measure->weight_bytes / 1e6, "MB");
    measure_print(measure, "read bandwidth", measure_median(figures.bandwidths, count) / 1e9,
                  "GB/s");
    measure_print(measure, "decode", measure_median(figures.rates, count), "tokens/s");
    measure_print(measure, "decode / read bandwidth", measure_median(figures.walls, count), "");
    measure_print(measure, "decode / read bandwidth, processor time",
                  measure_median(figures.processors, count), "");
    return TAPML_OK;
}

int main(int argc, char **argv)
{
    struct measure measure;
    tapml_status status = measure_open(argc, argv, 1 + TOKENS * MEASURE_ROUNDS_MAX, &measure);

    if (status == TAPML_OK) {
        status = run(&measure);
    }
    return measure_end(&measure, status);
}
