// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/quotes.h"
#include "base/text.h"
#include "tokenizer/templates.h"

#include <string.h>

static tapml_status read(const char *json, struct templates *templates)
{
    json_t *value = quotes_json(json);
    templates_init(templates);
    const tapml_status status = templates_read(templates, "t.json", value);
    json_decref(value);
    return status;
}

static void append(char *out, const struct ids *ids)
{
    for (size_t i = 0; i < ids->count; ++i) {
        snprintf(out + strlen(out), 16, "%d ", ids->items[i]);
    }
}

static void expect(const char *json, const char *expected)
{
    struct templates templates;
    char found[256] = "";
    cr_assert_eq(read(json, &templates), TAPML_OK, "%s", status_message());
    append(found, &templates.before);
    snprintf(found + strlen(found), 16, "A ");
    append(found, &templates.after);
    cr_assert_str_eq(found, expected);
    templates_release(&templates);
}

Test(templates, ids_stand_around_a_text)
{
    expect("null", "A ");
    expect("{'type': 'ByteLevel'}", "A ");
    expect("{'type': 'BertProcessing', 'cls': ['x', 1], 'sep': ['y', 2]}", "1 A 2 ");
    expect("{'type': 'RobertaProcessing', 'cls': ['x', 1], 'sep': ['y', 2]}", "1 A 2 ");
    expect("{'type': 'Sequence', 'processors': [{'type': 'TemplateProcessing', 'single':"
           " [{'SpecialToken': {'id': 'x'}}, {'Sequence': {'id': 'A'}}], 'special_tokens':"
           " {'x': {'ids': [9, 8]}}}, {'type': 'ByteLevel'}]}",
           "9 8 A ");
}

static void expect_refused(const char *json, const char *word)
{
    struct templates templates;
    cr_assert_eq(read(json, &templates), TAPML_INVALID, "%s", json);
    cr_assert_not_null(strstr(status_message(), word), "%s", status_message());
    templates_release(&templates);
}

Test(templates, what_is_wrong_is_refused)
{
    expect_refused("{'type': 'Other'}", "post_processor 'Other' is unsupported");
    expect_refused("{'type': 'TemplateProcessing'}", "template");
    expect_refused("{'type': 'Sequence'}", "'processors'");
    expect_refused("{'type': 'Sequence', 'processors': ["
                   " {'type': 'BertProcessing', 'cls': ['x', 1], 'sep': ['y', 2]},"
                   " {'type': 'RobertaProcessing', 'cls': ['x', 1], 'sep': ['y', 2]}]}",
                   "'RobertaProcessing' after another one");
    expect_refused("{'type': 'BertProcessing', 'cls': ['x', -1], 'sep': ['y', 2]}", "template");
}

Test(templates, ids_without_end_are_refused)
{
    struct text json;
    text_init(&json);
    text_append(&json, "{'type': 'TemplateProcessing', 'single': [{'Sequence': {'id': 'A'}}");
    for (int i = 0; i < 50; ++i) {
        text_append(&json, ", {'SpecialToken': {'id': 'x'}}");
    }
    text_append(&json, "], 'special_tokens': {'x': {'ids': [0");
    for (int i = 1; i < 100; ++i) {
        text_format(&json, ", %d", i);
    }
    text_append(&json, "]}}}");
    expect_refused(json.data, "at most 4096 ids");
    text_release(&json);
}
