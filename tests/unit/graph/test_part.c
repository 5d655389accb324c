// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "fixture.h"
#include "graph/part.h"
#include "graph/print.h"

static const tapml_part image = {
    .hdr = TAPML_HDR(tapml_part), .component = "eye", .output = "features", .width = 8, .token = 7};

static tapml_status ask(struct fixture *fixture, const tapml_part *part)
{
    tapml_graph_value rows = 0, others = 0;

    return part_table()->rows(fixture->object, NULL, part, &rows, &others);
}

static void refused(const tapml_part *part, const char *piece)
{
    struct fixture fixture;

    fixture_init(&fixture);
    fixture_expect(ask(&fixture, part), TAPML_INVALID, piece);
    fixture_release(&fixture);
}

static struct graph *build(struct fixture *fixture, int64_t token)
{
    tapml_part part = image;
    tapml_graph_value rows = 0, others = 0;
    struct graph *graph = NULL;

    part.token = token;
    fixture_init(fixture);
    fixture_ok(part_table()->rows(fixture->object, NULL, &part, &rows, &others));
    fixture_ok(fixture->table->output(fixture->object, NULL, "rows", rows));
    fixture_ok(fixture->table->output(fixture->object, NULL, "others", others));
    fixture_ok(builder_finish(fixture->builder, &graph));
    return graph;
}

Test(part, two_inputs_and_what_they_are_for)
{
    struct fixture fixture;
    struct graph *graph = build(&fixture, 7);
    struct text text;

    cr_assert_eq(graph->part_count, 1);
    cr_assert_str_eq(graph->parts[0].component, "eye");
    cr_assert_eq(graph_find_part(graph, graph->parts[0].rows), &graph->parts[0]);
    cr_assert_eq(graph_find_part(graph, graph->parts[0].others), &graph->parts[0]);
    cr_assert_null(graph_find_part(graph, graph->value_count));
    text_init(&text);
    print_graph(graph, &text);
    cr_assert_str_eq(text.data, "input features f32 [T, 8] from part eye at tokens 7\n"
                                "input features.others f32 [T] from part eye at tokens 7\n"
                                "output rows = features f32 [T, 8]\n"
                                "output others = features.others f32 [T]\n");
    text_release(&text);
    graph_destroy(graph);
    fixture_release(&fixture);
}

Test(part, the_id_is_in_the_hash_of_the_graph)
{
    struct fixture first, second;
    struct graph *one = build(&first, 7), *other = build(&second, 8);

    cr_assert_neq(graph_hash(one).low, graph_hash(other).low);
    graph_destroy(one);
    graph_destroy(other);
    fixture_release(&first);
    fixture_release(&second);
}

Test(part, what_cannot_be_is_refused)
{
    tapml_part part = image;

    part.output = "";
    refused(&part, "with names of");
    part = image, part.component = NULL;
    refused(&part, "with names of");
    part = image, part.width = 0;
    refused(&part, "rows of 0 values");
    part = image, part.width = INT64_MAX;
    refused(&part, "expected 1 to 16777216");
    part = image, part.token = -1;
    refused(&part, "-1 is the id of no token");
    part = image, part.token = INT64_C(1) << 32;
    refused(&part, "is the id of no token");
}

Test(part, an_id_stands_for_one_part_and_a_plugin_makes_no_such_input_itself)
{
    struct fixture fixture;
    tapml_part part = image;
    tapml_graph_value value = 0;

    fixture_init(&fixture);
    fixture_ok(ask(&fixture, &image));
    fixture_expect(ask(&fixture, &image), TAPML_INVALID, "stand for 'features' already");
    part.token = 9;
    fixture_expect(ask(&fixture, &part), TAPML_INVALID, "two inputs are named 'features'");
    fixture_expect(fixture.table->input(fixture.object, NULL, "x", TAPML_FROM_PART, TAPML_F32,
                                        SHAPE(1), NULL, &value),
                   TAPML_INVALID, "source 3 is unknown");
    part.hdr.struct_size = sizeof(tapml_hdr);
    fixture_expect(ask(&fixture, &part), TAPML_ABI_MISMATCH, "in fewer bytes");
    fixture_expect(part_table()->rows(fixture.object, NULL, &image, NULL, NULL), TAPML_INVALID,
                   "no place for the inputs");
    fixture_release(&fixture);
}
