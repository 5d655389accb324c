// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// platform_<driver> LIBRARY COMPONENT [DEVICE]: what a device does, and what the operators make of
// it, in one run. Two plain kernels go through the plugin's driver, which is compiled in; the
// operators go through the plugin itself. Prints one line of JSON. Exit 77 where there is no
// device.
#include "harness/plugin.h"
#include "settings.h"

#include <tapml/gpu/support.h>
#include <tapml/ops.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    EXIT_SKIP = 77,
    ITEMS = 64,
    TRIES = 5,
    QUEUED = 4,
    BUFFERS_MAX = 4,
    HEADS = 16,
    HEAD_WIDTH = 64,
    OPTIONS_MAX = 8
};

// Of plugins' driver.h, which has the same name in each.
extern const struct gpu_driver driver_table;
extern const struct k_kernel bench_kernels[];

static void fail_with(const char *what, tapml_status status, const tapml_call *call)
{
    (void)fprintf(stderr, "%s: %d, %s\n", what, status, call->message);
    exit(status == TAPML_UNAVAILABLE || status == TAPML_NOT_FOUND ? EXIT_SKIP : EXIT_FAILURE);
}

// The clock that TAPML_BENCH_CLOCK asks for: that of the wall, or what all threads of this process
// have computed.
static uint64_t clock_ns(void)
{
    const char *name = getenv("TAPML_BENCH_CLOCK");
    struct timespec now;

    if (name == NULL || strcmp(name, "processor") != 0) {
        return gpu_clock_ns();
    }
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void check(tapml_status status, const tapml_call *call, const char *what)
{
    if (status != TAPML_OK) {
        fail_with(what, status, call);
    }
}

// -- A host for the driver ---------------------------------------------------------------------

static tapml_status host_fail(tapml_call *call,
                              tapml_status code,
                              int64_t native_code,
                              const char *domain,
                              const char *message,
                              size_t message_bytes)
{
    (void)snprintf(call->message, sizeof(call->message), "%s: %.*s", domain, (int)message_bytes,
                   message);
    return code;
}

static void host_blame(tapml_call *call, uint64_t n)
{
}

static void host_log(const tapml_host *host, int32_t level, const char *message, size_t bytes)
{
    (void)fprintf(stderr, "%.*s\n", (int)bytes, message);
}

static void *host_alloc(const tapml_host *host, size_t size, size_t align)
{
    return calloc(1, size);
}

static void host_free(const tapml_host *host, void *memory, size_t size, size_t align)
{
    free(memory);
}

static int32_t host_cancelled(tapml_call *call)
{
    return 0;
}

static const char *host_option(const tapml_host *host, const char *key)
{
    return NULL;
}

static const tapml_host_core core = {
    .hdr = TAPML_HDR(tapml_host_core),
    .fail = host_fail,
    .blame = host_blame,
    .log = host_log,
    .alloc = host_alloc,
    .free = host_free,
    .cancelled = host_cancelled,
    .option = host_option,
};

// -- What the device does ----------------------------------------------------------------------

struct device {
    struct gpu_host host;
    struct driver_root *root;
    struct driver_device *impl;
    struct gpu_limits limits;
    struct gpu_description description;
    uint64_t ticket;
    tapml_call call;
};

// Opens device number `index`; 0 past the last one.
static int device_open_next(struct device *device, uint32_t index)
{
    static const tapml_host host = {.hdr = TAPML_HDR(tapml_host)};

    device->host = (struct gpu_host){&host, &core, driver_table.id};
    check(driver_table.load(&device->host, &device->call, &device->root), &device->call, "load");
    const tapml_status status =
        driver_table.describe(device->root, &device->call, index, &device->description);

    if (status == TAPML_NOT_FOUND && index > 0) {
        driver_table.unload(device->root);
        return 0;
    }
    check(status, &device->call, "describe");
    check(driver_table.open(device->root, &device->call, index, &device->limits, &device->impl),
          &device->call, "open");
    return 1;
}

static void device_wait_all(struct device *device)
{
    uint64_t reached = 0;

    device->ticket++;
    check(driver_table.signal(device->impl, &device->call, device->ticket), &device->call,
          "signal");
    check(driver_table.flush(device->impl, &device->call), &device->call, "flush");
    check(driver_table.wait(device->impl, &device->call, device->ticket, UINT64_MAX, &reached),
          &device->call, "wait");
}

static const struct k_kernel *find_kernel(const char *name)
{
    const struct k_kernel *kernel = bench_kernels;

    while (strcmp(kernel->name, name) != 0) {
        kernel++;
    }
    return kernel;
}

// Nanoseconds of a launch over two buffers of `elements` f32: the best of some, of several that are
// queued together, so that waiting for a fast device is no part of it.
static double time_kernel(
    struct device *device, const char *name, uint64_t elements, uint32_t count, uint32_t groups)
{
    const struct k_kernel *kernel = find_kernel(name);
    const uint32_t tune[K_TUNE_MAX] = {ITEMS, 1, 1};
    struct driver_buffer *buffers[2] = {NULL, NULL};
    struct driver_pipeline *pipeline = NULL;
    float *values = calloc(elements, sizeof(*values));
    double best = 1e18;

    for (uint32_t i = 0; i < 2; i++) {
        check(driver_table.buffer_new(device->impl, &device->call, elements * 4, &buffers[i]),
              &device->call, "buffer_new");
        check(driver_table.write(device->impl, &device->call, buffers[i], 0, values, elements * 4),
              &device->call, "write");
    }
    check(driver_table.pipeline_new(device->impl, &device->call, kernel, tune, &pipeline),
          &device->call, "pipeline_new");
    device_wait_all(device);
    for (uint32_t i = 0; i <= TRIES; i++) { // The first one compiles.
        const uint32_t y = (groups + device->limits.grid - 1) / device->limits.grid;
        const uint64_t begin = clock_ns();

        for (uint32_t k = 0; k < QUEUED; k++) {
            check(driver_table.launch(device->impl, &device->call,
                                      &(struct gpu_launch){.pipeline = pipeline,
                                                           .buffers = buffers,
                                                           .params = &count,
                                                           .groups = {(groups + y - 1) / y, y, 1}}),
                  &device->call, "launch");
        }
        device_wait_all(device);
        const double spent = (double)(clock_ns() - begin) / QUEUED;

        best = i > 0 && spent < best ? spent : best;
    }
    driver_table.pipeline_free(device->impl, pipeline);
    driver_table.buffer_free(device->impl, buffers[0]);
    driver_table.buffer_free(device->impl, buffers[1]);
    free(values);
    return best;
}

static void device_close_all(struct device *device)
{
    driver_table.close(device->impl);
    driver_table.unload(device->root);
}

// -- What the operators make of it -------------------------------------------------------------

struct bench {
    struct plugin *plugin;
    uint32_t trials; // Settings that are tried of each call; 0: it is as the device chooses.
    tapml_object *buffers[BUFFERS_MAX];
    tapml_call call;
};

// `count` dense tensors of rank `rank`, f32 but for number 1, which has type `second`, each in a
// buffer of its own, zeroed. The shapes are borrowed.
static void make_tensors(struct bench *bench,
                         uint32_t count,
                         uint32_t rank,
                         const int64_t *shapes,
                         uint32_t second,
                         tapml_tensor *tensors)
{
    const tapml_backend *table = plugin_table(bench->plugin);

    for (uint32_t i = 0; i < count; i++) {
        const int64_t *shape = &shapes[i * rank];
        const uint32_t dtype = i == 1 ? second : TAPML_F32;
        uint64_t size = dtype == TAPML_F32 ? 4 : 2;

        for (uint32_t axis = 0; axis < rank; axis++) {
            size *= (uint64_t)shape[axis];
        }
        check(table->buffer_new(plugin_device(bench->plugin), &bench->call, 0, size,
                                &bench->buffers[i]),
              &bench->call, "buffer_new");
        check(table->queue_fill(plugin_queue(bench->plugin), &bench->call, bench->buffers[i], 0,
                                size, 0),
              &bench->call, "queue_fill");
        tensors[i] = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                                    .dtype = dtype,
                                    .rank = rank,
                                    .shape = shape,
                                    .buffer = bench->buffers[i]};
    }
}

