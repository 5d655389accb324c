// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// turns LIBRARY COMPONENT OPTION [WIDTH OUTPUTS]: what `linear` takes on a device with OPTION = off
// and without it, by turns in one process: decode (one row) and prefill, for each type of weight.
// Both results are held against sums in f64: the largest error of some elements, in parts of what
// the sizes of their terms add up to (2^-24 is half a unit in the last place of an f32). Exit 77
// where there is no device.
#include "harness/plugin.h"

#include <tapml/gpu/support.h>
#include <tapml/ops.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_SKIP = 77, TRIES = 5, SAMPLES = 256, WAYS = 2, ROWS_MAX = 2048, DEFAULT_SIDE = 4096 };

// x, w and y of a linear on one of the two plugins.
struct way {
    struct plugin *plugin;
    tapml_object *buffers[3];
    tapml_tensor tensors[3];
    double best_ns, error;
};

struct bench {
    int64_t width, outputs;
    struct way ways[WAYS];    // OPTION = off, and without it.
    unsigned char *values[2]; // Of x and w.
    uint64_t seed;
    tapml_call call;
};

struct weight {
    const char *name;
    uint32_t dtype;
};

static void check(tapml_status status, const struct bench *bench, const char *what)
{
    if (status != TAPML_OK) {
        (void)fprintf(stderr, "%s: %d, %s\n", what, status, bench->call.message);
        exit(status == TAPML_UNAVAILABLE || status == TAPML_NOT_FOUND ? EXIT_SKIP : EXIT_FAILURE);
    }
}

static uint32_t random_bits(struct bench *bench)
{
    bench->seed = bench->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(bench->seed >> 32);
}

// Values of either sign between 1/4 and 1, which all digits of the type make.
static void make_values(struct bench *bench, uint32_t dtype, int64_t count, unsigned char *values)
{
    for (int64_t i = 0; i < count; i++) {
        const uint32_t bits = random_bits(bench);
        const uint32_t sign = bits & 0x80000000u, digits = bits & 0x7fffff, high = bits >> 30 & 1;
        const uint32_t word = sign | ((125 + high) << 23) | digits;
        const uint16_t half =
            (uint16_t)(dtype == TAPML_BF16 ? word >> 16
                                           : sign >> 16 | (13 + high) << 10 | digits >> 13);

        if (dtype == TAPML_F32) {
            memcpy(values + i * 4, &word, 4);
        } else {
            memcpy(values + i * 2, &half, 2);
        }
    }
}

static double value_at(const unsigned char *values, uint32_t dtype, int64_t at)
{
    uint32_t word = 0;
    uint16_t half = 0;
    float value = 0;

    if (dtype == TAPML_F32) {
        memcpy(&value, values + at * 4, 4);
        return (double)value;
    }
    memcpy(&half, values + at * 2, 2);
    if (dtype == TAPML_F16) {
        const double size = ldexp(1024 + (half & 1023), (half >> 10 & 31) - 25);

        return (half >> 15) != 0 ? -size : size;
    }
    word = (uint32_t)half << 16;
    memcpy(&value, &word, 4);
    return (double)value;
}

// -- One shape -----------------------------------------------------------------------------------

static void
make_tensor(struct bench *bench, struct way *way, int index, uint32_t dtype, const int64_t *shape)
{
    const tapml_backend *table = plugin_table(way->plugin);
    const uint64_t size = (uint64_t)(shape[0] * shape[1]) * TAPML_DT_BYTES(dtype);

    check(
        table->buffer_new(plugin_device(way->plugin), &bench->call, 0, size, &way->buffers[index]),
        bench, "buffer_new");
    way->tensors[index] = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                                         .dtype = dtype,
                                         .rank = 2,
                                         .shape = shape,
                                         .buffer = way->buffers[index]};
    if (index < 2) {
        check(table->queue_write(plugin_queue(way->plugin), &bench->call, way->buffers[index], 0,
                                 bench->values[index], size),
              bench, "queue_write");
        check(plugin_wait(way->plugin, &bench->call), bench, "wait");
    }
}

