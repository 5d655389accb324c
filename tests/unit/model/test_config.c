// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "base/text.h"
#include "model/config.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

// Quotes are single in the tests, for the reader's sake.
static tapml_status parse(const char *text, struct config **out_config)
{
    char quoted[2048];
    cr_assert_lt(strlen(text), sizeof(quoted));
    snprintf(quoted, sizeof(quoted), "%s", text);
    for (char *at = quoted; *at; ++at) {
        *at = *at == '\'' ? '"' : *at;
    }
    return config_parse("c.json", quoted, out_config);
}

static struct config *config_of(const char *text)
{
    struct config *config = NULL;
    cr_assert_eq(parse(text, &config), TAPML_OK, "%s", status_message());
    return config;
}

static void expect_check(const struct config *config, int allow_unknown, const char *message)
{
    if (!message) {
        cr_assert_eq(config_check(config, allow_unknown), TAPML_OK, "%s", status_message());
        return;
    }
    // What was read follows behind a semicolon.
    const size_t length = strlen(message);
    cr_assert_eq(config_check(config, allow_unknown), TAPML_INVALID);
    cr_assert_eq(strncmp(status_message(), message, length), 0, "%s", status_message());
    cr_assert(strchr("; ", status_message()[length]), "%s", status_message());
}

// Parses, reads nothing, and checks.
static void expect_unread(const char *text, const char *message)
{
    struct config *config = config_of(text);
    expect_check(config, 0, message);
    config_close(config);
}

Test(config, null_is_reported_from_absent)
{
    struct config *config = NULL;

    cr_assert_eq(config_parse("c.json", "{\"a\": null, \"b\": {\"c\": null}, \"d\": 0}", &config),
                 TAPML_OK);
    cr_assert(config_table()->is_null(config_object(config), "/a"));
    cr_assert(config_table()->is_null(config_object(config), "/b/c"));
    cr_assert_not(config_table()->is_null(config_object(config), "/b"));
    cr_assert_not(config_table()->is_null(config_object(config), "/d"));
    cr_assert_not(config_table()->is_null(config_object(config), "/e"));
    cr_assert_not(config_table()->is_null(config_object(config), "/a/b"));
    cr_assert_not(config_table()->has(config_object(config), "/a"));
    config_close(config);
}

Test(config, values_are_read_by_pointer)
{
    struct config *config =
        config_of("{'a': 3, 'b': 0.5, 'c': 'text', 'd': true, 'e': [1, {'f': 7}], 'g/h~i': 9,"
                  " 'n': null, 'o': {'p': {'q': -1}}, '': 8}");
    tapml_object *object = config_object(config);
    const tapml_host_config *table = config_table();
    cr_assert_eq(object->vt->interface_of(object, TAPML_HOST_CONFIG), table);
    cr_assert_null(object->vt->interface_of(object, "other"));
    cr_assert_eq(table->i64(object, "/a", 5), 3);
    cr_assert_eq(table->f64(object, "/a", 5), 3.0);
    cr_assert_eq(table->f64(object, "/b", 5), 0.5);
    cr_assert_str_eq(table->string(object, "/c", "x"), "text");
    cr_assert_eq(table->boolean(object, "/d", 0), 1);
    cr_assert_eq(table->boolean(object, "/a", 0), 1);
    cr_assert_eq(table->length(object, "/e"), 2);
    cr_assert_eq(table->i64(object, "/e/0", 5), 1);
    cr_assert_eq(table->i64(object, "/e/1/f", 5), 7);
    cr_assert_eq(table->i64(object, "/g~1h~0i", 5), 9);
    cr_assert_eq(table->i64(object, "/o/p/q", 5), -1);
    cr_assert_eq(table->i64(object, "/", 5), 8);
    cr_assert(table->has(object, "/o/p"));
    expect_check(config, 0, NULL);
    config_close(config);
    config_close(NULL);
}

