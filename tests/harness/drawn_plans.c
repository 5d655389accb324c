// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/drawn_plans.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/random.h"
#include "exec/compile.h"
#include "exec/executor.h"
#include "harness/late.h"
#include "harness/places.h"
#include "harness/sketch.h"
#include "harness/waiting.h"

#include <tapml/ops.h>

#include <stdio.h>
#include <string.h>

enum {
    PLACES = 3,
    TOKENS = 2,
    WIDTH = 8,
    CAPACITY = 64,
    OPS_MAX = 24,
    WEIGHTS = 4,
    OUTPUTS_MAX = 4,
    FAILING_MAX = 3,
    DELAY_NS_MAX = 5000000,
    VALUES = TOKENS * WIDTH,
    SPARE_WIDTH = VALUE_SPARE_BYTES / (int)sizeof(float) / TOKENS
};

static const char *const names[] = {"source", "one", "two"};
static const struct affine_point point = {.value = {TOKENS, 0, TOKENS, CAPACITY}};

// What is drawn.
struct drawing {
    uint64_t seed;
    struct random random;
    struct sketch sketch;
    char instances[OPS_MAX][16];
    float weights[WEIGHTS][WIDTH * WIDTH];
    uint32_t computed[OPS_MAX + 1]; // Values, the input first.
    uint32_t op_count, output_count;
    uint8_t places[OPS_MAX];
    struct late_options options[PLACES]; // Of devices.
    int has_late_source;
    float shift; // Of the input.
};

// The places of a run, new for each.
struct stand {
    struct late_clock *clock;
    struct backend *backends[PLACES];
    struct places over;
    struct space_set spaces;
    struct arena *arena;
    struct binding bindings[OPS_MAX];
    struct residency *weights[PLACES];
    struct value_set *values;
    struct executor *executor;
    struct program *program;
};

struct results {
    float outputs[OUTPUTS_MAX][VALUES];
};

// -- Drawing -------------------------------------------------------------------------------------

static uint32_t draw_value(struct drawing *drawing)
{
    // Late ones more often, so that graphs are deep and branch.
    const uint64_t near = random_below(&drawing->random, 3);
    const uint64_t span = near > 0 && drawing->op_count >= 3 ? 3 : drawing->op_count + 1;
    return drawing->computed[drawing->op_count - random_below(&drawing->random, span)];
}

static void draw_op(struct drawing *drawing, const uint32_t *weights)
{
    struct sketch *sketch = &drawing->sketch;
    char *name = drawing->instances[drawing->op_count];
    const uint32_t a = draw_value(drawing), b = draw_value(drawing);
    const uint32_t w = weights[random_below(&drawing->random, WEIGHTS)];
    (void)snprintf(name, sizeof(drawing->instances[0]), "op.%u", drawing->op_count);
    const uint32_t y = sketch_value(sketch, GRAPH_COMPUTED, name, sketch_sum(0, 1), WIDTH);
    switch (random_below(&drawing->random, 3)) {
    case 0:
        sketch_op(sketch, &tapml_silu, name, (const uint32_t[]){a, y});
        break;
    case 1:
        sketch_op(sketch, &tapml_linear, name, (const uint32_t[]){a, w, GRAPH_NONE, y});
        break;
    default:
        sketch_op(sketch, &tapml_sub, name, (const uint32_t[]){a, b, y});
    }
    drawing->places[drawing->op_count] = (uint8_t)random_below(&drawing->random, PLACES);
    drawing->computed[++drawing->op_count] = y;
}