static void free_buffers(struct bench *bench, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        bench->buffers[i]->vt->release(bench->buffers[i]);
    }
}

static const tapml_op_impl *find_op(struct bench *bench, const tapml_op *op)
{
    const tapml_op_impl *const *list = NULL;
    uint32_t count = 0;

    check(
        plugin_table(bench->plugin)->ops(plugin_device(bench->plugin), &bench->call, &list, &count),
        &bench->call, "ops");
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(list[i]->op->name, op->name) == 0) {
            return list[i];
        }
    }
    (void)fprintf(stderr, "the device has no '%s'\n", op->name);
    exit(EXIT_FAILURE);
}

// A call, `calls` of which are queued together. With `is_waited`, each by itself.
struct timed {
    struct bench *bench;
    const tapml_op *op;
    const tapml_value *values;
    uint32_t calls;
    int is_waited;
};

// Nanoseconds of it: the best of some.
static double time_now(void *user)
{
    const struct timed *timed = user;
    struct bench *bench = timed->bench;
    const tapml_op_impl *impl = find_op(bench, timed->op);
    double best = 1e18;

    for (uint32_t i = 0; i <= TRIES; i++) {
        const uint64_t begin = clock_ns();

        for (uint32_t k = 0; k < timed->calls; k++) {
            check(tapml_ops_apply(impl, plugin_queue(bench->plugin), &bench->call, timed->values),
                  &bench->call, timed->op->name);
            if (timed->is_waited) {
                check(plugin_wait(bench->plugin, &bench->call), &bench->call, "wait");
            }
        }
        check(plugin_wait(bench->plugin, &bench->call), &bench->call, "wait");
        const double spent = (double)(clock_ns() - begin) / timed->calls;

        best = i > 0 && spent < best ? spent : best;
    }
    return best;
}

