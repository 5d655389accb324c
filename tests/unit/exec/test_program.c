// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/program.h"
#include "exec/residency.h"
#include "harness/sketch.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>

Test(program, prints_a_line_for_each_step)
{
    static const char *const places[] = {"source", "gpu"};
    struct sketch sketch;
    struct text text;
    struct resident resident = {.key = {.tensor = "w", .dtype = TAPML_BF16}};
    struct resident *residents[] = {&resident};
    uint32_t nodes[] = {0, 1};
    sketch_init(&sketch);
    const uint32_t x = sketch_value(&sketch, GRAPH_INPUT, "x", sketch_sum(0, 1), 4);
    const uint32_t y = sketch_value(&sketch, GRAPH_COMPUTED, "y", sketch_sum(0, 1), 4);
    const uint32_t z = sketch_value(&sketch, GRAPH_COMPUTED, "z", sketch_sum(0, 1), 4);
    const uint32_t s = sketch_value(&sketch, GRAPH_STATE, "s", sketch_sum(8, 0), 4);
    sketch_op(&sketch, &tapml_silu, "first", (const uint32_t[]){x, y});
    sketch_op(&sketch, &tapml_silu, "second", (const uint32_t[]){y, z});
    struct step steps[] = {
        {.kind = STEP_UPLOAD, .place = 1},
        {.kind = STEP_CAST, .place = 1, .index = x, .old_dtype = TAPML_F32, .dtype = TAPML_F16},
        {.kind = STEP_MOVE, .place = 1, .from = SPACE_NO_PLACE, .index = x, .dtype = TAPML_F16},
        {.kind = STEP_MOVE, .place = 1, .from = SPACE_NO_PLACE, .index = s, .dtype = TAPML_F32},
        {.kind = STEP_CALL, .place = 1, .count = 2},
        {.kind = STEP_SIGNAL, .place = 1, .index = 3},
        {.kind = STEP_WAIT, .place = SPACE_NO_PLACE, .from = 1, .index = 3},
        {.kind = STEP_WAIT, .place = 0, .from = 1, .index = 3},
        {.kind = STEP_RELEASE, .place = 1},
    };
    const struct program program = {
        .steps = steps,
        .step_count = sizeof(steps) / sizeof(*steps),
        .nodes = nodes,
        .node_count = 2,
        .residents = residents,
        .resident_count = 1,
        .point_count = 4,
    };
    text_init(&text);
    program_print(&program, &sketch.graph, places, &text);
    cr_expect_str_eq(text.data, "upload  gpu: w bf16\n"
                                "cast    x: f32 -> f16\n"
                                "move    x f16, host -> gpu\n"
                                "move    state s, the rows that gpu lacks\n"
                                "call    gpu: first (tapml.silu), second (tapml.silu)\n"
                                "signal  gpu: point 3\n"
                                "wait    host: point 3 of gpu\n"
                                "wait    source: point 3 of gpu\n"
                                "release gpu: w bf16\n");
    text_release(&text);
    program_destroy(NULL);
}
