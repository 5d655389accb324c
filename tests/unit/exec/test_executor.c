// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "compiled.h"
#include "exec/executor.h"

#include <string.h>

enum { TOKENS = 2 };

static const struct affine_point point = {.value = {TOKENS, 0, TOKENS, CAPACITY}};

static struct executor *make_executor(struct fixture *fixture)
{
    struct executor *executor = NULL;
    const struct executor_options options = {
        .graph = &fixture->sketch.graph,
        .spaces = &fixture->spaces,
        .values = fixture->values,
        .bindings = fixture->bindings,
    };
    cr_assert_eq(executor_create(&options, &executor), TAPML_OK);
    return executor;
}

// Runs a program for inputs that begin with `first`, and gives the output.
static void run(struct fixture *fixture,
                struct executor *executor,
                const struct program *program,
                float first,
                float *out_values)
{
    const uint32_t x = graph_find_value(&fixture->sketch.graph, GRAPH_INPUT, "x");
    const uint32_t y = graph_find_output(&fixture->sketch.graph, "y");
    const void *output = NULL;
    void *input = NULL;
    value_set_begin_call(fixture->values, &point);
    cr_assert_eq(value_input_memory(fixture->values, x, &input), TAPML_OK);
    for (int i = 0; i < TOKENS * WIDTH; i++) {
        ((float *)input)[i] = first + (float)i;
    }
    cr_assert_eq(executor_run(executor, program, &point), TAPML_OK, "%s", status_message());
    cr_assert_eq(value_memory(fixture->values, y, &output), TAPML_OK, "%s", status_message());
    memcpy(out_values, output, TOKENS * WIDTH * sizeof(float));
}

// All ways through three places, twice each, against the source alone; with all weights kept, and
// with none.
Test(executor, computes_the_same_on_all_places)
{
    struct fixture fixture;
    float expected[TOKENS * WIDTH], found[TOKENS * WIDTH];
    struct program *plain = NULL;
    open_fixture(&fixture);
    struct executor *executor = make_executor(&fixture);
    cr_assert_eq(compile(&fixture, (const uint8_t[OPS]){0}, 0, &plain), TAPML_OK);
    cr_assert_eq(executor_adopt(executor, plain), TAPML_OK);
    for (uint32_t way = 0; way < PLACES * PLACES * PLACES * PLACES; way++) {
        const uint8_t places[OPS] = {(uint8_t)(way % PLACES), (uint8_t)(way / PLACES % PLACES),
                                     (uint8_t)(way / PLACES / PLACES % PLACES),
                                     (uint8_t)(way / PLACES / PLACES / PLACES)};
        struct program *program = NULL;
        cr_assert_eq(compile(&fixture, places, way % 2, &program), TAPML_OK);
        cr_assert_eq(executor_adopt(executor, program), TAPML_OK);
        for (int turn = 0; turn < 2; turn++) {
            const float first = (float)way + (float)turn;
            run(&fixture, executor, program, first, found);
            run(&fixture, executor, plain, first, expected);
            cr_assert_arr_eq(found, expected, sizeof(expected), "way %u", way);
        }
        program_destroy(program);
    }
    cr_expect_eq(executor_calls(executor, 0, GPU), 2 * PLACES * PLACES * PLACES);
    program_destroy(plain);
    executor_destroy(executor);
    executor_destroy(NULL);
    close_fixture(&fixture);
}

// A second run of a program binds nothing anew and allocates nothing.
Test(executor, allocates_nothing_once_it_runs)
{
    struct fixture fixture;
    float found[TOKENS * WIDTH];
    struct program *program = NULL;
    open_fixture(&fixture);
    struct executor *executor = make_executor(&fixture);
    cr_assert_eq(compile(&fixture, (const uint8_t[OPS]){0}, 0, &program), TAPML_OK);
    cr_assert_eq(executor_adopt(executor, program), TAPML_OK);
    run(&fixture, executor, program, 1, found);
    const size_t made = alloc_made();
    for (int i = 0; i < 3; i++) {
        run(&fixture, executor, program, (float)i, found);
    }
    cr_expect_eq(alloc_made(), made);
    program_destroy(program);
    executor_destroy(executor);
    close_fixture(&fixture);
}

// A weight that is released lies on the device while its op runs, and not behind it.
Test(executor, releases_weights)
{
    struct fixture fixture;
    float found[TOKENS * WIDTH];
    struct program *program = NULL;
    open_fixture(&fixture);
    struct executor *executor = make_executor(&fixture);
    cr_assert_eq(compile(&fixture, (const uint8_t[]){SOURCE, GPU, SOURCE, SOURCE}, 1, &program),
                 TAPML_OK);
    cr_assert_eq(executor_adopt(executor, program), TAPML_OK);
    run(&fixture, executor, program, 1, found);
    const struct late_counts first = late_counts(fixture.backends[GPU]);
    run(&fixture, executor, program, 1, found);
    const struct late_counts second = late_counts(fixture.backends[GPU]);
    cr_expect_eq(second.writes, 2 * first.writes);
    cr_expect_eq(second.buffers_alive, first.buffers_alive, "slots alone");
    cr_expect_null(program->residents[0]->tensor);
    program_destroy(program);
    executor_destroy(executor);
    close_fixture(&fixture);
}
