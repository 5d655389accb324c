// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What is it worth that ops are queued ahead? 200 ops on devices that take 2 ms to begin what they
// are given, and take other work meanwhile, against the same program whose host waits after each
// op, by turns: by a clock of which the devices' times alone are taken, and in real time, the least
// of several runs, which says more about a machine with other work. Then on a device that each op
// occupies for 2 ms, which nobody can gain. At last plans drawn by chance over three places with
// delays drawn by chance, 10,000 of them (with --short 500): bit for bit what a host computes that
// waits, within a budget for each device, and with the first of injected failures named. Exit
// status 1 if one of these promises is not kept, the gains by that clock.
#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "exec/compile.h"
#include "exec/executor.h"
#include "harness/drawn_plans.h"
#include "harness/late.h"
#include "harness/places.h"
#include "harness/sketch.h"
#include "harness/waiting.h"
#include "measure.h"

#include <tapml/ops.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    SOURCE,
    DEVICES = 3,
    PLACES = 1 + DEVICES,
    OPS = 200,
    TOKENS = 2,
    WIDTH = 8,
    OUTPUT_BYTES = TOKENS * WIDTH * (int)sizeof(float),
    CAPACITY = 64,
    DELAY_NS = 2000000,
    PLANS = 10000,
    PLANS_SHORT = 500,
    PLANS_SEED = 1,
    RUNS = 5 // Queued ahead in a round, which take little.
};

// Ops in chains, which end in sums on the source.
struct row {
    const char *name;
    uint32_t chains;
    uint32_t devices;  // That each chain changes between, op by op.
    uint32_t meetings; // Of each chain with the source, on its way; 0: none.
    int follows;       // Devices wait for each other.
    int is_occupied;   // The delay is a call's time on the device, not its way there.
    double least;      // Gain.
};

static const struct row rows[] = {
    {"latency, one device", 1, 1, 0, 0, 0, 50},
    {"latency, each op on the next of three devices", 1, DEVICES, 0, 1, 0, 50},
    {"latency, three chains on three devices", DEVICES, 1, 0, 0, 0, 50},
    {"latency, three chains that meet the source 10 times", DEVICES, 1, 10, 0, 0, 10},
    {"occupancy, one device", 1, 1, 0, 0, 1, 0.9},
};

static const char *const names[] = {"source", "one", "two", "three"};
static const struct affine_point point = {.value = {TOKENS, 0, TOKENS, CAPACITY}};

struct subject {
    struct late_clock *clock;
    struct backend *inner;
    struct backend *backends[PLACES];
    struct places places;
    struct space_set spaces;
    struct sketch sketch;
    char instances[OPS][16];
    uint8_t place_of[OPS];
    struct arena *arena;
    struct binding bindings[OPS];
    struct value_set *values;
    struct executor *executor;
    struct program *ahead, *waiting;
};

// -- The graph ------------------------------------------------------------------------------------

static uint32_t
add_op(struct subject *subject, const tapml_op *op, const uint32_t *in, uint8_t place)
{
    struct sketch *sketch = &subject->sketch;
    const uint32_t index = sketch->graph.op_count;
    char *name = subject->instances[index];

    (void)snprintf(name, sizeof(subject->instances[index]), "op.%u", index);
    const uint32_t out = sketch_value(sketch, GRAPH_COMPUTED, name, sketch_sum(0, 1), WIDTH);

    subject->place_of[index] = place;
    sketch_op(sketch, op, name,
              op == &tapml_silu ? (const uint32_t[]){in[0], out}
                                : (const uint32_t[]){in[0], in[1], out});
    return out;
}

// A chain after the other in the graph, as branches of a model are.
static void make_graph(struct subject *subject, const struct row *row)
{
    const uint32_t sums = row->chains - 1, length = (OPS - sums) / row->chains;
    struct sketch *sketch = &subject->sketch;
    uint32_t ends[DEVICES] = {0};

    sketch_init(sketch);
    const uint32_t x = sketch_value(sketch, GRAPH_INPUT, "x", sketch_sum(0, 1), WIDTH);

    for (uint32_t chain = 0; chain < row->chains; chain++) {
        uint32_t value = x;

        for (uint32_t i = 0; i < length + (chain == 0 ? (OPS - sums) % row->chains : 0); i++) {
            const int meets =
                row->meetings > 0 && i % (length / row->meetings) == length / row->meetings - 1;
            const uint32_t device = 1 + (row->devices > 1 ? i % row->devices : chain);

            value = add_op(subject, i % 2 ? &tapml_silu : &tapml_add, (const uint32_t[]){value, x},
                           meets ? SOURCE : (uint8_t)device);
        }
        ends[chain] = value;
    }
    for (uint32_t chain = 1; chain < row->chains; chain++) {
        ends[0] = add_op(subject, &tapml_add, (const uint32_t[]){ends[0], ends[chain]}, SOURCE);
    }
    sketch_output(sketch, "y", ends[0]);
}

