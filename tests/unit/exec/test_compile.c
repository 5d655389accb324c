// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "compiled.h"
#include "exec/reduced.h"
#include "harness/scratch.h"

static void
expect_program(struct fixture *fixture, const uint8_t *places, int releases, const char *expected)
{
    struct program *program = NULL;
    struct text text;
    cr_assert_eq(compile(fixture, places, releases, &program), TAPML_OK, "%s", status_message());
    text_init(&text);
    program_print(program, &fixture->sketch.graph, names, &text);
    cr_expect_str_eq(text.data, expected, "%s", text.data);
    text_release(&text);
    program_destroy(program);
}

Test(compile, moves_nothing_on_one_place)
{
    struct fixture fixture;
    open_fixture(&fixture);
    expect_program(&fixture, (const uint8_t[]){SOURCE, SOURCE, SOURCE, SOURCE}, 0,
                   "call    source: norm (tapml.rms_norm)\n"
                   "upload  source: w f32\n"
                   "call    source: product (tapml.linear)\n"
                   "call    source: act (tapml.silu)\n"
                   "call    source: sum (tapml.add)\n");
    expect_program(&fixture, (const uint8_t[]){GPU, GPU, GPU, GPU}, 1,
                   "move    x f32, host -> gpu\n"
                   "call    gpu: norm (tapml.rms_norm)\n"
                   "upload  gpu: w f32\n"
                   "call    gpu: product (tapml.linear)\n"
                   "release gpu: w f32\n"
                   "call    gpu: act (tapml.silu)\n"
                   "call    gpu: sum (tapml.add)\n");
    close_fixture(&fixture);
}

// What norm computed is on its way while the device computes the product.
Test(compile, waits_where_a_value_is_read)
{
    struct fixture fixture;
    open_fixture(&fixture);
    expect_program(&fixture, (const uint8_t[]){GPU, GPU, GPU, SOURCE}, 0,
                   "move    x f32, host -> gpu\n"
                   "call    gpu: norm (tapml.rms_norm)\n"
                   "move    norm f32, gpu -> host\n"
                   "upload  gpu: w f32\n"
                   "signal  gpu: point 0\n"
                   "call    gpu: product (tapml.linear)\n"
                   "call    gpu: act (tapml.silu)\n"
                   "move    act f32, gpu -> host\n"
                   "signal  gpu: point 1\n"
                   "wait    host: point 0 of gpu\n"
                   "wait    host: point 1 of gpu\n"
                   "call    source: sum (tapml.add)\n");
    close_fixture(&fixture);
}

// From device to device the queue of the second one waits; a value that both need goes to host
// memory once.
Test(compile, lets_a_queue_wait_for_another)
{
    struct fixture fixture;
    open_fixture(&fixture);
    expect_program(&fixture, (const uint8_t[]){GPU, NPU, NPU, NPU}, 0,
                   "move    x f32, host -> gpu\n"
                   "call    gpu: norm (tapml.rms_norm)\n"
                   "move    norm f32, gpu -> host\n"
                   "signal  gpu: point 0\n"
                   "wait    npu: point 0 of gpu\n"
                   "move    norm f32, host -> npu\n"
                   "upload  npu: w f32\n"
                   "call    npu: product (tapml.linear)\n"
                   "call    npu: act (tapml.silu)\n"
                   "call    npu: sum (tapml.add)\n");
    close_fixture(&fixture);
}

Test(compile, casts_where_a_place_has_another_dtype)
{
    struct fixture fixture;
    struct reduced *reduced = NULL;
    open_fixture(&fixture);
    cr_assert_eq(reduced_create(fixture.backends[GPU], ACTIVATION_F16, &reduced), TAPML_OK);
    fixture.spaces.places[GPU].backend = reduced_backend(reduced);
    fixture.spaces.places[GPU].activation = ACTIVATION_F16;
    expect_program(&fixture, (const uint8_t[]){SOURCE, SOURCE, GPU, SOURCE}, 0,
                   "upload  source: w f32\n"
                   "call    source: norm (tapml.rms_norm)\n"
                   "call    source: product (tapml.linear)\n"
                   "cast    product: f32 -> f16\n"
                   "move    product f16, host -> gpu\n"
                   "call    gpu: act (tapml.silu)\n"
                   "move    act f16, gpu -> host\n"
                   "signal  gpu: point 0\n"
                   "wait    host: point 0 of gpu\n"
                   "cast    act: f16 -> f32\n"
                   "call    source: sum (tapml.add)\n");
    fixture.spaces.places[GPU].backend = fixture.backends[GPU];
    close_fixture(&fixture);
    reduced_destroy(reduced);
}

static tapml_status compile_and_destroy(struct fixture *fixture)
{
    struct program *program = NULL;
    TAPML_TRY(compile(fixture, (const uint8_t[]){GPU, SOURCE, NPU, GPU}, 1, &program));
    program_destroy(program);
    return TAPML_OK;
}

Test(compile, survives_a_lack_of_memory)
{
    struct fixture fixture;
    open_fixture(&fixture);
    cr_assert_eq(compile_and_destroy(&fixture), TAPML_OK); // Weights that are known stay known.
    SCRATCH_SWEEP(compile_and_destroy(&fixture));
    close_fixture(&fixture);
}
