// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "settings.h"

#include <stdlib.h>

// How often a combination is drawn until one is legal: of some devices one of hundreds is.
enum { DRAWS_MAX = 4096 };

struct drawing {
    const struct settings_options *options;
    const tapml_tuning *tuning;
    tapml_knobs knobs;
    unsigned state;
};

static int draw(struct drawing *drawing, int64_t values[TAPML_TUNING_KNOBS_MAX])
{
    const struct settings_options *options = drawing->options;
    tapml_object *device = plugin_device(options->plugin);

    for (int i = 0; i < DRAWS_MAX; i++) {
        uint32_t is_legal = 0;

        for (uint32_t k = 0; k < drawing->knobs.n_knobs; k++) {
            const tapml_knob *knob = drawing->knobs.knobs[k];

            values[k] = knob->values[(unsigned)rand_r(&drawing->state) % knob->n_values];
        }
        if (drawing->tuning->allows(device, options->call, options->op, options->args,
                                    options->op->n_params, values, &is_legal) != TAPML_OK) {
            return 0;
        }
        if (is_legal) {
            return 1;
        }
    }
    return 0;
}

// NULL: what the device chooses by itself.
static int take(struct drawing *drawing, const int64_t *values)
{
    const struct settings_options *options = drawing->options;
    const char *names[TAPML_TUNING_KNOBS_MAX];

    for (uint32_t k = 0; k < drawing->knobs.n_knobs; k++) {
        names[k] = drawing->knobs.knobs[k]->name;
    }
    return drawing->tuning->take(
               plugin_device(options->plugin), options->call, options->op,
               &(tapml_setting){.hdr = TAPML_HDR(tapml_setting),
                                .shape_class = drawing->knobs.shape_class,
                                .names = names,
                                .values = values,
                                .n_values = values != NULL ? drawing->knobs.n_knobs : 0}) ==
           TAPML_OK;
}

double settings_best(const struct settings_options *options, double own)
{
    tapml_object *device = plugin_device(options->plugin);
    struct drawing drawing = {.options = options,
                              .tuning = device->vt->interface_of(device, TAPML_TUNING),
                              .knobs = {.hdr = TAPML_HDR(tapml_knobs)},
                              .state = 1};
    int64_t values[TAPML_TUNING_KNOBS_MAX];
    double best = own;

    if (drawing.tuning == NULL ||
        drawing.tuning->knobs(device, options->call, options->op, options->args,
                              options->op->n_params, &drawing.knobs) != TAPML_OK ||
        drawing.knobs.n_knobs == 0) {
        return own;
    }
    for (uint32_t i = 0; i < options->trials && draw(&drawing, values); i++) {
        const double spent = take(&drawing, values) ? options->time(options->user) : own;

        best = spent < best ? spent : best;
    }
    (void)take(&drawing, NULL);
    return best;
}