Test(config, what_is_absent_or_null_gives_the_fallback)
{
    struct config *config = config_of("{'n': null, 'e': [1], 'o': {}}");
    tapml_object *object = config_object(config);
    const tapml_host_config *table = config_table();
    const char *const pointers[] = {"/n",   "/x",    "/n/x",   "/e/1",
                                    "/e/-", "/e/00", "/e/x",   "/e/-1",
                                    "/o/x", "x",     "/e/0/x", "/e/99999999999999999999"};
    for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); ++i) {
        cr_assert_eq(table->i64(object, pointers[i], 5), 5, "%s", pointers[i]);
        cr_assert_eq(table->f64(object, pointers[i], 0.5), 0.5);
        cr_assert_str_eq(table->string(object, pointers[i], "x"), "x");
        cr_assert_null(table->string(object, pointers[i], NULL));
        cr_assert_eq(table->boolean(object, pointers[i], 1), 1);
        cr_assert_eq(table->length(object, pointers[i]), -1);
        cr_assert_not(table->has(object, pointers[i]));
        table->expect(object, pointers[i], "7");
    }
    expect_check(config, 0, "c.json: expected keys that the architecture knows, found '/e'");
    config_close(config);
}

Test(config, numbers_are_taken_for_one_another_where_they_are_equal)
{
    struct config *config = config_of("{'a': 2.0, 'b': 1e15, 'c': {'__float__': '-Infinity'},"
                                      " 'd': Infinity, 'e': NaN}");
    tapml_object *object = config_object(config);
    const tapml_host_config *table = config_table();
    cr_assert_eq(table->i64(object, "/a", 5), 2);
    cr_assert_eq(table->i64(object, "/b", 5), 1000000000000000);
    cr_assert_eq(table->f64(object, "/c", 5), (double)-INFINITY);
    cr_assert_eq(table->f64(object, "/d", 5), (double)INFINITY);
    cr_assert(isnan(table->f64(object, "/e", 5)));
    expect_check(config, 0, NULL);
    config_close(config);
}

Test(config, values_of_another_type_are_refused)
{
    struct config *config = config_of("{'a': 'x', 'b': 0.5, 'c': 1.5, 'd': [1], 'e': 1e300}");
    tapml_object *object = config_object(config);
    const tapml_host_config *table = config_table();
    cr_assert_eq(table->i64(object, "/a", 5), 5);
    cr_assert_eq(table->i64(object, "/a", 6), 6); // Named once.
    cr_assert_eq(table->i64(object, "/b", 5), 5);
    cr_assert_eq(table->boolean(object, "/c", 0), 0);
    cr_assert_eq(table->f64(object, "/d", 5), 5.0);
    cr_assert_eq(table->i64(object, "/e", 5), 5);
    const char *message = "c.json: '/a': expected a whole number, found '\"x\"'; "
                          "'/b': expected a whole number, found '0.5'; "
                          "'/c': expected true or false, found '1.5'; "
                          "'/d': expected a number, found '[1]'; "
                          "'/e': expected a whole number, found '1.0000000000000001e300'";
    expect_check(config, 0, message);
    expect_check(config, 1, message);
    config_close(config);
    config = config_of("{'a': 1}");
    cr_assert_str_eq(table->string(config_object(config), "/a", "x"), "x");
    expect_check(config, 0, "c.json: '/a': expected a string, found '1'");
    config_close(config);
}

// It has nothing inside that could be named as unread.
Test(config, an_empty_list_is_no_object)
{
    struct config *config = config_of("{'a': {'b': []}, 'c': [], 'd': [1]}");
    tapml_object *object = config_object(config);
    const tapml_host_config *table = config_table();
    cr_assert_eq(table->i64(object, "/a/b/c", 5), 5);
    cr_assert_eq(table->i64(object, "/a/b/d", 5), 5); // Named once.
    cr_assert_eq(table->has(object, "/c/0"), 0);
    cr_assert_eq(table->i64(object, "/d/0", 5), 1);
    expect_check(config, 0, "c.json: '/a/b': expected an object, found '[]'");
    config_close(config);
}

