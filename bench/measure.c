// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include "base/alloc.h"
#include "base/text.h"
#include "tensor/encoding.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    READ_BYTES = 256 << 20,
    READ_BYTES_SHORT = 16 << 20,
    IDS_MAX = 4096,
    CHUNK = 512,
};

const struct options_spec measure_specs[] = {
    {"--model", "M", "a model's folder, as tools/make_model writes it, or a GGUF file"},
    {"--backend", "B", "COMPONENT or COMPONENT:DEVICE; cpu by default"},
    {"--context", "N", "tokens before the measurement; 128 by default"},
    {"--rounds", "N", "alternating rounds of the machine and of the host; 8 by default"},
    {"--blas", "FILE", "a library with cblas_sgemm, to compare with"},
    {"--weights", "W", "an encoding for the weights, such as 'q8_0'"},
    {"--short", NULL, "one round with little memory: does it run?"},
    {"--json", NULL, "prints an object"},
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

// -- The model ------------------------------------------------------------------------------------

static int ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text);

    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

// A token reads one row of the embedding, unless that is the head too.
static void count_bytes(struct measure *measure)
{
    const int has_head = checkpoint_find(measure->checkpoint, "lm_head.weight") != NULL;

    for (size_t i = 0; i < checkpoint_count(measure->checkpoint); i++) {
        const struct checkpoint_tensor *tensor = checkpoint_at(measure->checkpoint, i);

        if (!has_head || !ends_with(tensor->name, "embed_tokens.weight")) {
            measure->weight_bytes += tensor->bytes;
        }
        if (ends_with(tensor->name, "k_proj.weight") || ends_with(tensor->name, "v_proj.weight")) {
            measure->state_bytes += (uint64_t)tensor->tensor.shape[0] * sizeof(float);
        }
    }
}

static tapml_status open_session(struct measure *measure, int64_t more)
{
    const int64_t capacity = measure->context + more;
    struct plan *plan = NULL;

    TAPML_TRY(plan_create(&plan));
    const tapml_status status =
        session_create(&(struct session_options){.model = measure->setup.model,
                                                 .places = measure->setup.places,
                                                 .place_count = measure->setup.place_count,
                                                 .plan = plan,
                                                 .capacity = capacity,
                                                 .chunk = capacity < CHUNK ? capacity : CHUNK},
                       &measure->session);

    plan_destroy(plan);
    TAPML_TRY(status);
    return session_begin(measure->session, capacity);
}

static tapml_status open_model(struct measure *measure, int64_t more)
{
    const char *folder = options_get(&measure->options, "--model");
    const char *backend = options_get(&measure->options, "--backend");
    const char *weights = options_get(&measure->options, "--weights");
    const struct model_options options = {
        .folder = folder, .encoding = weights != NULL ? encoding_find_word(weights) : NULL};

    if (folder == NULL) {
        return status_fail(TAPML_INVALID, "no model: give --model DIR or FILE.gguf");
    }
    if (weights != NULL && options.encoding == NULL) {
        return status_fail(TAPML_INVALID, "--weights is one of " ENCODING_WORDS ", found '%s'",
                           weights);
    }
    TAPML_TRY(setup_model(&measure->setup, &options));
    measure->checkpoint = model_checkpoint(measure->setup.model);
    count_bytes(measure);
    TAPML_TRY(setup_place(&measure->setup, "source", backend != NULL ? backend : "cpu"));
    return open_session(measure, more);
}

static int is_short(const struct measure *measure)
{
    return options_get(&measure->options, "--short") != NULL;
}

void measure_program(const char *own, char *out_program, size_t size)
{
    const char *slash = strrchr(own, '/');

    // The plugins of the build are named beside its programs.
    (void)snprintf(out_program, size, "%.*s/../tapml-host", slash != NULL ? (int)(slash - own) : 1,
                   slash != NULL ? own : ".");
}

tapml_status measure_begin(int argc, char **argv, struct measure *measure)
{
    static char program[4096];

    *measure = (struct measure){.context = 0};
    TAPML_TRY(options_parse(measure_specs, argc - 1, argv + 1, &measure->options));
    TAPML_TRY(options_no_plain(&measure->options));
    TAPML_TRY(options_i64(&measure->options, "--context", 128, 1, IDS_MAX, &measure->context));
    TAPML_TRY(options_i64(&measure->options, "--rounds", is_short(measure) ? 1 : 8, 1,
                          MEASURE_ROUNDS_MAX, &measure->rounds));

    measure_program(argv[0], program, sizeof(program));
    return setup_open(program, &measure->options, NULL, &measure->setup);
}

tapml_status measure_open(int argc, char **argv, int64_t more, struct measure *measure)
{
    TAPML_TRY(measure_begin(argc, argv, measure));
    measure->read_bytes = is_short(measure) ? READ_BYTES_SHORT : READ_BYTES;
    TAPML_TRY(reading_create(measure->setup.pool, measure->read_bytes, &measure->reading));
    return open_model(measure, more);
}

tapml_status measure_step(struct measure *measure, int64_t count)
{
    const int64_t vocabulary = setup_vocabulary(&measure->setup);
    int32_t ids[IDS_MAX], next = 0;

    for (int64_t i = 0; i < count && i < IDS_MAX; i++) {
        ids[i] = (int32_t)((i * 7919 + 17) % vocabulary);
    }
    TAPML_TRY(session_feed(measure->session, ids, count));
    return session_greedy(measure->session, &next);
}

// -- Figures --------------------------------------------------------------------------------------

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double measure_median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), compare);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

void measure_print(const struct measure *measure, const char *name, double value, const char *unit)
{
    if (options_get(&measure->options, "--json") != NULL) {
        (void)printf("{\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\"}\n", name, value, unit);
    } else {
        (void)printf("%-44s %10.4g %s\n", name, value, unit);
    }
}

static void close_all(struct measure *measure)
{
    session_destroy(measure->session);
    reading_destroy(measure->reading);
    if (measure->setup.registry != NULL) {
        setup_close(&measure->setup);
    }
}

int measure_end(struct measure *measure, tapml_status status)
{
    if (status != TAPML_OK) {
        (void)fprintf(stderr, "%s\n", status_message());
    }
    close_all(measure);
    return status == TAPML_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
