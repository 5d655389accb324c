// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "compiled.h"
#include "exec/allowance.h"
#include "exec/executor.h"
#include "exec/session.h"

#include <string.h>

// The weight has 256 bytes, each slot 128 on a device.
enum { WEIGHT_BYTES = 256, SLOT_BYTES = 128, TOKENS = 2 };

static const struct affine_point point = {.value = {TOKENS, 0, TOKENS, CAPACITY}};
static const uint8_t on_gpu[OPS] = {GPU, GPU, GPU, GPU};

static struct executor *make_executor(struct fixture *fixture)
{
    struct executor *executor = NULL;
    const struct executor_options options = {.graph = &fixture->sketch.graph,
                                             .spaces = &fixture->spaces,
                                             .values = fixture->values,
                                             .bindings = fixture->bindings};
    cr_assert_eq(executor_create(&options, &executor), TAPML_OK);
    return executor;
}

static void run(struct fixture *fixture,
                struct executor *executor,
                const struct program *program,
                float *out_values)
{
    const uint32_t x = graph_find_value(&fixture->sketch.graph, GRAPH_INPUT, "x");
    const uint32_t y = graph_find_output(&fixture->sketch.graph, "y");
    const void *output = NULL;
    void *input = NULL;
    value_set_begin_call(fixture->values, &point);
    cr_assert_eq(value_input_memory(fixture->values, x, &input), TAPML_OK);
    for (int i = 0; i < TOKENS * WIDTH; i++) {
        ((float *)input)[i] = (float)i;
    }
    cr_assert_eq(executor_run(executor, program, &point), TAPML_OK, "%s", status_message());
    cr_assert_eq(value_memory(fixture->values, y, &output), TAPML_OK, "%s", status_message());
    memcpy(out_values, output, TOKENS * WIDTH * sizeof(float));
}

// The same values within all budgets from the least one on, and never a byte more on the device.
Test(allowance, is_never_exceeded)
{
    struct fixture fixture;
    float expected[TOKENS * WIDTH], found[TOKENS * WIDTH];
    uint64_t least = 0;
    open_fixture(&fixture);
    struct executor *plain = make_executor(&fixture);
    struct program *program = NULL;
    cr_assert_eq(compile(&fixture, (const uint8_t[OPS]){0}, 0, &program), TAPML_OK);
    cr_assert_eq(executor_adopt(plain, program), TAPML_OK);
    run(&fixture, plain, program, expected);
    program_destroy(program);
    executor_destroy(plain);
    close_fixture(&fixture);
    for (uint64_t budget = SLOT_BYTES; budget <= WEIGHT_BYTES + 6 * SLOT_BYTES;
         budget += SLOT_BYTES) {
        open_fixture(&fixture);
        fixture.spaces.places[GPU].budget_bytes = budget;
        struct executor *executor = make_executor(&fixture);
        cr_assert_eq(compile(&fixture, on_gpu, 0, &program), TAPML_OK);
        const tapml_status status = executor_adopt(executor, program);
        if (status == TAPML_OK) {
            least = least == 0 ? budget : least;
            for (int turn = 0; turn < 3; turn++) {
                run(&fixture, executor, program, found);
                cr_expect_arr_eq(found, expected, sizeof(expected), "%llu bytes",
                                 (unsigned long long)budget);
            }
            cr_expect_leq(late_counts(fixture.backends[GPU]).bytes_most, budget);
        } else {
            cr_expect_eq(status, TAPML_NO_MEMORY);
            cr_expect_eq(least, 0, "what fits fits into more");
        }
        executor_destroy(executor);
        program_destroy(program);
        close_fixture(&fixture);
    }
    // The product has the weight, what norm has computed, and its output.
    cr_expect_eq(least, WEIGHT_BYTES + 2 * SLOT_BYTES);
}

Test(allowance, refuses_in_a_sentence_what_can_never_run)
{
    struct fixture fixture;
    struct program *program = NULL;
    open_fixture(&fixture);
    fixture.spaces.places[GPU].budget_bytes = WEIGHT_BYTES + SLOT_BYTES;
    struct executor *executor = make_executor(&fixture);
    cr_assert_eq(compile(&fixture, on_gpu, 0, &program), TAPML_OK);
    cr_expect_eq(executor_adopt(executor, program), TAPML_NO_MEMORY);
    cr_expect_str_eq(status_message(),
                     "product on gpu needs 512 bytes at once, 256 of weights, 0 of states and 256 "
                     "of values: its budget is 384",
                     "%s", status_message());
    executor_destroy(executor);
    program_destroy(program);
    close_fixture(&fixture);
}

