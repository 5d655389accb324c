// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "base/json_file.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static json_t *parse(const char *text)
{
    json_t *root = NULL;
    const tapml_status status = json_file_parse("x.json", text, strlen(text), &root);
    cr_assert_eq(status, TAPML_OK, "%s", status_message());
    return root;
}

static void expect_refused(const char *text, const char *message)
{
    json_t *root = NULL;
    cr_assert_eq(json_file_parse("x.json", text, strlen(text), &root), TAPML_INVALID, "%s", text);
    cr_assert_not_null(strstr(status_message(), message), "%s", status_message());
    cr_assert_null(root);
}

static double number_of(const json_t *root, const char *key)
{
    double number = 0;
    cr_assert(json_file_number(json_object_get(root, key), &number), "%s", key);
    return number;
}

Test(json_file, numbers_beyond_json_are_read)
{
    json_t *root = parse("{\"a\": Infinity, \"b\":-Infinity,\"c\": [NaN], \"d\": 1e-5,\n"
                         "\"e\": {\"__float__\": \"-Infinity\"}, \"f\": 3}");
    cr_assert_eq(number_of(root, "a"), (double)INFINITY);
    cr_assert_eq(number_of(root, "b"), (double)-INFINITY);
    double number = 0;
    cr_assert(json_file_number(json_array_get(json_object_get(root, "c"), 0), &number));
    cr_assert(isnan(number));
    cr_assert_eq(number_of(root, "d"), 1e-5);
    cr_assert_eq(number_of(root, "e"), (double)-INFINITY);
    cr_assert_eq(number_of(root, "f"), 3);
    json_decref(root);
}

Test(json_file, words_in_strings_stay)
{
    json_t *root =
        parse("{\"Infinity \\\" NaN\": \"a, NaN, 99999999999999999999 \\\\\", \"b\": NaN}");
    cr_assert_str_eq(json_string_value(json_object_get(root, "Infinity \" NaN")),
                     "a, NaN, 99999999999999999999 \\");
    cr_assert(isnan(number_of(root, "b")));
    json_decref(root);
}

Test(json_file, integers_of_any_length_are_read)
{
    json_t *root = parse("{\"a\": 1000000000000000019884624838656, \"b\": 9223372036854775807, "
                         "\"c\": -9223372036854775808, \"d\": -9223372036854775809}");
    cr_assert(json_is_real(json_object_get(root, "a")));
    cr_assert_eq(number_of(root, "a"), 1e30);
    cr_assert_eq(json_integer_value(json_object_get(root, "b")), INT64_MAX);
    cr_assert_eq(json_integer_value(json_object_get(root, "c")), INT64_MIN);
    cr_assert(json_is_real(json_object_get(root, "d")));
    json_decref(root);
}

Test(json_file, other_values_are_no_numbers)
{
    double number = 5;
    json_t *root = parse("[\"1\", true, null, {\"__float__\": \"x\"}, {\"__float__\": 1}, "
                         "{\"__float__\": \"NaN\", \"x\": 1}, {}]");
    for (size_t i = 0; i < json_array_size(root); ++i) {
        cr_assert_not(json_file_number(json_array_get(root, i), &number), "%zu", i);
    }
    cr_assert_not(json_file_number(NULL, &number));
    cr_assert_eq(number, 5);
    json_decref(root);
}

Test(json_file, what_is_wrong_is_refused_with_its_line)
{
    expect_refused("{\"a\": 1,\n\"b\": }", "x.json:2: ");
    expect_refused("{\"a\": 1, \"a\": 2}", "duplicate");
    expect_refused("", "x.json:");
    expect_refused("\"", "x.json:");
    expect_refused("{\"a\\", "x.json:");
    expect_refused("{} {}", "x.json:");
    expect_refused("{\"a\": Infinit}", "x.json:");
    expect_refused("{\"a\": --Infinity}", "x.json:");
    expect_refused("{\"a\": \"\xff\"}", "x.json:");
    expect_refused("\xff\xfe", "x.json:");
}

