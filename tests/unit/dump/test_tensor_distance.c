// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "dump/dump.h"
#include "dump/tensor_distance.h"
#include "verify/compare.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct dump_tensor floats(const float *values, int64_t count)
{
    return (struct dump_tensor){
        .name = "x", .dtype = TAPML_F32, .rank = 1, .shape = {count}, .data = values};
}

static struct tensor_distance measure(const struct dump_tensor *first,
                                      const struct dump_tensor *second,
                                      enum compare_class class_)
{
    const struct compare_limit limit = compare_floor(class_);
    struct tensor_distance distance;

    cr_assert_eq(tensor_distance_measure(first, second, &limit, &distance), TAPML_OK);
    return distance;
}

Test(tensor_distance, whole_tensors_by_their_limit)
{
    static const float a[] = {1, 2, 3, 4}, b[] = {1, 2, 3.0000002F, 4}, c[] = {1, 2, 3, 5};
    static const double d[] = {1, 2, 3, 4};
    const struct dump_tensor first = floats(a, 4), close = floats(b, 4), other = floats(c, 4),
                             wide = {.name = "x",
                                     .dtype = TAPML_F64,
                                     .rank = 2,
                                     .shape = {2, 2},
                                     .data = d},
                             shorter = floats(a, 3);
    struct tensor_distance distance = measure(&first, &first, COMPARE_EXACT);

    cr_assert_eq(distance.state, TENSOR_DISTANCE_EQUAL);
    cr_assert_eq(measure(&first, &wide, COMPARE_EXACT).state, TENSOR_DISTANCE_EQUAL);
    cr_assert_eq(measure(&first, &close, COMPARE_REDUCTION).state, TENSOR_DISTANCE_CLOSE);
    cr_assert_eq(measure(&first, &close, COMPARE_EXACT).state, TENSOR_DISTANCE_DIFFERENT);
    distance = measure(&first, &other, COMPARE_REDUCTION);
    cr_assert_eq(distance.state, TENSOR_DISTANCE_DIFFERENT);
    cr_assert(distance.worst_index == 3 && distance.worst_second == 5);
    cr_assert_not_null(strstr(distance.why, "limit"));
    distance = measure(&first, &shorter, COMPARE_REDUCTION);
    cr_assert_not_null(strstr(distance.why, "the shapes are [4] and [3]"));
}

static const int64_t places[] = {0, 3};

static struct dump_printed print(const double *values, double sum)
{
    return (struct dump_printed){.indices = places,
                                 .values = values,
                                 .count = 2,
                                 .unit = 1e-4,
                                 .sum = sum,
                                 .sum_unit = 1e-6,
                                 .has_sum = 1};
}

static enum tensor_distance_state measure_printed(const struct dump_printed *first,
                                                  const struct dump_printed *second)
{
    const struct dump_tensor a = {
        .name = "x", .dtype = TAPML_F32, .rank = 1, .shape = {4}, .printed = first};
    const struct dump_tensor b = {
        .name = "x", .dtype = TAPML_F32, .rank = 1, .shape = {4}, .printed = second};

    return measure(&a, &b, COMPARE_REDUCTION).state;
}

Test(tensor_distance, of_texts_what_is_shown_and_the_sum)
{
    static const double values[] = {1, 4}, next[] = {1.0001, 4}, far[] = {1.001, 4},
                        none[] = {NAN, 4};
    const struct dump_printed a = print(values, 10), b = print(next, 10), c = print(far, 10),
                              sum = print(values, 10.1), not_a_number = print(none, 10);
    struct dump_printed empty = a;

    empty.count = 0;
    empty.has_sum = 0;
    cr_assert_eq(measure_printed(&a, &a), TENSOR_DISTANCE_EQUAL);
    cr_assert_eq(measure_printed(&a, &b), TENSOR_DISTANCE_CLOSE, "a unit of the last digit");
    cr_assert_eq(measure_printed(&a, &c), TENSOR_DISTANCE_DIFFERENT);
    cr_assert_eq(measure_printed(&a, &sum), TENSOR_DISTANCE_DIFFERENT);
    cr_assert_eq(measure_printed(&a, &not_a_number), TENSOR_DISTANCE_DIFFERENT);
    cr_assert_eq(measure_printed(&not_a_number, &not_a_number), TENSOR_DISTANCE_EQUAL);
    cr_assert_eq(measure_printed(&a, &empty), TENSOR_DISTANCE_SILENT);
}

Test(tensor_distance, a_text_against_whole_values)
{
    static const double values[] = {1, 4};
    static const float same[] = {1.00004F, 2, 3, 4}, other[] = {1.00004F, 2, 7, 4};
    const struct dump_printed printed = print(values, 10.00004);
    const struct dump_tensor text = {
        .name = "x", .dtype = TAPML_F32, .rank = 1, .shape = {4}, .printed = &printed};
    const struct dump_tensor whole = floats(same, 4), wrong = floats(other, 4);

    cr_assert_eq(measure(&text, &whole, COMPARE_REDUCTION).state, TENSOR_DISTANCE_CLOSE);
    cr_assert_eq(measure(&whole, &text, COMPARE_REDUCTION).state, TENSOR_DISTANCE_CLOSE);
    cr_assert_eq(measure(&text, &wrong, COMPARE_REDUCTION).state, TENSOR_DISTANCE_DIFFERENT,
                 "by the sum alone");
}