// A weight that has no room before its turn is loaded by the call.
Test(allowance, knows_what_has_room)
{
    struct fixture fixture;
    struct program *program = NULL;
    struct allowance *allowance = NULL;
    int is_freed = 1;
    open_fixture(&fixture);
    cr_assert_eq(compile(&fixture, on_gpu, 0, &program), TAPML_OK);
    const struct allowance_options options = {.graph = &fixture.sketch.graph,
                                              .spaces = &fixture.spaces,
                                              .values = fixture.values,
                                              .bindings = fixture.bindings};
    cr_assert_eq(allowance_create(&options, &allowance), TAPML_OK);
    cr_expect_eq(allowance_check(allowance, program), TAPML_OK);
    cr_expect_eq(allowance_admit(allowance, program, 0, &is_freed), TAPML_OK);
    cr_expect_eq(is_freed, 0);
    cr_expect(allowance_has_room(allowance, GPU, program->residents[0]), "there is no budget");
    fixture.spaces.places[GPU].budget_bytes = WEIGHT_BYTES - 1;
    cr_expect(!allowance_has_room(allowance, GPU, program->residents[0]));
    fixture.spaces.places[GPU].budget_bytes = WEIGHT_BYTES;
    cr_expect(allowance_has_room(allowance, GPU, program->residents[0]));
    fixture.spaces.places[GPU].budget_bytes = 0;
    allowance_destroy(allowance);
    allowance_destroy(NULL);
    program_destroy(program);
    close_fixture(&fixture);
}

// All weights have 1.7 MiB, the device gets 1.
Test(allowance, is_that_of_a_place_in_a_session)
{
    struct plugin_fixture plugins;
    struct places over;
    struct plan *plan = NULL;
    struct session *sessions[2] = {NULL, NULL};
    const int32_t ids[] = {5, 6, 7};
    const float *values[2] = {NULL, NULL};
    int64_t shape[TAPML_MAX_RANK];
    uint32_t rank = 0;
    plugin_fixture_open(&plugins);
    struct backend *source = plugin_fixture_backend(&plugins, "reference:f32");
    struct backend *backends[] = {source, late_create(&(struct late_options){.inner = source})};
    struct model *model = plugin_fixture_model(&plugins, "models/tiny");
    cr_assert_eq(plan_create(&plan), TAPML_OK);
    for (uint32_t i = 0; i < 2; i++) {
        const struct session_options options = {.model = model,
                                                .places =
                                                    places_over(&over, backends, names, i + 1),
                                                .place_count = i + 1,
                                                .plan = plan,
                                                .capacity = CAPACITY,
                                                .chunk = 4};
        over.items[i].settings.budget_mib = 1; // The source has no memory of its own.
        cr_assert_eq(session_create(&options, &sessions[i]), TAPML_OK, "%s", status_message());
        cr_assert_eq(session_begin(sessions[i], 0), TAPML_OK);
        cr_assert_eq(plan_add(plan, "* -> gpu", "here"), TAPML_OK);
    }
    for (int64_t count = 3; count > 0; count--) {
        for (int i = 0; i < 2; i++) {
            cr_assert_eq(session_step(sessions[i], ids, count, NULL, 0), TAPML_OK, "%s",
                         status_message());
            cr_assert_eq(session_output(sessions[i], "logits", &values[i], shape, &rank), TAPML_OK);
        }
        cr_expect_arr_eq(values[0], values[1], (size_t)(shape[0] * shape[1]) * sizeof(float));
    }
    cr_expect_leq(late_counts(backends[1]).bytes_most, 1 << 20);
    cr_expect_gt(late_counts(backends[1]).written_bytes, 3 << 20, "weights came again");
    session_destroy(sessions[1]);
    session_destroy(sessions[0]);
    plan_destroy(plan);
    model_close(model);
    backend_release(backends[1]);
    backend_release(source);
    plugin_fixture_close(&plugins);
}