// -- The places -----------------------------------------------------------------------------------

static tapml_status
open_places(struct subject *subject, struct registry *registry, const struct row *row)
{
    struct late_options options = {.clock = subject->clock,
                                   .latency_ns = row->is_occupied ? 0 : DELAY_NS,
                                   .busy_ns = row->is_occupied ? DELAY_NS : 0,
                                   .follows = row->follows};

    TAPML_TRY(registry_open(registry, "reference:f32", &subject->inner));
    TAPML_TRY(registry_open(registry, "reference:f32", &subject->backends[SOURCE]));
    options.inner = subject->inner;
    for (int i = 1; i < PLACES; i++) {
        subject->backends[i] = late_create(&options);
    }
    space_set_init(&subject->spaces,
                   places_over(&subject->places, subject->backends, names, PLACES), PLACES);
    subject->arena = arena_create();
    if (subject->arena == NULL) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < OPS; i++) {
        TAPML_TRY(binding_init(&subject->bindings[i], &subject->sketch.graph, i, subject->arena));
    }
    TAPML_TRY(value_set_create(&subject->sketch.graph, &subject->spaces, &point, &subject->values));
    return executor_create(&(struct executor_options){.graph = &subject->sketch.graph,
                                                      .spaces = &subject->spaces,
                                                      .values = subject->values,
                                                      .bindings = subject->bindings},
                           &subject->executor);
}

static tapml_status compile(struct subject *subject, int is_waiting, struct program **out_program)
{
    TAPML_TRY(compile_program(&(struct compile_options){.graph = &subject->sketch.graph,
                                                        .spaces = &subject->spaces,
                                                        .values = subject->values,
                                                        .bindings = subject->bindings,
                                                        .places = subject->place_of,
                                                        .point = point},
                              out_program));
    TAPML_TRY(is_waiting ? waiting_make(*out_program) : TAPML_OK);
    return executor_adopt(subject->executor, *out_program);
}

static void close_subject(struct subject *subject)
{
    (void)space_wait_all(&subject->spaces);
    program_destroy(subject->ahead);
    program_destroy(subject->waiting);
    executor_destroy(subject->executor);
    value_set_destroy(subject->values);
    space_set_release(&subject->spaces);
    arena_destroy(subject->arena);
    for (int i = 0; i < PLACES; i++) {
        backend_release(subject->backends[i]);
    }
    backend_release(subject->inner);
    late_clock_destroy(subject->clock);
    alloc_free(subject);
}

// -- The measurement ------------------------------------------------------------------------------

// Of one way to run: the least of several.
struct taken {
    double seconds;
    double processor; // Of them, what the host computed.
};

static uint64_t now_ns(const struct subject *subject, int is_real)
{
    return is_real ? clock_now_ns() : late_clock_ns(subject->clock);
}

// Takes the time until the output is in host memory.
static tapml_status time_run(struct subject *subject,
                             const struct program *program,
                             int is_real,
                             void *out_values,
                             struct taken *io_least)
{
    const struct graph *graph = &subject->sketch.graph;
    const uint64_t begin_ns = now_ns(subject, is_real);
    const clock_t begin = clock();
    void *input = NULL;
    const void *output = NULL;

    value_set_begin_call(subject->values, &point);
    TAPML_TRY(
        value_input_memory(subject->values, graph_find_value(graph, GRAPH_INPUT, "x"), &input));
    for (int i = 0; i < TOKENS * WIDTH; i++) {
        ((float *)input)[i] = (float)(i - WIDTH) / 16;
    }
    TAPML_TRY(executor_run(subject->executor, program, &point));
    TAPML_TRY(value_memory(subject->values, graph_find_output(graph, "y"), &output));
    io_least->seconds =
        fmin(io_least->seconds, (double)(now_ns(subject, is_real) - begin_ns) / 1e9);
    io_least->processor =
        fmin(io_least->processor, (double)(clock() - begin) / (double)CLOCKS_PER_SEC);
    memcpy(out_values, output, OUTPUT_BYTES);
    return TAPML_OK;
}

// Gives what waiting takes, and what queueing ahead takes.
static tapml_status take_turns(
    struct subject *subject, const struct row *row, int is_real, int64_t rounds, struct taken *out)
{
    unsigned char expected[OUTPUT_BYTES], found[OUTPUT_BYTES];