static void draw_graph(struct drawing *drawing)
{
    static const char *const weight_names[WEIGHTS] = {"w.0", "w.1", "w.2", "w.3"};
    struct sketch *sketch = &drawing->sketch;
    const uint32_t count = 3 + (uint32_t)random_below(&drawing->random, OPS_MAX - 2);
    uint32_t weights[WEIGHTS], spare = GRAPH_NONE;
    sketch_init(sketch);
    if (random_below(&drawing->random, 2) == 0) {
        spare = sketch_value(sketch, GRAPH_INPUT, "spare", sketch_sum(0, 1), SPARE_WIDTH);
    }
    drawing->computed[0] = sketch_value(sketch, GRAPH_INPUT, "x", sketch_sum(0, 1), WIDTH);
    for (uint32_t i = 0; i < WEIGHTS; i++) {
        weights[i] =
            sketch_value(sketch, GRAPH_WEIGHT, weight_names[i], sketch_sum(WIDTH, 0), WIDTH);
        sketch->values[weights[i]].data = drawing->weights[i];
        for (uint32_t k = 0; k < WIDTH * WIDTH; k++) {
            drawing->weights[i][k] = (float)random_between(&drawing->random, -0.5, 0.5);
        }
    }
    while (drawing->op_count < count) {
        draw_op(drawing, weights);
    }
    sketch_output(sketch, "y.0", drawing->computed[count]);
    static const char *const more[] = {"y.1", "y.2", "y.3"};
    for (uint64_t i = random_below(&drawing->random, OUTPUTS_MAX); i > 0; i--) {
        sketch_output(sketch, more[i - 1],
                      drawing->computed[1 + random_below(&drawing->random, count)]);
    }
    drawing->output_count = sketch->graph.output_count;
    if (spare != GRAPH_NONE) { // Nobody fills or reads it, and all others share their slots.
        sketch_output(sketch, "spare", spare);
    }
}

static uint64_t draw_ns(struct drawing *drawing)
{
    return random_below(&drawing->random, 3) == 0 ? 0
                                                  : random_below(&drawing->random, DELAY_NS_MAX);
}

static void draw(struct drawing *drawing, uint64_t seed)
{
    drawing->seed = seed;
    random_init(&drawing->random, seed);
    draw_graph(drawing);
    const int follows = (int)random_below(&drawing->random, 2);
    drawing->has_late_source = random_below(&drawing->random, 4) == 0;
    for (uint32_t i = 0; i < PLACES; i++) {
        drawing->options[i] = (struct late_options){.latency_ns = draw_ns(drawing),
                                                    .busy_ns = draw_ns(drawing),
                                                    .jitter_ns = draw_ns(drawing),
                                                    .seed = random_u64(&drawing->random),
                                                    .follows = follows};
    }
}

// -- Running -------------------------------------------------------------------------------------

static void open_backends(struct stand *stand,
                          const struct drawing *drawing,
                          struct backend *source,
                          struct backend *inner)
{
    stand->clock = late_clock_create(0);
    for (uint32_t i = 0; i < PLACES; i++) {
        struct late_options options = drawing->options[i];
        options.clock = stand->clock;
        options.inner = inner;
        stand->backends[i] = i > 0 || drawing->has_late_source ? late_create(&options) : source;
    }
}

static tapml_status make_parts(struct stand *stand, struct drawing *drawing)
{
    const struct graph *graph = &drawing->sketch.graph;
    stand->arena = arena_create();
    if (!stand->arena) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < drawing->op_count; i++) {
        TAPML_TRY(binding_init(&stand->bindings[i], graph, i, stand->arena));
    }
    for (uint32_t i = 0; i < PLACES; i++) {
        TAPML_TRY(residency_create(stand->backends[i], &stand->weights[i]));
        stand->spaces.places[i].weights = stand->weights[i];
    }
    TAPML_TRY(value_set_create(graph, &stand->spaces, &point, &stand->values));
    return executor_create(&(struct executor_options){.graph = graph,
                                                      .spaces = &stand->spaces,
                                                      .values = stand->values,
                                                      .bindings = stand->bindings},
                           &stand->executor);
}

static tapml_status open_stand(struct stand *stand,
                               struct drawing *drawing,
                               struct backend *source,
                               struct backend *inner,
                               const uint64_t *budgets)
{
    *stand = (struct stand){.clock = NULL};
    open_backends(stand, drawing, source, inner);
    space_set_init(&stand->spaces, places_over(&stand->over, stand->backends, names, PLACES),
                   PLACES);
    for (uint32_t i = 0; budgets && i < PLACES; i++) {
        stand->spaces.places[i].budget_bytes = budgets[i];
    }
    return make_parts(stand, drawing);
}