// The same with what the device chooses, or with the best of the settings that are tried.
static double time_op(struct timed timed)
{
    const double own = time_now(&timed);

    return settings_best(&(struct settings_options){.plugin = timed.bench->plugin,
                                                    .call = &timed.bench->call,
                                                    .op = timed.op,
                                                    .args = timed.values,
                                                    .trials = timed.bench->trials,
                                                    .time = time_now,
                                                    .user = &timed},
                         own);
}

// y = x w', x of `tokens` rows of `width`, w of `rows` rows of type `dtype`.
static double time_linear(struct bench *bench,
                          int64_t tokens,
                          int64_t width,
                          int64_t rows,
                          uint32_t dtype,
                          uint32_t calls)
{
    const int64_t shapes[] = {tokens, width, rows, width, tokens, rows};
    tapml_tensor tensors[3];

    make_tensors(bench, 3, 2, shapes, dtype, tensors);
    const tapml_value values[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &tensors[0]},
                                  {.kind = TAPML_P_TENSOR_IN, .u.p = &tensors[1]},
                                  {.kind = TAPML_P_TENSOR_IN, .u.p = NULL},
                                  {.kind = TAPML_P_I64, .u.i = 0},
                                  {.kind = TAPML_P_TENSOR_OUT, .u.p = &tensors[2]}};
    const double spent = time_op((struct timed){bench, &tapml_linear, values, calls, 0});

    free_buffers(bench, 3);
    return spent;
}