    out[0] = out[1] = (struct taken){INFINITY, INFINITY};
    for (int64_t round = 0; round < rounds; round++) {
        TAPML_TRY(time_run(subject, subject->waiting, is_real, expected, &out[0]));
        for (int i = 0; i < RUNS; i++) {
            TAPML_TRY(time_run(subject, subject->ahead, is_real, found, &out[1]));
        }
        if (memcmp(expected, found, sizeof(found)) != 0) {
            return status_fail(TAPML_INTERNAL, "%s: queued ahead, the results differ", row->name);
        }
    }
    return TAPML_OK;
}

// Whether a row keeps its promise.
static tapml_status judge(const struct row *row, const struct taken *taken)
{
    const double gain = taken[0].seconds / taken[1].seconds;

    if (gain < row->least) {
        return status_fail(TAPML_INTERNAL, "%s: expected a gain of at least %g, found %.3g",
                           row->name, row->least, gain);
    }
    // What the device itself takes can be gained by nobody.
    if (row->is_occupied && taken[1].seconds < (double)OPS * DELAY_NS / 1e9) {
        return status_fail(TAPML_INTERNAL, "%s: %.4g s are less than those of the ops", row->name,
                           taken[1].seconds);
    }
    return TAPML_OK;
}

static tapml_status run_row(struct measure *measure, const struct row *row, int is_real)
{
    struct subject *subject = alloc_new(sizeof(*subject));
    struct taken taken[2] = {{0}};

    if (subject == NULL) {
        return status_no_memory();
    }
    subject->clock = late_clock_create(is_real);
    make_graph(subject, row);
    tapml_status status = open_places(subject, measure->setup.registry, row);

    status = status == TAPML_OK ? compile(subject, 0, &subject->ahead) : status;
    status = status == TAPML_OK ? compile(subject, 1, &subject->waiting) : status;
    status = status == TAPML_OK
                 ? take_turns(subject, row, is_real, is_real ? measure->rounds : 1, taken)
                 : status;
    close_subject(subject);
    TAPML_TRY(status);
    measure_print(measure, is_real ? "  in real time" : row->name,
                  taken[0].seconds / taken[1].seconds, "times");
    if (is_real) {
        measure_print(measure, "  waiting after each op", taken[0].seconds * 1e3, "ms");
        measure_print(measure, "  queued ahead", taken[1].seconds * 1e3, "ms");
        measure_print(measure, "  of that the processor's", taken[1].processor * 1e3, "ms");
    }
    return is_real ? TAPML_OK : judge(row, taken);
}

static tapml_status draw_plans(struct measure *measure)
{
    const int is_short = options_get(&measure->options, "--short") != NULL;
    struct backend *backends[2] = {NULL, NULL};
    struct drawn_figures figures = {0};

    TAPML_TRY(registry_open(measure->setup.registry, "reference:f32", &backends[0]));
    tapml_status status = registry_open(measure->setup.registry, "reference:f32", &backends[1]);

    for (uint64_t i = 0; status == TAPML_OK && i < (is_short ? PLANS_SHORT : PLANS); i++) {
        status = drawn_plans_try(backends[0], backends[1], PLANS_SEED + i, &figures);
    }
    backend_release(backends[1]);
    backend_release(backends[0]);
    TAPML_TRY(status);
    measure_print(measure, "plans drawn by chance, the same bits", (double)figures.plans, "");
    measure_print(measure, "  ops", (double)figures.ops, "");
    measure_print(measure, "  their delays alone, waiting / ahead",
                  (double)figures.waited_ns / (double)figures.ahead_ns, "times");
    measure_print(measure, "  budgets held", (double)figures.budgets, "");
    measure_print(measure, "  the largest peak, of its budget", figures.most_of, "");
    measure_print(measure, "  runs with failures, the first one named", (double)figures.failing,
                  "");
    measure_print(measure, "  of these with several", (double)figures.several, "");
    measure_print(measure, "  outputs beside them, right", (double)figures.good, "");
    return TAPML_OK;
}

int main(int argc, char **argv)
{
    struct measure measure;
    tapml_status status = measure_begin(argc, argv, &measure), failure = TAPML_OK;

    for (size_t i = 0; status == TAPML_OK && i < sizeof(rows) / sizeof(*rows); i++) {
        for (int is_real = 0; is_real < 2; is_real++) {
            const tapml_status here = run_row(&measure, &rows[i], is_real);

            if (here != TAPML_OK) {
                (void)fprintf(stderr, "%s\n", status_message());
                failure = here;
            }
        }
    }
    if (status == TAPML_OK) {
        status = draw_plans(&measure);
    }
    const int exit_code = measure_end(&measure, status);

    return failure == TAPML_OK ? exit_code : 1;
}