static void close_stand(struct stand *stand, struct backend *source)
{
    (void)space_wait_all(&stand->spaces);
    program_destroy(stand->program);
    executor_destroy(stand->executor);
    value_set_destroy(stand->values);
    space_set_release(&stand->spaces);
    arena_destroy(stand->arena);
    for (uint32_t i = 0; i < PLACES; i++) {
        residency_destroy(stand->weights[i]);
        if (stand->backends[i] != source) {
            backend_release(stand->backends[i]);
        }
    }
    late_clock_destroy(stand->clock);
}

static tapml_status
compile(struct stand *stand, struct drawing *drawing, const uint8_t *places, int is_waiting)
{
    const struct compile_options options = {.graph = &drawing->sketch.graph,
                                            .spaces = &stand->spaces,
                                            .values = stand->values,
                                            .bindings = stand->bindings,
                                            .places = places,
                                            .point = point};
    program_destroy(stand->program);
    stand->program = NULL;
    TAPML_TRY(compile_program(&options, &stand->program));
    TAPML_TRY(is_waiting ? waiting_make(stand->program) : TAPML_OK);
    return executor_adopt(stand->executor, stand->program);
}

static tapml_status run(struct stand *stand, struct drawing *drawing)
{
    void *input = NULL;
    value_set_begin_call(stand->values, &point);
    TAPML_TRY(value_input_memory(stand->values, drawing->computed[0], &input));
    for (int i = 0; i < VALUES; i++) {
        ((float *)input)[i] = (float)(i - WIDTH) / 8 + (float)(drawing->seed % 7) + drawing->shift;
    }
    return executor_run(stand->executor, stand->program, &point);
}

static tapml_status
read_output(struct stand *stand, const struct graph *graph, uint32_t i, float *out)
{
    const void *memory = NULL;
    const tapml_status status = value_memory(stand->values, graph->outputs[i].value, &memory);
    if (status != TAPML_OK) {
        return executor_settle(stand->executor, status);
    }
    memcpy(out, memory, VALUES * sizeof(float));
    return TAPML_OK;
}

static tapml_status run_and_read(struct stand *stand, struct drawing *drawing, struct results *out)
{
    const struct graph *graph = &drawing->sketch.graph;
    memset(out, 0, sizeof(*out));
    TAPML_TRY(run(stand, drawing));
    for (uint32_t i = 0; i < drawing->output_count; i++) {
        TAPML_TRY(read_output(stand, graph, i, out->outputs[i]));
    }
    return TAPML_OK;
}

static tapml_status fail(const struct drawing *drawing, const char *what)
{
    return status_fail(TAPML_INTERNAL, "plan %llu: %s", (unsigned long long)drawing->seed, what);
}

static tapml_status compare(const struct drawing *drawing,
                            const struct results *a,
                            const struct results *b,
                            const char *what)
{
    return memcmp(a, b, sizeof(*a)) == 0 ? TAPML_OK : fail(drawing, what);
}

// -- Trials --------------------------------------------------------------------------------------

// What the source computes alone, and the same with waits.
static tapml_status try_waiting(struct stand *stand,
                                struct drawing *drawing,
                                struct results *out_expected,
                                struct drawn_figures *figures)
{
    static const uint8_t on_source[OPS_MAX];
    struct results found;
    TAPML_TRY(compile(stand, drawing, on_source, 0));
    TAPML_TRY(run_and_read(stand, drawing, out_expected));
    TAPML_TRY(compile(stand, drawing, drawing->places, 1));
    const uint64_t begin_ns = late_clock_ns(stand->clock);
    TAPML_TRY(run_and_read(stand, drawing, &found));
    figures->waited_ns += late_clock_ns(stand->clock) - begin_ns;
    return compare(drawing, out_expected, &found, "with waits it differs from the source alone");
}

// With other numbers: whoever reads too early later on reads these.
static tapml_status run_aside(struct stand *stand, struct drawing *drawing)
{
    drawing->shift = 1;
    const tapml_status status = run(stand, drawing);
    drawing->shift = 0;
    return status;
}

