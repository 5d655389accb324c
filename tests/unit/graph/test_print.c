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

Test(print, dot_has_a_node_for_each_op_and_an_edge_for_each_value)
{
    struct fixture fixture;
    struct graph *graph = NULL;
    struct text text;

    fixture_init(&fixture);
    fixture_small_graph(&fixture);
    fixture_ok(builder_finish(fixture.builder, &graph));
    text_init(&text);
    print_dot(graph, &text);
    fixture_ok(text_status(&text));
    cr_assert_str_eq(text.data, "digraph model {\n"
                                "  node [shape=box];\n"
                                "  v0 [shape=oval, label=\"input_ids\\ni32 [T]\"];\n"
                                "  v6 [shape=cylinder, label=\"k\\nf32 [C, 3, 4]\"];\n"
                                "  o0 [label=\"embed\\nembed\\nembed.weight f32 [10, 8]\"];\n"
                                "  v0 -> o0 [label=\"i32 [T]\"];\n"
                                "  o1 [label=\"layers.0/k\\nlinear\\nk.weight f32 [12, 8]\"];\n"
                                "  o0 -> o1 [label=\"f32 [T, 8]\"];\n"
                                "  o2 [label=\"layers.0/append\\nstate_append\"];\n"
                                "  v6 -> o2 [label=\"f32 [C, 3, 4]\"];\n"
                                "  o1 -> o2 [label=\"f32 [T, 3, 4]\"];\n"
                                "  out0 [shape=plaintext, label=\"hidden.0\"];\n"
                                "  o0 -> out0;\n"
                                "}\n");
    text_release(&text);
    graph_destroy(graph);
    fixture_release(&fixture);
}
