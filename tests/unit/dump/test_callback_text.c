// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "dump/callback_text.h"
#include "dump/dump.h"

#include <criterion/criterion.h>
#include <string.h>

static struct dump *dump;

static void begin(void)
{
    cr_assert_eq(dump_create("here", &dump), TAPML_OK);
}

static void end(void)
{
    dump_destroy(dump);
}

TestSuite(callback_text, .init = begin, .fini = end);

static tapml_status add(const char *text)
{
    return callback_text_add(dump, "text", text, strlen(text));
}

#define HEAD                                                                                       \
    "common_debug_cb_eval:   norm-0 = (f32)   RMS_NORM(embd{8, 2, 1, 1}, }) = {8, 2, 1, 1}\n"

Test(callback_text, a_block_has_its_name_its_op_and_the_places_of_its_values)
{
    static const int64_t places[] = {0, 1, 2, 5, 6, 7, 8, 9, 10, 13, 14, 15};

    cr_assert_eq(add("0.01 I a line of the log\n" HEAD "    [\n        [\n"
                     "            [ 0.5, 1.0, 1.5,   ..., 2.0, 2.5, 3.0 ],\n"
                     "            [ -0.5, -1.0, -1.5,   ..., nan, -2.5, -3.0 ],\n"
                     "        ],\n    ]\n    sum = 4.250000\n"),
                 TAPML_OK, "%s", status_message());
    cr_assert_eq(dump->count, 1u);
    const struct dump_tensor *tensor = &dump->tensors[0];
    const struct dump_printed *printed = tensor->printed;

    cr_assert_str_eq(tensor->name, "norm-0");
    cr_assert_str_eq(tensor->op, "RMS_NORM");
    cr_assert_eq(tensor->source_count, 1u);
    cr_assert_str_eq(tensor->sources[0], "embd");
    cr_assert(tensor->rank == 2 && tensor->shape[0] == 2 && tensor->shape[1] == 8);
    cr_assert_eq(printed->count, 12u);
    cr_assert_arr_eq(printed->indices, places, sizeof(places));
    cr_assert(printed->values[3] == 2.0 && printed->values[6] == -0.5);
    cr_assert(printed->has_sum && printed->sum == 4.25);
    cr_assert(printed->unit > 0.0999 && printed->unit < 0.1001);
}

Test(callback_text, rows_and_planes_are_left_out_too)
{
    cr_assert_eq(
        add("ggml_debug: x = (f32) MUL(a b{1, 5, 5, 1}, c{1, 1, 1, 1}}) = {1, 5, 5, 1}\n"
            "[\n[\n[ 1.0 ],\n...,\n[ 2.0 ],\n],\n...,\n[\n[ 3.0 ],\n...,\n[ 4.0 ],\n],\n]\n"),
        TAPML_OK, "%s", status_message());
    static const int64_t places[] = {0, 4, 20, 24};

    cr_assert_str_eq(dump->tensors[0].sources[0], "a b");
    cr_assert_str_eq(dump->tensors[0].sources[1], "c");
    cr_assert_arr_eq(dump->tensors[0].printed->indices, places, sizeof(places));
    cr_assert_not(dump->tensors[0].printed->has_sum);
}

Test(callback_text, names_that_count_nodes_are_keys_of_what_they_come_from)
{
    cr_assert_eq(add("ggml_debug: node_7 = (f32) ADD(node_6{1, 1, 1, 1}, x{1, 1, 1, 1}}) = {1, 1, "
                     "1, 1}\nggml_debug: y = (q4_0) VIEW(x{1, 1, 1, 1}, }) = {32, 1, 1, 1}\n"),
                 TAPML_OK, "%s", status_message());
    cr_assert_str_eq(dump->tensors[0].key, "* x ");
    cr_assert_str_eq(dump->tensors[1].key, "y");
    cr_assert_eq(dump->tensors[1].printed->count, 0u);
}

Test(callback_text, what_does_not_fit_its_extents_is_refused)
{
    cr_assert_eq(add(HEAD "[\n[\n[ 1, 1, 1, 1, 1, 1, 1, 1, 1 ]\n"), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "text:4: there are more values"));
    cr_assert_eq(add(HEAD "[\n[\n[ 1 ]\n[ 1 ]\n[ 1 ]\n"), TAPML_INVALID);
    cr_assert_eq(add(HEAD "[\n[\n[ 1, 1, 1, 1, 1, ..., 1 ]\n"), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "nothing can be left out"));
    cr_assert_eq(add("ggml_debug: x = (f32) MUL(a{1, 1}, }) = {1, 5}\n"), TAPML_INVALID);
    cr_assert_eq(add("ggml_debug: x = (f32) MUL(a{1, 1}, }) = {1, 5, -1, 1}\n"), TAPML_INVALID);
    cr_assert_eq(add("ggml_debug: = (f32) MUL(a{1, 1, 1, 1}, }) = {9223372036854775807, "
                     "9223372036854775807, 2, 1}\n"),
                 TAPML_INVALID);
    cr_assert_eq(add("]\n]\n]\n...\n[ 1 ]\nsum = 3\nggml_debug: x\nggml_debug: x = (\n"), TAPML_OK,
                 "lines of no block");
}