// Twice, since what the first run has queued may still be read when the second one begins.
static tapml_status try_ahead(struct stand *stand,
                              struct drawing *drawing,
                              const struct results *expected,
                              struct drawn_figures *figures)
{
    struct results found;
    TAPML_TRY(compile(stand, drawing, drawing->places, 0));
    const uint64_t begin_ns = late_clock_ns(stand->clock);
    TAPML_TRY(run_and_read(stand, drawing, &found));
    figures->ahead_ns += late_clock_ns(stand->clock) - begin_ns;
    TAPML_TRY(compare(drawing, expected, &found, "queued ahead it differs"));
    TAPML_TRY(run_aside(stand, drawing));
    TAPML_TRY(run_and_read(stand, drawing, &found));
    return compare(drawing, expected, &found, "behind a run that nobody read it differs");
}

// Runs under budgets, or says that it was refused.
static tapml_status run_budgeted(struct stand *stand,
                                 struct drawing *drawing,
                                 const uint64_t *budgets,
                                 const struct results *expected,
                                 struct drawn_figures *figures,
                                 int *out_is_refused)
{
    struct results found;
    const tapml_status status = compile(stand, drawing, drawing->places, 0);
    *out_is_refused = status == TAPML_NO_MEMORY && strstr(status_message(), "its budget is");
    if (status != TAPML_OK) {
        return *out_is_refused ? TAPML_OK : status;
    }
    for (int turn = 0; turn < 2; turn++) {
        TAPML_TRY(run_and_read(stand, drawing, &found));
        TAPML_TRY(compare(drawing, expected, &found, "within budgets it differs"));
    }
    for (uint32_t i = 0; i < PLACES; i++) {
        if (budgets[i] > 0 && (i > 0 || drawing->has_late_source)) {
            const uint64_t most = late_counts(stand->backends[i]).bytes_most;
            const double of = (double)most / (double)budgets[i];
            figures->most_of = of > figures->most_of ? of : figures->most_of;
            figures->budgets++;
            TAPML_TRY(most <= budgets[i] ? TAPML_OK : fail(drawing, "a device is over its budget"));
        }
    }
    return TAPML_OK;
}

// Budgets from a part of what is taken without any, and more until the program fits.
static tapml_status try_budgets(struct backend *source,
                                struct backend *inner,
                                struct drawing *drawing,
                                const uint64_t *most,
                                const struct results *expected,
                                struct drawn_figures *figures)
{
    struct stand stand;
    uint64_t budgets[PLACES];
    int is_refused = 1;
    for (uint64_t percent = 20 + random_below(&drawing->random, 60); is_refused; percent += 10) {
        for (uint32_t i = 0; i < PLACES; i++) {
            budgets[i] = most[i] * percent / 100;
        }
        tapml_status status = open_stand(&stand, drawing, source, inner, budgets);
        if (status == TAPML_OK) {
            status = run_budgeted(&stand, drawing, budgets, expected, figures, &is_refused);
        }
        close_stand(&stand, source);
        TAPML_TRY(status);
        TAPML_TRY(is_refused && percent > 100 ? fail(drawing, "its own bytes are refused")
                                              : TAPML_OK);
        figures->refused += (uint64_t)is_refused;
    }
    return TAPML_OK;
}

// What does not depend on a failure is right.
static tapml_status check_good(struct stand *stand,
                               const struct drawing *drawing,
                               const struct results *expected,
                               struct drawn_figures *figures)
{
    const struct graph *graph = &drawing->sketch.graph;
    for (uint32_t i = 0; i < drawing->output_count; i++) {
        const uint32_t value = graph->outputs[i].value;
        float found[VALUES];
        int is_poisoned = 0;
        for (uint32_t place = 0; place <= PLACES; place++) {
            const uint32_t at = place < PLACES ? place : SPACE_NO_PLACE;
            is_poisoned = is_poisoned || executor_is_poisoned(stand->executor, value, at);
        }
        if (is_poisoned) {
            continue;
        }
        TAPML_TRY(read_output(stand, graph, i, found));
        TAPML_TRY(memcmp(found, expected->outputs[i], sizeof(found)) == 0
                      ? TAPML_OK
                      : fail(drawing, "an output that depends on no failure is wrong"));
        figures->good++;
    }
    return TAPML_OK;
}

