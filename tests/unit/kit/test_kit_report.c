// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_report.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct kit_check check = {.id = "E-01", .level = KIT_STATIC, .about = "one <export>"};
static const struct kit_item items[] = {
    {.check = &check, .component = "", .result = {KIT_PASSED, "", 0}},
    {.check = &check, .component = "gpu", .result = {KIT_FAILED, "it \"exports\" two", 0}},
    {.check = &check, .component = "", .result = {KIT_SKIPPED, "no device", 0}},
    {.check = &check, .component = "", .result = {KIT_WARNED, "look\x1b[31m", 0}},
};

static json_t *make(void)
{
    const struct kit_head head = {
        .plugin = "org.example.x", .build_id = "0f", .path = "x.so", .device = "", .minor = 9};
    json_t *document = NULL;

    cr_assert_eq(kit_report_create(&head, items, 4, &document), TAPML_OK);
    return document;
}

static void expect_text(void (*print)(const json_t *document, struct text *out),
                        const char *const *pieces)
{
    json_t *document = make();
    struct text text;

    text_init(&text);
    print(document, &text);
    cr_assert_eq(text_status(&text), TAPML_OK);
    for (; *pieces != NULL; pieces++) {
        cr_expect_not_null(strstr(text.data, *pieces), "'%s' is not in:\n%s", *pieces, text.data);
    }
    text_release(&text);
    json_decref(document);
}

Test(kit_report, each_form_says_the_same)
{
    expect_text(
        kit_report_summary,
        (const char *const[]){"org.example.x: 1 passed, 1 warned, 1 failed, 1 skipped", NULL});
    expect_text(
        kit_report_tap,
        (const char *const[]){"TAP version 13\n1..4\n", "ok 1 - E-01: one <export>\n",
                              "not ok 2 - E-01 gpu: one <export>\n# failed: it \"exports\" two",
                              "ok 3 - E-01: one <export> # SKIP no device\n", NULL});
    expect_text(kit_report_junit,
                (const char *const[]){"tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"1\"",
                                      "one &lt;export&gt;",
                                      "<failure message=\"it &quot;exports&quot; two\"/>", NULL});
}

Test(kit_report, a_line_has_no_escapes_of_a_plugin)
{
    struct text text;

    text_init(&text);
    kit_report_line(&items[3], &text);
    cr_expect_not_null(strstr(text.data, "warned     E-01  one <export>: look"), "%s", text.data);
    cr_expect_null(strchr(text.data, '\x1b'));
    text_release(&text);
}
