// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How long does it take to build the graph of a model that is not there? `--model` is a folder with
// a config.json alone: `tools/make_model 70b DIR --no-weights`.
#include "measure.h"

static tapml_status run(struct measure *measure)
{
    const size_t count = (size_t)measure->rounds;
    const char *folder = options_get(&measure->options, "--model");
    double times[MEASURE_ROUNDS_MAX];

    if (folder == NULL) {
        return status_fail(TAPML_INVALID, "no model: give --model DIR");
    }
    for (size_t round = 0; round < count; round++) {
        const struct moment begin = reading_now();
        struct model *model = NULL;

        TAPML_TRY(model_open(measure->setup.registry,
                             &(struct model_options){.folder = folder, .without_weights = 1},
                             &model));
        times[round] = reading_since(begin).wall * 1e3;
        model_close(model);
    }
    measure_print(measure, "building the graph", measure_median(times, count), "ms");
    return TAPML_OK;
}

int main(int argc, char **argv)
{
    struct measure measure;
    tapml_status status = measure_begin(argc, argv, &measure);

    if (status == TAPML_OK) {
        status = run(&measure);
    }
    return measure_end(&measure, status);
}