static tapml_status check_cause(const struct drawing *drawing, uint32_t first)
{
    char expected[64];
    (void)snprintf(expected, sizeof(expected), "op.%u (%s) on %s: ", first,
                   drawing->sketch.ops[first].op->name, names[drawing->places[first]]);
    return strncmp(status_message(), expected, strlen(expected)) == 0
               ? TAPML_OK
               : status_fail(TAPML_INTERNAL, "plan %llu: expected '%s', found '%s'",
                             (unsigned long long)drawing->seed, expected, status_message());
}

static tapml_status try_failures(struct stand *stand,
                                 struct drawing *drawing,
                                 const struct results *expected,
                                 struct drawn_figures *figures)
{
    const char *failing[FAILING_MAX];
    const uint32_t count = 1 + (uint32_t)random_below(&drawing->random, FAILING_MAX);
    uint32_t first = UINT32_MAX, found_count = 0;
    struct results found;
    TAPML_TRY(run_aside(stand, drawing));
    TAPML_TRY(space_wait_all(&stand->spaces)); // What nobody has read fails no more.
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t op = (uint32_t)random_below(&drawing->random, drawing->op_count);
        if (drawing->places[op] > 0 || drawing->has_late_source) {
            first = op < first ? op : first;
            failing[found_count++] = drawing->instances[op];
        }
    }
    for (uint32_t i = 0; i < PLACES; i++) {
        if (stand->backends[i] && (i > 0 || drawing->has_late_source)) {
            late_fail_at(stand->backends[i], failing, found_count,
                         (int)random_below(&drawing->random, 2));
        }
    }
    if (found_count == 0) {
        return TAPML_OK;
    }
    figures->failing++;
    figures->several += found_count > 1;
    const tapml_status status = run_and_read(stand, drawing, &found);
    // The failed op may have no reader: then its place is heard of when it is waited for.
    tapml_status waited = status == TAPML_OK ? space_wait_all(&stand->spaces) : status;
    if (status == TAPML_OK && waited != TAPML_OK) {
        waited = executor_settle(stand->executor, waited);
    }
    if (waited == TAPML_OK) {
        return fail(drawing, "a failure was lost");
    }
    TAPML_TRY(check_cause(drawing, first));
    TAPML_TRY(check_good(stand, drawing, expected, figures));
    for (uint32_t i = 0; i < PLACES; i++) {
        if (i > 0 || drawing->has_late_source) {
            late_fail_at(stand->backends[i], NULL, 0, 0);
        }
    }
    TAPML_TRY(run_and_read(stand, drawing, &found));
    return compare(drawing, expected, &found, "behind a failure it differs");
}

static tapml_status try_all(struct stand *stand,
                            struct drawing *drawing,
                            struct results *out_expected,
                            struct drawn_figures *figures)
{
    TAPML_TRY(try_waiting(stand, drawing, out_expected, figures));
    TAPML_TRY(try_ahead(stand, drawing, out_expected, figures));
    return try_failures(stand, drawing, out_expected, figures);
}

tapml_status drawn_plans_try(struct backend *source,
                             struct backend *inner,
                             uint64_t seed,
                             struct drawn_figures *io_figures)
{
    struct drawing *drawing = alloc_new(sizeof(*drawing));
    struct stand stand;
    struct results expected;
    uint64_t most[PLACES] = {0};
    if (!drawing) {
        return status_no_memory();
    }
    draw(drawing, seed);
    tapml_status status = open_stand(&stand, drawing, source, inner, NULL);
    if (status == TAPML_OK) {
        status = try_all(&stand, drawing, &expected, io_figures);
    }
    for (uint32_t i = 0; i < PLACES; i++) {
        const int is_late = i > 0 || drawing->has_late_source;
        most[i] = is_late ? late_counts(stand.backends[i]).bytes_most : 0;
    }
    close_stand(&stand, source);
    if (status == TAPML_OK) {
        status = try_budgets(source, inner, drawing, most, &expected, io_figures);
    }
    io_figures->plans++;
    io_figures->ops += drawing->op_count;
    alloc_free(drawing);
    return status;
}
