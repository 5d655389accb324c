// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How near is a prefill to what matrix products reach on the same shapes? Each round multiplies all
// shapes of the model in f32, by a library and by the backend's own `linear`, before and after it
// feeds `context` tokens. The limit is the faster of the two, and the faster of both moments.
#include "products.h"

#include <math.h>

struct figures {
    double walls[MEASURE_ROUNDS_MAX], processors[MEASURE_ROUNDS_MAX]; // Both ratios.
    double rates[MEASURE_ROUNDS_MAX];
    double libraries[MEASURE_ROUNDS_MAX], own[MEASURE_ROUNDS_MAX]; // Operations a second.
};

static tapml_status
run_round(struct measure *measure, struct products *products, size_t round, struct figures *figures)
{
    struct products_times before, after;

    TAPML_TRY(products_run(products, &before));
    TAPML_TRY(session_begin(measure->session, measure->context));
    const struct moment begin = reading_now();

    TAPML_TRY(measure_step(measure, measure->context));
    const struct moment ours = reading_since(begin);

    TAPML_TRY(products_run(products, &after));
    const double operations = products_operations(products);

    figures->rates[round] = (double)measure->context / ours.wall;
    figures->libraries[round] = operations / fmin(before.library.wall, after.library.wall);
    figures->own[round] = operations / fmin(before.own.wall, after.own.wall);
    figures->walls[round] = fmin(before.best.wall, after.best.wall) / ours.wall;
    figures->processors[round] = fmin(before.best.processor, after.best.processor) / ours.processor;
    return TAPML_OK;
}

static tapml_status run(struct measure *measure, struct products *products)
{
    const size_t count = (size_t)measure->rounds;
    struct products_times warm;
    struct figures figures;

    TAPML_TRY(measure_step(measure, measure->context));
    TAPML_TRY(products_run(products, &warm));
    for (size_t round = 0; round < count; round++) {
        TAPML_TRY(run_round(measure, products, round, &figures));
    }
    measure_print(measure, "library", measure_median(figures.libraries, count) / 1e9, "GFLOP/s");
    measure_print(measure, "own product", measure_median(figures.own, count) / 1e9, "GFLOP/s");
    measure_print(measure, "prefill", measure_median(figures.rates, count), "tokens/s");
    measure_print(measure, "prefill / products", measure_median(figures.walls, count), "");
    measure_print(measure, "prefill / products, processor time",
                  measure_median(figures.processors, count), "");
    return TAPML_OK;
}

int main(int argc, char **argv)
{
    struct products *products = NULL;
    struct measure measure;
    tapml_status status = measure_open(argc, argv, 1, &measure);

    if (status == TAPML_OK) {
        status = products_create(&measure, &products);
    }
    if (status == TAPML_OK) {
        status = run(&measure, products);
    }
    products_destroy(products);
    return measure_end(&measure, status);
}