Test(config, a_long_value_is_cut_in_the_message)
{
    char text[600];
    snprintf(text, sizeof(text), "{'a': '%0500d'}", 1);
    struct config *config = config_of(text);
    cr_assert_eq(config_table()->i64(config_object(config), "/a", 5), 5);
    cr_assert_eq(config_check(config, 0), TAPML_INVALID);
    cr_assert_lt(strlen(status_message()), 200);
    config_close(config);
}

Test(config, keys_that_nobody_read_are_refused_by_name)
{
    expect_unread("{'a': 1}", "c.json: expected keys that the architecture knows, found '/a'");
    expect_unread("{'a': 1, 'n': null, 'f': false, 'z': 'x', 't': true, 'zero': 0}",
                  "c.json: expected keys that the architecture knows, found '/a', '/z', '/t', "
                  "'/zero'");
    expect_unread("{'o': {'a': 1, 'n': null, 'p~/q': 2}}",
                  "c.json: expected keys that the architecture knows, found '/o/a', '/o/p~0~1q'");
    expect_unread("{'list': [1, 2, [3]], 'o': [{'a': 1}]}",
                  "c.json: expected keys that the architecture knows, found '/list', '/o'");
    expect_unread("{'a': {'__float__': 'Infinity'}}",
                  "c.json: expected keys that the architecture knows, found '/a'");
    expect_unread("{}", NULL);
    expect_unread("{'n': null, 'f': false, 'o': {}, 'l': []}", NULL);
    struct config *config = config_of("{'a': 1}");
    expect_check(config, 1, NULL);
    config_close(config);
}

Test(config, reading_takes_out_the_leaf_alone)
{
    const char *text = "{'rope': {'kind': 'x', 'factor': 2}, 'list': ['a', 'b'], 'c': 1}";
    struct config *config = config_of(text);
    tapml_object *object = config_object(config);
    const tapml_host_config *table = config_table();
    cr_assert(table->has(object, "/rope"));
    cr_assert_str_eq(table->string(object, "/rope/kind", ""), "x");
    cr_assert_eq(table->length(object, "/list"), 2);
    cr_assert_str_eq(table->string(object, "/list/0", ""), "a");
    cr_assert(table->has(object, "/c"));
    expect_check(config, 0,
                 "c.json: expected keys that the architecture knows, found '/rope/factor', "
                 "'/list/1'");
    config_close(config);
}

Test(config, ignoring_takes_out_all_inside)
{
    struct config *config = config_of("{'o': {'a': 1, 'b': {'c': 2}}, 'list': [1, 2], 'x': 1}");
    tapml_object *object = config_object(config);
    const tapml_host_config *table = config_table();
    table->ignore(object, "/o");
    table->ignore(object, "/list");
    table->ignore(object, "/absent");
    expect_check(config, 0, "c.json: expected keys that the architecture knows, found '/x'");
    table->ignore(object, "/x");
    expect_check(config, 0, NULL);
    config_close(config);
}

Test(config, known_keys_that_change_no_number_pass)
{
    expect_unread(
        "{'architectures': ['XForCausalLM'], 'model_type': 'x', 'attention_dropout': 0.1,"
        " 'embd_pdrop': 0.1, 'resid_pdrop': 0.1, 'initializer_range': 0.02, 'init_std': 1,"
        " 'summary_type': 'cls_index', 'use_cache': true, 'output_attentions': true,"
        " 'router_aux_loss_coef': 0.1, 'transformers_version': '5', 'torch_dtype': 'x',"
        " 'dtype': 'x', 'pretraining_tp': 2, 'eos_token_id': [1, 2], 'pad_token_id': 0,"
        " 'id2label': {'0': 'a'}, 'label2id': {'a': 0}, 'auto_map': {'a': 'b'},"
        " 'bad_words_ids': [[1]], 'max_length': 20, 'temperature': 1.0, 'top_k': 50,"
        " '_name_or_path': 'x', 'task_specific_params': {'x': {'y': 1}},"
        " 'tokenizer_class': 'x', 'return_dict': true, 'chunk_size_feed_forward': 0,"
        " 'text_config': {'use_cache': true}, 'is_encoder_decoder': false}",
        NULL);
    expect_unread("{'is_encoder_decoder': true}",
                  "c.json: expected keys that the architecture knows, found '/is_encoder_decoder'");
    expect_unread(
        "{'tie_word_embeddings': true}",
        "c.json: expected keys that the architecture knows, found '/tie_word_embeddings'");
    expect_unread("{'rope_theta': 10000.0}",
                  "c.json: expected keys that the architecture knows, found '/rope_theta'");
}