static const tapml_op_impl *find_linear(struct bench *bench, const struct way *way)
{
    const tapml_op_impl *const *list = NULL;
    uint32_t count = 0;

    check(plugin_table(way->plugin)->ops(plugin_device(way->plugin), &bench->call, &list, &count),
          bench, "ops");
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(list[i]->op->name, tapml_linear.name) == 0) {
            return list[i];
        }
    }
    (void)fprintf(stderr, "the device has no '%s'\n", tapml_linear.name);
    exit(EXIT_FAILURE);
}

// Nanoseconds of a call, of `calls` that are queued together.
static double time_calls(struct bench *bench, struct way *way, uint32_t calls)
{
    const tapml_op_impl *impl = find_linear(bench, way);
    const tapml_value values[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &way->tensors[0]},
                                  {.kind = TAPML_P_TENSOR_IN, .u.p = &way->tensors[1]},
                                  {.kind = TAPML_P_TENSOR_IN, .u.p = NULL},
                                  {.kind = TAPML_P_I64, .u.i = 0},
                                  {.kind = TAPML_P_TENSOR_OUT, .u.p = &way->tensors[2]}};
    const uint64_t begin = gpu_clock_ns();

    for (uint32_t i = 0; i < calls; i++) {
        check(tapml_ops_apply(impl, plugin_queue(way->plugin), &bench->call, values), bench,
              "linear");
    }
    check(plugin_wait(way->plugin, &bench->call), bench, "wait");
    return (double)(gpu_clock_ns() - begin) / calls;
}

// Reads y and holds some of its elements against sums in f64.
static double find_error(struct bench *bench, struct way *way, int64_t rows, uint32_t dtype)
{
    const uint64_t count = (uint64_t)(rows * bench->outputs);
    float *y = calloc(count, sizeof(*y));
    double worst = 0;

    if (y == NULL) {
        (void)fprintf(stderr, "out of memory\n");
        exit(EXIT_FAILURE);
    }
    check(plugin_table(way->plugin)
              ->queue_read(plugin_queue(way->plugin), &bench->call, way->buffers[2], 0, y,
                           count * sizeof(*y)),
          bench, "queue_read");
    check(plugin_wait(way->plugin, &bench->call), bench, "wait");
    for (uint64_t i = 0; i < SAMPLES; i++) {
        const int64_t at = (int64_t)((i * 2654435761u) % count), row = at / bench->outputs;
        double sum = 0, size = 0;

        for (int64_t k = 0; k < bench->width; k++) {
            const double term =
                value_at(bench->values[0], TAPML_F32, row * bench->width + k) *
                value_at(bench->values[1], dtype, at % bench->outputs * bench->width + k);

            sum += term;
            size += fabs(term);
        }
        worst = fmax(worst, fabs((double)y[at] - sum) / size);
    }
    free(y);
    return worst;
}

static void run_shape(struct bench *bench, const struct weight *weight, int64_t rows)
{
    const int64_t shapes[3][2] = {
        {rows, bench->width}, {bench->outputs, bench->width}, {rows, bench->outputs}};
    const uint32_t dtypes[3] = {TAPML_F32, weight->dtype, TAPML_F32};
    const double operations = 2.0 * (double)rows * (double)bench->width * (double)bench->outputs;
    const uint32_t calls = operations < 1e9 ? 50 : operations < 2e10 ? 10 : 3;

    for (int i = 0; i < WAYS; i++) {
        for (int k = 0; k < 3; k++) {
            make_tensor(bench, &bench->ways[i], k, dtypes[k], shapes[k]);
        }
        bench->ways[i].best_ns = INFINITY;
        (void)time_calls(bench, &bench->ways[i], 1); // Compiles.
        bench->ways[i].error = find_error(bench, &bench->ways[i], rows, weight->dtype);
    }
    for (int i = 0; i < TRIES * WAYS; i++) {
        struct way *way = &bench->ways[i % WAYS];

        way->best_ns = fmin(way->best_ns, time_calls(bench, way, calls));
    }
    (void)printf(
        "%-5s %5lld %12.1f %12.1f %7.2f %10.2f %10.2f %10.1e %10.1e\n", weight->name,
        (long long)rows, bench->ways[0].best_ns * 1e-3, bench->ways[1].best_ns * 1e-3,
        bench->ways[0].best_ns / bench->ways[1].best_ns, operations / bench->ways[0].best_ns * 1e-3,
        operations / bench->ways[1].best_ns * 1e-3, bench->ways[0].error, bench->ways[1].error);
    (void)fflush(stdout);
    for (int i = 0; i < WAYS * 3; i++) {
        tapml_object *buffer = bench->ways[i / 3].buffers[i % 3];

        buffer->vt->release(buffer);
    }
}

