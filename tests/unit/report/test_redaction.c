// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/report_part.h"
#include "report/redaction.h"

TestSuite(redaction, .init = report_part_begin, .fini = report_part_end);

static json_t *target(void)
{
    return json_array_get(json_object_get(report, "targets"), 0);
}

static json_t *first_of(const char *list)
{
    return json_array_get(json_object_get(target(), list), 0);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    cr_assert_not_null(text, "no '%s'", key);
    return text;
}

static void set(json_t *object, const char *key, const char *value)
{
    cr_assert_eq(json_object_set_new(object, key, json_string(value)), 0);
}

Test(redaction, takes_hashes_and_paths)
{
    set(json_object_get(report, "run"), "arguments", " --plugin /home/me/x.tapml");
    set(json_object_get(first_of("blamed"), "bundle"), "command",
        "tapml-host replay FAULT-1.tapmlrun --config /home/me/run.ini --target gpu");
    cr_assert_eq(redaction_apply(report), TAPML_OK);
    cr_assert_str_eq(text_of(json_object_get(report, "run"), "prompts_hash"), "redacted");
    cr_assert_str_eq(text_of(json_object_get(report, "run"), "arguments"), "");
    cr_assert_str_eq(text_of(json_object_get(first_of("blamed"), "bundle"), "command"),
                     "tapml-host replay FAULT-1.tapmlrun");
}

Test(redaction, numbers_of_other_ops_stay)
{
    cr_assert_eq(redaction_apply(report), TAPML_OK);
    cr_assert_str_eq(text_of(first_of("blamed"), "reason"), "y[1] is NaN");
    cr_assert_not_null(json_object_get(json_object_get(first_of("blamed"), "case"), "values"));
}

Test(redaction, numbers_that_tell_tokens_go)
{
    static const char *const ops[] = {"tapml.embed", "org.example.unknown"};

    for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
        json_t *copy = json_deep_copy(report);
        json_t *of = json_array_get(json_object_get(copy, "targets"), 0);
        json_t *blamed = json_array_get(json_object_get(of, "blamed"), 0);
        json_t *item = json_array_get(json_object_get(of, "cases"), 0);

        set(blamed, "op", ops[i]);
        set(item, "op", ops[i]);
        set(item, "key", "01ab");
        set(of, "nonfinite",
            "NaN first arises in 'embed' (tapml.embed): element [1] of its output 'y', where the "
            "source has 0.25");
        cr_assert_eq(redaction_apply(copy), TAPML_OK);
        cr_expect_str_eq(text_of(blamed, "reason"), "redacted");
        cr_expect_null(json_object_get(json_object_get(blamed, "case"), "values"));
        cr_expect_str_eq(text_of(json_object_get(blamed, "case"), "reason"), "redacted");
        cr_expect_str_eq(text_of(item, "reason"), "redacted");
        cr_expect_str_eq(text_of(item, "key"), "redacted");
        cr_expect_str_eq(text_of(of, "nonfinite"), "NaN first arises in 'embed' (tapml.embed)");
        json_decref(copy);
    }
}