Test(config, the_host_may_look_at_values)
{
    struct config *config = config_of("{'a': {'b': [1, 'x']}, 'c': null}");
    cr_assert_eq(json_integer_value(config_value(config, "/a/b/0")), 1);
    cr_assert_null(config_value(config, "/c"));
    cr_assert_null(config_value(config, "/d"));
    cr_assert_str_eq(config_name(config), "c.json");
    expect_check(config, 0, "c.json: expected keys that the architecture knows, found '/a/b/1'");
    cr_assert_not_null(config_value(config, "/a/b/1"));
    expect_check(config, 0, NULL);
    config_close(config);
}

Test(config, expectations_are_compared)
{
    struct config *config =
        config_of("{'a': 1, 'b': 1.0, 'c': 'x', 'd': false, 'e': [1, 2], 'f': {'g': 1},"
                  " 'h': null, 'i': Infinity}");
    tapml_object *object = config_object(config);
    const tapml_host_config *table = config_table();
    table->expect(object, "/a", "1");
    table->expect(object, "/a", "1.0");
    table->expect(object, "/b", "1");
    table->expect(object, "/c", "\"x\"");
    table->expect(object, "/d", "false");
    table->expect(object, "/e", "[1, 2]");
    table->expect(object, "/f", "{\"g\": 1}");
    table->expect(object, "/h", "5");
    table->expect(object, "/i", "{\"__float__\": \"Infinity\"}");
    table->expect(object, "/absent", "5");
    expect_check(config, 0, NULL);
    table->expect(object, "/c", "\"y\"");
    table->expect(object, "/d", "true");
    table->expect(object, "/e", "[1]");
    table->expect(object, "/a", "true");
    table->expect(object, "/b", "no json");
    expect_check(config, 1,
                 "c.json: '/c': expected \"y\", found '\"x\"'; '/d': expected true, found 'false'; "
                 "'/e': expected [1], found '[1,2]'; '/a': expected true, found '1'; "
                 "'/b': expected no json, found '1.0'");
    config_close(config);
}

static void expect_parse_refused(const char *text, const char *word)
{
    struct config *config = NULL;
    cr_assert_eq(parse(text, &config), TAPML_INVALID, "%s", text);
    cr_assert_not_null(strstr(status_message(), word), "%s", status_message());
    cr_assert_null(config);
}

Test(config, what_is_no_config_is_refused)
{
    expect_parse_refused("", "c.json");
    expect_parse_refused("[]", "object");
    expect_parse_refused("{'a': 1, 'a': 2}", "duplicate");
    expect_parse_refused("{'a': 1", "c.json:1");
}

Test(config, long_and_odd_pointers_are_absent)
{
    struct config *config = config_of("{'a': null}");
    char pointer[5000];
    memset(pointer, 'x', sizeof(pointer) - 1);
    pointer[0] = '/';
    pointer[sizeof(pointer) - 1] = '\0';
    tapml_object *object = config_object(config);
    cr_assert_not(config_table()->has(object, pointer));
    cr_assert_not(config_table()->has(object, "/a~"));
    cr_assert_not(config_table()->has(object, "//"));
    cr_assert(config_table()->has(object, ""));
    expect_check(config, 0, NULL);
    config_close(config);
}

