// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "fixture.h"
#include "graph/print.h"

Test(print, a_line_for_each_input_state_op_and_output)
{
    struct fixture fixture;
    struct graph *graph = NULL;
    struct text text;

    fixture_init(&fixture);
    fixture_small_graph(&fixture);
    fixture_ok(builder_finish(fixture.builder, &graph));
    text_init(&text);
    print_graph(graph, &text);
    fixture_ok(text_status(&text));
    cr_assert_str_eq(
        text.data,
        "input input_ids i32 [T] from user\n"
        "state k f32 [C, 3, 4] = 0\n"
        "embed = embed(table=embed.weight f32 [10, 8], ids=input_ids i32 [T], offset=0) -> y f32 "
        "[T, 8]\n"
        "layers.0/k = linear(x=embed f32 [T, 8], w=k.weight f32 [12, 8], b=none, transposed=0) -> "
        "y f32 [T, 12]\n"
        "layers.0/append = state_append(state=k f32 [C, 3, 4], rows=layers.0/k f32 [T, 3, 4] "
        "strides [12, 4, 1] at 0, position=P)\n"
        "output hidden.0 = embed f32 [T, 8]\n");
    text_release(&text);
    graph_destroy(graph);
    fixture_release(&fixture);
}