// -- The program ---------------------------------------------------------------------------------

static void run_all(struct bench *bench)
{
    static const struct weight weights[] = {
        {"f32", TAPML_F32}, {"bf16", TAPML_BF16}, {"f16", TAPML_F16}};
    static const int64_t rows[] = {1, 8, 9, 16, 32, 64, 128, 512, ROWS_MAX};

    (void)printf("%-5s %5s %12s %12s %7s %10s %10s %10s %10s\n", "w", "rows", "off us", "on us",
                 "off/on", "off TFLOP", "on TFLOP", "off error", "on error");
    for (size_t w = 0; w < sizeof(weights) / sizeof(*weights); w++) {
        make_values(bench, weights[w].dtype, bench->outputs * bench->width, bench->values[1]);
        for (size_t r = 0; r < sizeof(rows) / sizeof(*rows); r++) {
            const double terms = (double)rows[r] * (double)bench->width * (double)bench->outputs;

            if (rows[r] <= 16 || terms > 1e8) { // On small matrices the rest says nothing more.
                run_shape(bench, &weights[w], rows[r]);
            }
        }
    }
}

int main(int argc, char **argv)
{
    struct bench bench = {.width = DEFAULT_SIDE, .outputs = DEFAULT_SIDE, .seed = 1};

    if (argc != 4 && argc != 6) {
        (void)fprintf(stderr, "usage: %s LIBRARY COMPONENT OPTION [WIDTH OUTPUTS]\n", argv[0]);
        return EXIT_FAILURE;
    }
    if (argc == 6) {
        bench.width = strtoll(argv[4], NULL, 10);
        bench.outputs = strtoll(argv[5], NULL, 10);
    }
    if (bench.width < 1 || bench.outputs < 1 || bench.width > 1 << 20 || bench.outputs > 1 << 20) {
        (void)fprintf(stderr, "WIDTH and OUTPUTS are numbers from 1 to %d\n", 1 << 20);
        return EXIT_FAILURE;
    }
    const char *const off[] = {argv[3], "off", NULL};

    for (int i = 0; i < WAYS; i++) {
        const struct plugin_options options = {
            .library = argv[1], .component = argv[2], .options = i == 0 ? off : NULL};

        check(plugin_open(&options, &bench.call, &bench.ways[i].plugin), &bench, "plugin");
    }
    bench.values[0] = calloc((size_t)ROWS_MAX * (size_t)bench.width, 4);
    bench.values[1] = calloc((size_t)bench.outputs * (size_t)bench.width, 4);
    if (bench.values[0] == NULL || bench.values[1] == NULL) {
        (void)fprintf(stderr, "out of memory\n");
        return EXIT_FAILURE;
    }
    make_values(&bench, TAPML_F32, ROWS_MAX * bench.width, bench.values[0]);
    (void)printf("%s: %s, by turns with %s = off\n", plugin_info(bench.ways[1].plugin)->name,
                 plugin_info(bench.ways[1].plugin)->driver, argv[3]);
    run_all(&bench);
    for (int i = 0; i < WAYS; i++) {
        (void)plugin_close(bench.ways[i].plugin); // Tests count what a plugin keeps.
        free(bench.values[i]);
    }
    return EXIT_SUCCESS;
}