Test(json_file, nesting_without_end_is_refused)
{
    static char text[200000];
    memset(text, '[', sizeof(text));
    json_t *root = NULL;
    cr_assert_eq(json_file_parse("x", text, sizeof(text), &root), TAPML_INVALID);
}

Test(json_file, bytes_behind_the_size_are_not_read)
{
    json_t *root = NULL;
    cr_assert_eq(json_file_parse("x", "[123456789]", 4, &root), TAPML_INVALID);
    char *text = alloc_new(20);
    memset(text, '9', 20);
    text[0] = '[';
    cr_assert_eq(json_file_parse("x", text, 20, &root), TAPML_INVALID);
    alloc_free(text);
}

Test(json_file, strings_may_have_zero_bytes_where_they_are_wanted)
{
    static const char text[] = "[\"a\\u0000b\"]";
    json_t *root = NULL;
    cr_assert_eq(json_file_parse("x", text, strlen(text), &root), TAPML_INVALID);
    cr_assert_eq(json_file_parse_bytes("x", text, strlen(text), &root), TAPML_OK);
    cr_assert_eq(json_string_length(json_array_get(root, 0)), 3);
    json_decref(root);
}

Test(json_file, values_without_end_are_refused)
{
    enum { BYTES = 20000000 };
    json_t *root = NULL;
    char *text = alloc_new(BYTES);
    for (size_t i = 0; i < BYTES; i += 2) {
        memcpy(text + i, i == 0 ? "[0" : ",0", 2);
    }
    text[BYTES - 1] = ']';
    cr_assert_eq(json_file_parse("x.json", text, BYTES, &root), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "x.json: expected at most 8388608 values"));
    alloc_free(text);
}

Test(json_file, a_file_is_loaded_by_its_name)
{
    struct scratch scratch;
    scratch_make(&scratch);
    json_t *root = NULL;
    cr_assert_eq(json_file_load(scratch_text(&scratch, "a.json", "{\"a\": 1}"), &root), TAPML_OK);
    cr_assert_eq(number_of(root, "a"), 1);
    json_decref(root);
    cr_assert_eq(json_file_load(scratch_text(&scratch, "b.json", "{\n\n]"), &root), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "b.json:3: "));
    cr_assert_eq(json_file_load(scratch_path(&scratch, "absent"), &root), TAPML_NOT_FOUND);
    cr_assert_eq(json_file_find(scratch.folder, "a.json", &root), TAPML_OK);
    cr_assert_eq(number_of(root, "a"), 1);
    json_decref(root);
    cr_assert_eq(json_file_find(scratch.folder, "b.json", &root), TAPML_INVALID);
    cr_assert_eq(json_file_find(scratch.folder, "absent", &root), TAPML_OK);
    cr_assert_null(root);
    scratch_remove(&scratch);
}

static tapml_status build(void)
{
    json_t *root = NULL;
    TAPML_TRY(json_file_parse("x", "{\"a\": [1, NaN]}", 15, &root));
    json_decref(root);
    return TAPML_OK;
}

Test(json_file, survives_without_memory)
{
    SCRATCH_SWEEP(build());
}

Test(json_file, a_value_is_printed_behind_a_text)
{
    json_t *value = json_pack("{s:i,s:s}", "b", 1, "a", "\xc3\xa4");
    struct text text;

    text_init(&text);
    text_append(&text, "x = ");
    json_file_print(&text, value, JSON_COMPACT | JSON_PRESERVE_ORDER);
    cr_assert_str_eq(text.data, "x = {\"b\":1,\"a\":\"\xc3\xa4\"}");
    text_clear(&text);
    json_file_print(&text, json_object_get(value, "b"), 0);
    cr_assert_str_eq(text.data, "1");
    text_release(&text);
    json_decref(value);
}
