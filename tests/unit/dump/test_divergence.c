// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "dump/divergence.h"
#include "dump/dump.h"
#include "dump/dump_catalogue.h"
#include "dump/name_map.h"
#include "schema/catalogue.h"

#include <criterion/criterion.h>
#include <string.h>

static struct catalogue *catalogue;
static struct dump *first, *second;
static struct divergence divergence;

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static void begin(void)
{
    MUST(dump_catalogue_create(&catalogue));
    MUST(dump_create("first", &first));
    MUST(dump_create("second", &second));
}

static void end(void)
{
    divergence_release(&divergence);
    dump_destroy(first);
    dump_destroy(second);
    catalogue_destroy(catalogue);
}

TestSuite(divergence, .init = begin, .fini = end);

static const float values[] = {1, 2}, near[] = {1, 2.0001F}, far[] = {1, 3};
static const char *const from_x[] = {"x"};

static void
add(struct dump *dump, const char *name, const char *op, const float *data, int has_source)
{
    MUST(dump_add(dump, &(struct dump_tensor){.name = name,
                                              .op = op,
                                              .sources = from_x,
                                              .source_count = (uint32_t)has_source,
                                              .dtype = TAPML_F32,
                                              .rank = 1,
                                              .shape = {2},
                                              .data = data}));
}

static tapml_status find(const struct name_map *names, double nmse)
{
    const struct divergence_options options = {
        .first = first, .second = second, .names = names, .catalogue = catalogue, .nmse = nmse};

    divergence_release(&divergence);
    return divergence_find(&options, &divergence);
}

Test(divergence, an_op_whose_sources_are_equal_has_the_floor_of_its_class)
{
    add(first, "x", NULL, values, 0);
    add(first, "y", "tapml.rms_norm", values, 1);
    add(first, "z", "other", values, 0);
    add(second, "x", NULL, values, 0);
    add(second, "y", NULL, near, 0);
    add(second, "z", NULL, near, 0);
    MUST(find(NULL, 0));
    cr_assert_not_null(divergence.first);
    cr_assert_str_eq(divergence.first->first->name, "y");
    cr_assert(divergence.first->is_op_alone);
    cr_assert_eq(divergence.counts[TENSOR_DISTANCE_CLOSE], 1u, "z, of which nothing is known");
    MUST(find(NULL, 1e-3));
    cr_assert_null(divergence.first);
}

Test(divergence, what_is_downstream_of_a_difference_has_the_wide_limit)
{
    add(first, "x", NULL, values, 0);
    add(first, "y", "tapml.rms_norm", values, 1);
    add(second, "x", NULL, near, 0);
    add(second, "y", NULL, near, 0);
    MUST(find(NULL, 0));
    cr_assert_null(divergence.first);
    cr_assert_eq(divergence.counts[TENSOR_DISTANCE_CLOSE], 2u);
}

Test(divergence, a_move_of_what_is_not_in_the_dump_may_be_one_of_a_cache)
{
    add(first, "y", "VIEW", values, 1);
    add(second, "y", "VIEW", near, 1);
    MUST(find(NULL, 0));
    cr_assert_null(divergence.first);
    add(first, "x", "VIEW", values, 1);
    add(second, "x", "VIEW", values, 1);
    add(first, "w", "VIEW", values, 1);
    add(second, "w", "VIEW", near, 1);
    MUST(find(NULL, 0));
    cr_assert_str_eq(divergence.first->first->name, "w");
}

Test(divergence, tensors_of_one_side_are_listed)
{
    add(first, "x", NULL, values, 0);
    add(first, "fused", NULL, values, 0);
    add(first, "y", NULL, values, 0);
    add(second, "x", NULL, values, 0);
    add(second, "more", NULL, values, 0);
    add(second, "y", NULL, far, 0);
    MUST(find(NULL, 0));
    cr_assert_str_eq(divergence.first->first->name, "y");
    cr_assert_eq(divergence.counts[TENSOR_DISTANCE_ALONE], 1u);
    cr_assert_eq(divergence.only_second_count, 1u);
    cr_assert_str_eq(divergence.only_second[0]->name, "more");
}

Test(divergence, the_nth_of_a_name_is_that_of_the_other)
{
    add(first, "x", NULL, values, 0);
    add(first, "x", NULL, far, 0);
    add(second, "x", NULL, values, 0);
    add(second, "x", NULL, far, 0);
    MUST(find(NULL, 0));
    cr_assert_eq(divergence.counts[TENSOR_DISTANCE_EQUAL], 2u);
}

Test(divergence, names_may_be_others_and_none_in_common_is_an_error)
{
    struct name_map names = {0};

    add(first, "x-1", NULL, values, 0);
    add(second, "l.1", NULL, values, 0);
    cr_assert_eq(find(NULL, 0), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "no name in common"));
    MUST(name_map_parse("names", "x-* l.*\n", 8, &names));
    MUST(find(&names, 0));
    cr_assert_eq(divergence.counts[TENSOR_DISTANCE_EQUAL], 1u);
    name_map_release(&names);
}

Test(divergence, where_a_call_was_fused_away_the_others_keep_their_places)
{
    first->is_ordered = second->is_ordered = 1;
    add(first, "norm", NULL, values, 0);
    add(first, "up", NULL, near, 0);
    add(first, "norm", NULL, far, 0);
    add(first, "down", NULL, near, 0);
    add(second, "up", NULL, near, 0);
    add(second, "norm", NULL, far, 0);
    add(second, "down", NULL, near, 0);
    MUST(find(NULL, 0));
    cr_assert_null(divergence.first);
    cr_assert_eq(divergence.counts[TENSOR_DISTANCE_EQUAL], 3u);
    cr_assert_eq(divergence.rows[0].distance.state, TENSOR_DISTANCE_ALONE);
}
