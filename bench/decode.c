// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How near is decoding to what memory allows? Each round reads a buffer with the same threads, then
// decodes some tokens; the figure is the bytes that a token reads, weights and state, over both
// times.
#include "measure.h"

enum { TOKENS = 4 };

struct figures {
    double ratios[MEASURE_ROUNDS_MAX], rates[MEASURE_ROUNDS_MAX], bandwidths[MEASURE_ROUNDS_MAX];
};

static tapml_status run_round(struct measure *measure, size_t round, struct figures *figures)
{
    const double before = measure_bandwidth(measure), begin = measure_now();

    for (int token = 0; token < TOKENS; token++) {
        TAPML_TRY(measure_step(measure, 1));
    }
    const double seconds = (measure_now() - begin) / TOKENS;
    const double bandwidth = (before + measure_bandwidth(measure)) / 2;
    const double bytes = (double)measure->weight_bytes +
                         (double)measure->state_bytes * (double)session_position(measure->session);

    figures->rates[round] = 1 / seconds;
    figures->bandwidths[round] = bandwidth;
    figures->ratios[round] = bytes / seconds / bandwidth;
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
    measure_print(measure, "decode / read bandwidth, median", measure_median(figures.ratios, count),
                  "");
    measure_print(measure, "decode / read bandwidth, best round", figures.ratios[count - 1], "");
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
