// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How near is a prefill to what a library's matrix product reaches on the same shapes? Each round
// multiplies all shapes of the model by cblas_sgemm, in f32 and divided among the same threads,
// then feeds `context` tokens.
#include "base/alloc.h"
#include "base/pool.h"
#include "measure.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, TRANSPOSE = 112, SHAPES_MAX = 16, COLUMNS = 64 };

typedef void (*sgemm_fn)(int order,
                         int transpose_a,
                         int transpose_b,
                         int m,
                         int n,
                         int k,
                         float alpha,
                         const float *a,
                         int a_step,
                         const float *b,
                         int b_step,
                         float beta,
                         float *c,
                         int c_step);

struct shape {
    int64_t out, in, count;
};

struct library {
    sgemm_fn sgemm;
    struct shape shapes[SHAPES_MAX];
    size_t shape_count;
    float *x, *w, *y;
    int64_t tokens;
    const struct shape *shape;
};

static tapml_status find_function(struct library *library, const char *path)
{
    static const char *const names[] = {"libopenblas.so.0", "libblas.so.3", NULL};
    void *handle = path != NULL ? dlopen(path, RTLD_NOW) : NULL;
    void *one = NULL;

    for (size_t i = 0; path == NULL && handle == NULL && names[i] != NULL; i++) {
        handle = dlopen(names[i], RTLD_NOW);
    }
    void *function = handle != NULL ? dlsym(handle, "cblas_sgemm") : NULL;

    if (function == NULL) {
        return status_fail(TAPML_UNAVAILABLE, "no library with cblas_sgemm: install "
                                              "libopenblas0-serial, or give --blas FILE");
    }
    memcpy(&library->sgemm, &function, sizeof(function));
    one = dlsym(handle, "openblas_set_num_threads");
    if (one != NULL) {
        void (*set_threads)(int) = NULL;

        memcpy(&set_threads, &one, sizeof(one));
        set_threads(1); // The pool divides.
    }
    return TAPML_OK;
}

// Every weight of two axes is a product, but for the table that only gives rows.
static void find_shapes(const struct measure *measure, struct library *library)
{
    for (size_t i = 0; i < checkpoint_count(measure->checkpoint); i++) {
        const struct checkpoint_tensor *tensor = checkpoint_at(measure->checkpoint, i);
        const int64_t *extents = tensor->tensor.shape;
        size_t at = 0;

        if (tensor->tensor.rank != 2 || strstr(tensor->name, "layers.") == NULL) {
            continue; // The head has one row.
        }
        while (at < library->shape_count &&
               (library->shapes[at].out != extents[0] || library->shapes[at].in != extents[1])) {
            at++;
        }
        if (at == library->shape_count && at < SHAPES_MAX) {
            library->shapes[library->shape_count++] = (struct shape){extents[0], extents[1], 0};
        }
        library->shapes[at].count += at < SHAPES_MAX;
    }
}

static tapml_status open_library(const struct measure *measure, struct library *library)
{
    size_t weights = 0, widths = 0;

    library->tokens = measure->context;
    TAPML_TRY(find_function(library, options_get(&measure->options, "--blas")));
    find_shapes(measure, library);
    for (size_t i = 0; i < library->shape_count; i++) {
        const struct shape *shape = &library->shapes[i];
        const size_t size = (size_t)(shape->out * shape->in);
        const size_t width = (size_t)(shape->out > shape->in ? shape->out : shape->in);

        weights = size > weights ? size : weights;
        widths = width > widths ? width : widths;
    }
    library->w = alloc_array(weights, sizeof(float));
    library->x = alloc_array(widths * (size_t)library->tokens, sizeof(float));
    library->y = alloc_array(widths * (size_t)library->tokens, sizeof(float));
    if (library->w == NULL || library->x == NULL || library->y == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < weights; i++) {
        library->w[i] = (float)(i % 251) / 251 - 0.5f;
    }
    for (size_t i = 0; i < widths * (size_t)library->tokens; i++) {
        library->x[i] = (float)(i % 241) / 241 - 0.5f;
    }
    return TAPML_OK;
}

static void multiply(void *user, uint64_t begin, uint64_t end)
{
    const struct library *library = user;
    const int out = (int)library->shape->out, in = (int)library->shape->in;
    const int first = (int)begin * COLUMNS;
    const int last = (int)end * COLUMNS < out ? (int)end * COLUMNS : out;

    library->sgemm(ROW_MAJOR, NO_TRANSPOSE, TRANSPOSE, (int)library->tokens, last - first, in, 1,
                   library->x, in, library->w + (size_t)first * (size_t)in, in, 0,
                   library->y + first, out);
}

// Seconds of all products of the model.
static struct moment run_library(const struct measure *measure, struct library *library)
{
    struct moment sum = {0, 0};

    for (size_t i = 0; i < library->shape_count; i++) {
        const struct shape *shape = &library->shapes[i];
        const struct moment begin = measure_now();
        const uint64_t blocks = (uint64_t)(shape->out + COLUMNS - 1) / COLUMNS;
        const uint64_t width = pool_width(measure->setup.pool);

        library->shape = shape;
        pool_run(measure->setup.pool, blocks, (blocks + width - 1) / width, multiply, library);
        sum.wall += measure_since(begin).wall * (double)shape->count;
        sum.processor += measure_since(begin).processor * (double)shape->count;
    }
    return sum;
}

static double operations(const struct library *library)
{
    double sum = 0;

    for (size_t i = 0; i < library->shape_count; i++) {
        const struct shape *shape = &library->shapes[i];

        sum += 2.0 * (double)(shape->out * shape->in * shape->count) * (double)library->tokens;
    }
    return sum;
}

static tapml_status run(struct measure *measure, struct library *library)
{
    const size_t count = (size_t)measure->rounds;
    double walls[MEASURE_ROUNDS_MAX], processors[MEASURE_ROUNDS_MAX]; // Both ratios.
    double rates[MEASURE_ROUNDS_MAX], theirs[MEASURE_ROUNDS_MAX];

    TAPML_TRY(measure_step(measure, measure->context));
    (void)run_library(measure, library);
    for (size_t round = 0; round < count; round++) {
        const struct moment before = run_library(measure, library);

        TAPML_TRY(session_begin(measure->session, measure->context));
        const struct moment begin = measure_now();

        TAPML_TRY(measure_step(measure, measure->context));
        const struct moment ours = measure_since(begin), after = run_library(measure, library);

        rates[round] = (double)measure->context / ours.wall;
        theirs[round] = 2 * operations(library) / (before.wall + after.wall) / 1e9;
        walls[round] = (before.wall + after.wall) / 2 / ours.wall;
        processors[round] = (before.processor + after.processor) / 2 / ours.processor;
    }
    measure_print(measure, "library", measure_median(theirs, count), "GFLOP/s");
    measure_print(measure, "prefill", measure_median(rates, count), "tokens/s");
    measure_print(measure, "prefill / library", measure_median(walls, count), "");
    measure_print(measure, "prefill / library, processor time", measure_median(processors, count),
                  "");
    return TAPML_OK;
}

int main(int argc, char **argv)
{
    struct library library = {.shape_count = 0};
    struct measure measure;
    tapml_status status = measure_open(argc, argv, 1, &measure);

    if (status == TAPML_OK) {
        status = open_library(&measure, &library);
    }
    if (status == TAPML_OK) {
        status = run(&measure, &library);
    }
    alloc_free(library.x);
    alloc_free(library.w);
    alloc_free(library.y);
    return measure_end(&measure, status);
}