// Causal attention of the last `tokens` of `rows` positions; as many heads for queries as for keys.
static double time_attention(struct bench *bench, int64_t tokens, int64_t rows, uint32_t calls)
{
    const int64_t shapes[] = {tokens, HEADS, HEAD_WIDTH, rows,   HEADS, HEAD_WIDTH,
                              rows,   HEADS, HEAD_WIDTH, tokens, HEADS, HEAD_WIDTH};
    tapml_tensor tensors[4];

    make_tensors(bench, 4, 3, shapes, TAPML_F32, tensors);
    const tapml_value values[] = {
        [TAPML_ATTENTION_Q] = {.kind = TAPML_P_TENSOR_IN, .u.p = &tensors[0]},
        [TAPML_ATTENTION_K_STATE] = {.kind = TAPML_P_TENSOR_IN, .u.p = &tensors[1]},
        [TAPML_ATTENTION_V_STATE] = {.kind = TAPML_P_TENSOR_IN, .u.p = &tensors[2]},
        [TAPML_ATTENTION_SLOPES] = {.kind = TAPML_P_TENSOR_IN, .u.p = NULL},
        [TAPML_ATTENTION_SINKS] = {.kind = TAPML_P_TENSOR_IN, .u.p = NULL},
        [TAPML_ATTENTION_KEY_MASK] = {.kind = TAPML_P_TENSOR_IN, .u.p = NULL},
        [TAPML_ATTENTION_POSITION] = {.kind = TAPML_P_I64, .u.i = rows - tokens},
        [TAPML_ATTENTION_SCALE] = {.kind = TAPML_P_F64, .u.d = 0.125},
        [TAPML_ATTENTION_CAUSAL] = {.kind = TAPML_P_I64, .u.i = 1},
        [TAPML_ATTENTION_WINDOW] = {.kind = TAPML_P_I64, .u.i = 0},
        [TAPML_ATTENTION_CHUNK] = {.kind = TAPML_P_I64, .u.i = 0},
        [TAPML_ATTENTION_SOFTCAP] = {.kind = TAPML_P_F64, .u.d = 0},
        [TAPML_ATTENTION_ALIBI_BF16] = {.kind = TAPML_P_I64, .u.i = 0},
        [TAPML_ATTENTION_Y] = {.kind = TAPML_P_TENSOR_OUT, .u.p = &tensors[3]},
    };
    const double spent = time_op((struct timed){bench, &tapml_attention, values, calls, 0});

    free_buffers(bench, 4);
    return spent;
}

static double time_small(struct bench *bench, uint32_t calls, int is_waited)
{
    const int64_t shapes[] = {16, 16, 16};
    tapml_tensor tensors[3];

    make_tensors(bench, 3, 1, shapes, TAPML_F32, tensors);
    const tapml_value values[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &tensors[0]},
                                  {.kind = TAPML_P_TENSOR_IN, .u.p = &tensors[1]},
                                  {.kind = TAPML_P_TENSOR_OUT, .u.p = &tensors[2]}};
    const double spent = time_op((struct timed){bench, &tapml_add, values, calls, is_waited});

    free_buffers(bench, 3);
    return spent;
}

// What is measured of a device.
struct figures {
    double copy_gbs, madd_gflops;         // Of plain kernels.
    double decode_gbs, decode_bf16_gbs;   // One row, weights of f32 and of bf16.
    double gemm_gflops, gemm_bf16_gflops; // Many rows.
    double attend_gbs, attend_gflops;     // One token, many tokens.
};

// How many times as long the sides of matrices are as on a CPU, at most 8: so that copying a matrix
// takes a quarter of a millisecond, which no cache of a fast device holds, nor a launch outweighs.
static uint32_t measure_copy(struct device *device, struct figures *figures)
{
    enum { COPIED = 4 << 20, SCALE_MAX = 8 };

    for (uint32_t scale = 1;; scale *= 2) {
        const uint32_t elements = COPIED * scale * scale;
        const double spent =
            time_kernel(device, "bench_copy", elements, elements / 4, elements / 4 / ITEMS);

        figures->copy_gbs = 2.0 * elements * 4 / spent;
        // The next weight of one row would have 16 times the elements of this copy.
        if (spent >= 250e3 || scale == SCALE_MAX ||
            16 * 4 * (uint64_t)elements > device->description.buffer_bytes) {
            return scale;
        }
    }
}

// What has choices: once as the device chooses, once with settings that are tried.
static void measure_ops(struct bench *bench, uint32_t scale, struct figures *figures)
{
    enum { SIDE = 1024, TOKENS = 128, ROWS = 4096 };
    const int64_t side = (int64_t)SIDE * scale, tokens = (int64_t)TOKENS * scale;
    const int64_t rows = (int64_t)ROWS * scale;
    const double weights = 4.0 * (double)side * (double)side;
    const double flops = 2.0 * (double)tokens * (double)side * (double)side;

    figures->decode_gbs = weights * 4 / time_linear(bench, 1, side, 4 * side, TAPML_F32, 10);
    figures->decode_bf16_gbs = weights * 2 / time_linear(bench, 1, side, 4 * side, TAPML_BF16, 10);
    figures->gemm_gflops = flops / time_linear(bench, tokens, side, side, TAPML_F32, 2);
    figures->gemm_bf16_gflops = flops / time_linear(bench, tokens, side, side, TAPML_BF16, 2);
    figures->attend_gbs =
        8.0 * (double)rows * HEADS * HEAD_WIDTH / time_attention(bench, 1, rows, 4);
    figures->attend_gflops = 4.0 * (double)tokens * (double)side * HEADS * HEAD_WIDTH /
                             time_attention(bench, tokens, side, 1);
}

