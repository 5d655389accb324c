// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How near is decoding to what memory allows? Each round reads buffers with the same threads, in
// the fastest of several ways, before and after it decodes some tokens; the figure is the bytes
// that a token reads, weights and state, over both times. No model in memory reads faster than that
// limit.
#include "measure.h"

#include <math.h>
#include <stdio.h>

enum { TOKENS = 4 };

struct figures {
    double walls[MEASURE_ROUNDS_MAX], processors[MEASURE_ROUNDS_MAX]; // Both ratios.
    double rates[MEASURE_ROUNDS_MAX], bandwidths[MEASURE_ROUNDS_MAX];
    double processor_rates[MEASURE_ROUNDS_MAX]; // Tokens in a second of the processor.
};

static tapml_status run_round(struct measure *measure, size_t round, struct figures *figures)
{
    const struct moment before = reading_run(measure->reading), begin = reading_now();

    for (int token = 0; token < TOKENS; token++) {
        TAPML_TRY(measure_step(measure, 1));
    }
    const struct moment ours = reading_since(begin), after = reading_run(measure->reading);
    const double bytes = (double)measure->weight_bytes +
                         (double)measure->state_bytes * (double)session_position(measure->session);
    const double reads = TOKENS * bytes / (double)measure->read_bytes;
    const struct moment limit = {fmin(before.wall, after.wall),
                                 fmin(before.processor, after.processor)};

    figures->rates[round] = TOKENS / ours.wall;
    figures->processor_rates[round] = TOKENS / ours.processor;
    figures->bandwidths[round] = (double)measure->read_bytes / limit.wall;
    figures->walls[round] = reads * limit.wall / ours.wall;
    figures->processors[round] = reads * limit.processor / ours.processor;
    return TAPML_OK;
}

static void print_ways(const struct measure *measure)
{
    for (uint32_t i = 0; reading_way(i) != NULL; i++) {
        char name[64];

        (void)snprintf(name, sizeof(name), "reading, %s", reading_way(i));
        measure_print(measure, name,
                      (double)measure->read_bytes / reading_least(measure->reading, i) / 1e9,
                      "GB/s");
    }
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
    print_ways(measure);
    measure_print(measure, "read bandwidth", measure_median(figures.bandwidths, count) / 1e9,
                  "GB/s");
    measure_print(measure, "decode", measure_median(figures.rates, count), "tokens/s");
    measure_print(measure, "decode, processor time", measure_median(figures.processor_rates, count),
                  "tokens/s");
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
