// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/pool.h"
#include "base/text.h"
#include "model/safetensors.h"
#include "tensor/encoding.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PIECE_BYTES = 1 << 20, IDS_MAX = 4096, CHUNK = 512 };

const struct options_spec measure_specs[] = {
    {"--model", "DIR", "the model's folder, as tools/make_model writes it"},
    {"--backend", "B", "COMPONENT or COMPONENT:DEVICE; cpu by default"},
    {"--context", "N", "tokens before the measurement; 128 by default"},
    {"--rounds", "N", "alternating rounds of the machine and of the host; 8 by default"},
    {"--blas", "FILE", "a library with cblas_sgemm, to compare with"},
    {"--weights", "W", "'q8_0' or 'q4_0' encodes the weights at load"},
    {"--json", NULL, "prints an object"},
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

struct moment measure_now(void)
{
    struct timespec processor;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &processor);
    return (struct moment){(double)clock_now_ns() * 1e-9,
                           (double)processor.tv_sec + (double)processor.tv_nsec * 1e-9};
}

struct moment measure_since(struct moment begin)
{
    const struct moment now = measure_now();

    return (struct moment){now.wall - begin.wall, now.processor - begin.processor};
}

// -- The machine ----------------------------------------------------------------------------------

struct reading {
    const unsigned char *buffer;
    uint64_t sum; // Wanted by nobody: reading must not be left out.
};

static void read_pieces(void *user, uint64_t begin, uint64_t end)
{
    typedef uint64_t words __attribute__((vector_size(64)));
    struct reading *reading = user;
    words sums[4] = {{0}};

    for (uint64_t at = begin * PIECE_BYTES; at < end * PIECE_BYTES; at += sizeof(sums)) {
        words values[4];

        memcpy(values, reading->buffer + at, sizeof(values));
        for (size_t i = 0; i < 4; i++) {
            sums[i] += values[i];
        }
    }
    (void)__atomic_fetch_add(&reading->sum, ((sums[0] + sums[1]) + (sums[2] + sums[3]))[0],
                             __ATOMIC_RELAXED);
}

struct moment measure_read(struct measure *measure)
{
    struct reading reading = {measure->buffer, 0};
    const struct moment begin = measure_now();

    pool_run(measure->setup.pool, MEASURE_READ_BYTES / PIECE_BYTES, 1, read_pieces, &reading);
    return measure_since(begin);
}

// -- The model ------------------------------------------------------------------------------------

static int ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text);

    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

// Rows of a matrix are encoded, where that is asked for.
static tapml_status stored_bytes(const struct checkpoint_tensor *tensor,
                                 const tapml_encoding *encoding,
                                 uint64_t *out_bytes)
{
    const tapml_tensor *t = &tensor->tensor;

    return encoding_bytes(t->rank > 1 ? encoding : NULL, t->dtype, t->shape, t->rank, out_bytes);
}

// A token reads one row of the embedding, unless that is the head too.
static tapml_status count_bytes(struct measure *measure, const tapml_encoding *encoding)
{
    const int has_head = checkpoint_find(measure->checkpoint, "lm_head.weight") != NULL;

    for (size_t i = 0; i < checkpoint_count(measure->checkpoint); i++) {
        const struct checkpoint_tensor *tensor = checkpoint_at(measure->checkpoint, i);

        if (!has_head || !ends_with(tensor->name, "embed_tokens.weight")) {
            uint64_t bytes = 0;

            TAPML_TRY(stored_bytes(tensor, encoding, &bytes));
            measure->weight_bytes += bytes;
        }
        if (ends_with(tensor->name, "k_proj.weight") || ends_with(tensor->name, "v_proj.weight")) {
            measure->state_bytes += (uint64_t)tensor->tensor.shape[0] * sizeof(float);
        }
    }
    return TAPML_OK;
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
        return status_fail(TAPML_INVALID, "no model: give --model DIR");
    }
    if (weights != NULL && options.encoding == NULL) {
        return status_fail(TAPML_INVALID, "--weights is 'q8_0' or 'q4_0', found '%s'", weights);
    }
    TAPML_TRY(safetensors_open(folder, &measure->checkpoint));
    TAPML_TRY(setup_model(&measure->setup, &options));
    TAPML_TRY(count_bytes(measure, options.encoding));
    TAPML_TRY(setup_place(&measure->setup, "source", backend != NULL ? backend : "cpu"));
    return open_session(measure, more);
}

tapml_status measure_begin(int argc, char **argv, struct measure *measure)
{
    static char program[4096];
    const char *slash = strrchr(argv[0], '/');

    *measure = (struct measure){.context = 0};
    TAPML_TRY(options_parse(measure_specs, argc - 1, argv + 1, &measure->options));
    TAPML_TRY(options_no_plain(&measure->options));
    TAPML_TRY(options_i64(&measure->options, "--context", 128, 1, IDS_MAX, &measure->context));
    TAPML_TRY(
        options_i64(&measure->options, "--rounds", 8, 1, MEASURE_ROUNDS_MAX, &measure->rounds));

    // The plugins of the build are named beside its programs.
    (void)snprintf(program, sizeof(program), "%.*s/../tapml-host",
                   slash != NULL ? (int)(slash - argv[0]) : 1, slash != NULL ? argv[0] : ".");
    return setup_open(program, &measure->options, NULL, &measure->setup);
}

tapml_status measure_open(int argc, char **argv, int64_t more, struct measure *measure)
{
    TAPML_TRY(measure_begin(argc, argv, measure));
    measure->buffer = malloc(MEASURE_READ_BYTES);
    if (measure->buffer == NULL) {
        return status_no_memory();
    }
    memset(measure->buffer, 1, MEASURE_READ_BYTES);
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
    checkpoint_close(measure->checkpoint);
    if (measure->setup.registry != NULL) {
        setup_close(&measure->setup);
    }
    free(measure->buffer);
}

int measure_end(struct measure *measure, tapml_status status)
{
    if (status != TAPML_OK) {
        (void)fprintf(stderr, "%s\n", status_message());
    }
    close_all(measure);
    return status == TAPML_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