static void print_ops(const struct figures *figures)
{
    (void)printf("\"decode_gbs\": %.3f, \"decode_bf16_gbs\": %.3f, \"attend_gbs\": %.3f, "
                 "\"gemm_gflops\": %.3f, \"gemm_bf16_gflops\": %.3f, \"attend_gflops\": %.3f",
                 figures->decode_gbs, figures->decode_bf16_gbs, figures->attend_gbs,
                 figures->gemm_gflops, figures->gemm_bf16_gflops, figures->attend_gflops);
}

// What was opened as `device`, which is closed.
static void run_device(struct device *device, struct plugin_options options, uint32_t trials)
{
    enum { ROUNDS = 2048, GROUPS = 256, CALLS = 1000 };
    struct figures found = {.copy_gbs = 0};
    const uint32_t scale = measure_copy(device, &found);
    const uint32_t groups = GROUPS * scale * scale;
    struct bench bench = {.plugin = NULL};
    struct figures tried = {.copy_gbs = 0};

    found.madd_gflops =
        64.0 * ROUNDS * groups * ITEMS /
        time_kernel(device, "bench_madd", 4 * (uint64_t)groups * ITEMS, ROUNDS, groups);
    device_close_all(device);
    options.device = device->description.id;
    check(plugin_open(&options, &bench.call, &bench.plugin), &bench.call, "plugin");
    measure_ops(&bench, scale, &found);
    (void)printf("{\"device\": \"%s\", \"scale\": %u, \"copy_gbs\": %.3f, \"madd_gflops\": %.3f, ",
                 device->description.id, scale, found.copy_gbs, found.madd_gflops);
    print_ops(&found);
    if (trials > 0) {
        bench.trials = trials;
        measure_ops(&bench, scale, &tried);
        bench.trials = 0;
        (void)printf(", \"best\": {");
        print_ops(&tried);
        (void)printf("}");
    }
    (void)printf(", \"queued_us\": %.2f, \"waited_us\": %.2f}\n",
                 time_small(&bench, CALLS, 0) * 1e-3, time_small(&bench, CALLS, 1) * 1e-3);
    (void)fflush(stdout);
    (void)plugin_close(bench.plugin); // Tests count what a plugin keeps.
}

// The options of TAPML_BENCH_OPTIONS, `key=value` each and spaces between them, in `list`, which
// ends with NULL: key, value, key, value. Its words are those of `text`, which is written to.
static void read_options(char *text, const char *list[OPTIONS_MAX + 1])
{
    uint32_t count = 0;
    char *next = NULL;

    for (char *word = strtok_r(text, " ", &next); word != NULL; word = strtok_r(NULL, " ", &next)) {
        char *value = strchr(word, '=');

        if (value == NULL || count == OPTIONS_MAX) {
            (void)fprintf(stderr, "TAPML_BENCH_OPTIONS: '%s' is not one of at most %d key=value\n",
                          word, OPTIONS_MAX / 2);
            exit(EXIT_FAILURE);
        }
        *value = '\0';
        list[count++] = word;
        list[count++] = value + 1;
    }
    list[count] = NULL;
}

int main(int argc, char **argv)
{
    const char *given = getenv("TAPML_BENCH_OPTIONS"), *trials = getenv("TAPML_BENCH_TRIALS");
    char *text = strdup(given != NULL ? given : "");
    const char *options[OPTIONS_MAX + 1];
    struct device device = {.ticket = 0};

    if (argc != 3 || text == NULL) {
        (void)fprintf(stderr, "usage: %s LIBRARY COMPONENT\n", argv[0]);
        return EXIT_FAILURE;
    }
    read_options(text, options);
    for (uint32_t index = 0; device_open_next(&device, index); index++) {
        run_device(
            &device,
            (struct plugin_options){.library = argv[1], .component = argv[2], .options = options},
            trials != NULL ? (uint32_t)strtoul(trials, NULL, 10) : 0);
        device = (struct device){.ticket = 0};
    }
    free(text);
    return EXIT_SUCCESS;
}
