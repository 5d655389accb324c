// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "compiled.h"
#include "exec/aftermath.h"
#include "harness/scratch.h"

// norm -> product -> act -> sum, of which sum reads norm, too.
enum { NORM, PRODUCT, ACT, SUM };

static struct aftermath *make(struct fixture *fixture)
{
    struct aftermath *aftermath = NULL;
    const struct aftermath_options options = {
        .graph = &fixture->sketch.graph, .spaces = &fixture->spaces, .bindings = fixture->bindings};
    cr_assert_eq(aftermath_create(&options, &aftermath), TAPML_OK);
    aftermath_begin(aftermath);
    return aftermath;
}

static uint32_t step_of(const struct program *program, enum step_kind kind, uint32_t nth)
{
    uint32_t i = 0;
    while (program->steps[i].kind != kind || nth-- > 0) {
        cr_assert_lt(++i, program->step_count);
    }
    return i;
}

static int is_poisoned(const struct aftermath *aftermath, struct fixture *fixture, const char *name)
{
    for (uint32_t v = 0; v < fixture->sketch.graph.value_count; v++) {
        if (strcmp(fixture->sketch.values[v].name, name) == 0) {
            return aftermath_is_poisoned(aftermath, v, GPU) ||
                   aftermath_is_poisoned(aftermath, v, SPACE_NO_PLACE);
        }
    }
    return -1;
}

Test(aftermath, poison_what_depends_on_them_and_nothing_else)
{
    struct fixture fixture;
    struct program *program = NULL;
    open_fixture(&fixture);
    cr_assert_eq(compile(&fixture, (const uint8_t[OPS]){NPU, GPU, NPU, SOURCE}, 0, &program),
                 TAPML_OK);
    struct aftermath *aftermath = make(&fixture);
    cr_expect(!aftermath_any(aftermath));
    cr_expect_eq(aftermath_status(aftermath), TAPML_OK);
    (void)status_fail(TAPML_INTERNAL, "on gpu: linear at 'product': too hot");
    cr_expect(
        aftermath_note(aftermath, program, program->step_count, GPU, GRAPH_NONE, TAPML_INTERNAL));
    cr_expect(aftermath_any(aftermath));
    cr_expect_eq(is_poisoned(aftermath, &fixture, "norm"), 0);
    cr_expect_eq(is_poisoned(aftermath, &fixture, "product"), 1);
    cr_expect_eq(is_poisoned(aftermath, &fixture, "act"), 1);
    cr_expect_eq(is_poisoned(aftermath, &fixture, "sum"), 1);
    cr_expect(!aftermath_skip(aftermath, program, step_of(program, STEP_CALL, NORM)));
    cr_expect(aftermath_skip(aftermath, program, step_of(program, STEP_CALL, PRODUCT)));
    cr_expect(aftermath_skip(aftermath, program, step_of(program, STEP_CALL, SUM)));
    cr_expect_eq(aftermath_status(aftermath), TAPML_INTERNAL);
    cr_expect_str_eq(status_message(),
                     "product (tapml.linear) on gpu: linear at 'product': too hot");
    aftermath_begin(aftermath);
    cr_expect(!aftermath_any(aftermath));
    cr_expect_eq(is_poisoned(aftermath, &fixture, "sum"), 0);
    aftermath_destroy(aftermath);
    aftermath_destroy(NULL);
    program_destroy(program);
    close_fixture(&fixture);
}

// Heard of last, it stands first in the graph; what a queue has lost besides counts no more.
Test(aftermath, name_the_first_op_of_the_graph)
{
    struct fixture fixture;
    struct program *program = NULL;
    open_fixture(&fixture);
    cr_assert_eq(compile(&fixture, (const uint8_t[OPS]){NPU, GPU, GPU, NPU}, 0, &program),
                 TAPML_OK);
    struct aftermath *aftermath = make(&fixture);
    const uint32_t count = program->step_count;
    (void)status_fail(TAPML_INTERNAL, "on gpu: act: first heard of");
    cr_expect(aftermath_note(aftermath, program, count, GPU, GRAPH_NONE, TAPML_INTERNAL));
    (void)status_fail(TAPML_INVALID, "on npu: norm: the cause");
    cr_expect(aftermath_note(aftermath, program, count, NPU, GRAPH_NONE, TAPML_INVALID));
    (void)status_fail(TAPML_INTERNAL, "on gpu: something else");
    cr_expect(!aftermath_note(aftermath, program, count, GPU, GRAPH_NONE, TAPML_INTERNAL));
    cr_expect_eq(aftermath_status(aftermath), TAPML_INVALID);
    cr_expect_str_eq(status_message(), "norm (tapml.rms_norm) on npu: norm: the cause");
    aftermath_destroy(aftermath);
    program_destroy(program);
    close_fixture(&fixture);
}

// On host memory there is no queue: other calls go on. An op that nobody names accuses nobody.
Test(aftermath, lose_one_call_on_host_memory)
{
    struct fixture fixture;
    struct program *program = NULL;
    open_fixture(&fixture);
    cr_assert_eq(compile(&fixture, (const uint8_t[OPS]){SOURCE, SOURCE, SOURCE, GPU}, 0, &program),
                 TAPML_OK);
    struct aftermath *aftermath = make(&fixture);
    const uint32_t count = program->step_count;
    (void)status_fail(TAPML_INTERNAL, "unnamed, 'norms' is another word");
    cr_expect(aftermath_note(aftermath, program, count, GPU, GRAPH_NONE, TAPML_INTERNAL));
    cr_expect_eq(aftermath_status(aftermath), TAPML_INTERNAL);
    cr_expect_str_eq(status_message(), "unnamed, 'norms' is another word");
    (void)status_fail(TAPML_INVALID, "no such shape");
    cr_expect(aftermath_note(aftermath, program, count, SOURCE, ACT, TAPML_INVALID));
    cr_expect(!aftermath_note(aftermath, program, count, SOURCE, ACT, TAPML_INVALID));
    cr_expect_eq(is_poisoned(aftermath, &fixture, "product"), 0);
    cr_expect_eq(is_poisoned(aftermath, &fixture, "act"), 1);
    cr_expect_eq(aftermath_status(aftermath), TAPML_INVALID);
    cr_expect_str_eq(status_message(), "act (tapml.silu) on source: no such shape");
    aftermath_destroy(aftermath);
    program_destroy(program);
    close_fixture(&fixture);
}

static tapml_status make_and_destroy(struct fixture *fixture)
{
    struct aftermath *aftermath = NULL;
    TAPML_TRY(aftermath_create(&(struct aftermath_options){.graph = &fixture->sketch.graph,
                                                           .spaces = &fixture->spaces,
                                                           .bindings = fixture->bindings},
                               &aftermath));
    aftermath_destroy(aftermath);
    return TAPML_OK;
}

Test(aftermath, survive_a_lack_of_memory)
{
    struct fixture fixture;
    open_fixture(&fixture);
    SCRATCH_SWEEP(make_and_destroy(&fixture));
    close_fixture(&fixture);
}
