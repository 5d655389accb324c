// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_maker.h"

#include <criterion/criterion.h>
#include <math.h>

Test(report_maker, members_are_put_and_parts_taken_over)
{
    struct report_maker maker = report_maker_begin();
    struct report_maker part = report_maker_begin();
    struct report_maker item = report_maker_begin();

    report_maker_text(&maker, "text", "a");
    report_maker_text(&maker, "none", NULL);
    report_maker_count(&maker, "count", 7);
    report_maker_put(&maker, "list", json_array());
    report_maker_append(&maker, json_object_get(maker.object, "list"), &item);
    report_maker_part(&maker, "part", &part);
    cr_assert_eq(report_maker_finish(&maker), TAPML_OK);
    char *text = json_dumps(maker.object, JSON_COMPACT);

    cr_assert_str_eq(text, "{\"text\":\"a\",\"none\":\"\",\"count\":7,\"list\":[{}],\"part\":{}}");
    free(text);
    json_decref(maker.object);
}

Test(report_maker, a_failure_is_remembered)
{
    struct report_maker maker = report_maker_begin();
    struct report_maker part = report_maker_begin();

    report_maker_put(&part, "absent", NULL);
    report_maker_text(&part, "text", "a");
    cr_assert_eq(report_maker_finish(&part), TAPML_NO_MEMORY);
    report_maker_part(&maker, "part", &part);
    cr_assert_eq(report_maker_finish(&maker), TAPML_NO_MEMORY);
    json_decref(maker.object);
}

static void expect(json_t *value, const char *text)
{
    char *made = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

    cr_expect_str_eq(made, text);
    free(made);
    json_decref(value);
}

Test(report_maker, values_that_json_does_not_have)
{
    expect(report_maker_number(0.5), "0.5");
    expect(report_maker_number(NAN), "\"NaN\"");
    expect(report_maker_number(INFINITY), "\"Infinity\"");
    expect(report_maker_number(-INFINITY), "\"-Infinity\"");
    expect(report_maker_margin(NAN), "null");
    expect(report_maker_margin(INFINITY), "\"Infinity\"");
    expect(report_maker_string("caf\xc3\xa9"), "\"caf\xc3\xa9\"");
    expect(report_maker_string("a\xff\xc3z"), "\"a\xef\xbf\xbd\xef\xbf\xbdz\"");
}