Test(config, a_folder_is_opened)
{
    struct config *config = NULL;
    struct config *other = NULL;
    cr_assert_eq(config_open(scratch_data("models/llama"), &config), TAPML_OK);
    cr_assert_str_eq(config_model_type(config), "llama");
    expect_check(config, 1, NULL);
    cr_assert_eq(config_check(config, 0), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "models/llama/config.json"));
    cr_assert_not_null(strstr(status_message(), "'/hidden_size'"));
    cr_assert_eq(config_open(scratch_data("models/llama_yarn"), &other), TAPML_OK);
    cr_assert_not(hash_equal(config_hash(config), config_hash(other)));
    config_close(other);
    cr_assert_eq(config_open(scratch_data("models/llama"), &other), TAPML_OK);
    cr_assert(hash_equal(config_hash(config), config_hash(other)));
    config_close(other);
    config_close(config);
    cr_assert_eq(config_open("/nonexistent", &config), TAPML_NOT_FOUND);
    config = config_of("{'model_type': 5}");
    cr_assert_null(config_model_type(config));
    config_close(config);
}

// A key of 8 MiB before a million values is not written down a million times.
Test(config, what_nobody_read_is_named_in_bounded_room, .timeout = 60)
{
    enum { KEY = 1 << 21, VALUES = 200000 };
    struct config *config = NULL;
    struct text text;
    text_init(&text);
    text_append(&text, "{\"");
    for (int i = 0; i < KEY; i++) {
        text_append_bytes(&text, "k", 1);
    }
    text_append(&text, "\": {");
    for (int i = 0; i < VALUES; i++) {
        text_format(&text, "%s\"%d\": 1", i > 0 ? "," : "", i);
    }
    text_append(&text, "}, \"other\": {");
    for (int i = 0; i < VALUES; i++) {
        text_format(&text, "%s\"%d\": 1", i > 0 ? "," : "", i);
    }
    text_append(&text, "}}");
    cr_assert_eq(config_parse("config.json", text.data, &config), TAPML_OK);
    cr_assert_eq(config_check(config, 0), TAPML_INVALID);
    cr_assert_eq(config_check(config, 1), TAPML_OK);
    config_close(config);
    text_release(&text);
}

// A lost mark must not become a wrong verdict: the check says so.
static tapml_status use(void)
{
    struct config *config = NULL;
    TAPML_TRY(parse("{'a': 1, 'b': 'x', 'c': [1], 'd': 2}", &config));
    tapml_object *object = config_object(config);
    cr_assert_eq(config_table()->i64(object, "/a", 5), 1);
    cr_assert_eq(config_table()->i64(object, "/b", 5), 5);
    config_table()->ignore(object, "/c");
    config_table()->expect(object, "/d", "3");
    tapml_status status = config_check(config, 0);
    if (status == TAPML_INVALID && strstr(status_message(), "'/b'") &&
        strstr(status_message(), "'/d'")) {
        status = TAPML_OK; // As it must be where there is memory.
    }
    config_close(config);
    return status;
}

static tapml_status use_unread(void)
{
    struct config *config = NULL;
    TAPML_TRY(parse("{'a': 1, 'b': 'x', 'c': [1, 2]}", &config));
    cr_assert_eq(config_table()->i64(config_object(config), "/a", 5), 1);
    tapml_status status = config_check(config, 0);
    if (status == TAPML_INVALID && strstr(status_message(), "found '/b', '/c'")) {
        status = TAPML_OK;
    }
    config_close(config);
    return status;
}

Test(config, survives_without_memory)
{
    SCRATCH_SWEEP(use());
    SCRATCH_SWEEP(use_unread());
}

Test(config, the_account_says_what_became_of_the_keys)
{
    struct config *config =
        config_of("{\"a\": 1, \"b\": {\"c\": 2}, \"use_cache\": true, \"d\": null, \"e\": 3}");
    struct text text;
    text_init(&text);
    (void)config_table()->i64(config_object(config), "/a", 0);
    (void)config_table()->i64(config_object(config), "/b/c", 0);
    config_account(config, &text);
    cr_assert_str_eq(text.data,
                     "2 keys read, 2 passed over ('/use_cache', '/d'), unknown are '/e'");
    expect_check(config, 0, "c.json: expected keys that the architecture knows, found '/e'");
    cr_assert_not_null(strstr(status_message(), "; 2 keys were read, and 'unknown-keys = allow'"));
    text_release(&text);
    config_close(config);
}
