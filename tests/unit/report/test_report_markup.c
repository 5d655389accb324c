// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_markup.h"

#include <criterion/criterion.h>
#include <math.h>

static void expect(const char *value, const char *escaped)
{
    struct text text;

    text_init(&text);
    REPORT_MARKUP(&text, "<a b=\"{}\">", value);
    cr_expect_eq(text.length, strlen(escaped) + strlen("<a b=\"\">"), "%s", text.data);
    cr_expect_not_null(strstr(text.data, escaped), "%s", text.data);
    text_release(&text);
}

Test(report_markup, every_value_is_escaped)
{
    expect("plain", "plain");
    expect("<script>alert('1')</script>", "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;");
    expect("\" onclick=\"", "&quot; onclick=&quot;");
    expect("a & b &amp;", "a &amp; b &amp;amp;");
    expect("{}", "{}");
    expect("caf\xc3\xa9", "caf\xc3\xa9");
}

Test(report_markup, what_xml_does_not_have_is_replaced)
{
    expect("a\x01z", "a\xef\xbf\xbdz");
    expect("a\x1b[31m", "a\xef\xbf\xbd[31m");
    expect("\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd");
    expect("\xef\xbf\xbf", "\xef\xbf\xbd");
    expect("\xc2\x85", "\xef\xbf\xbd");
    expect("a\nb\tc", "a&#10;b&#9;c");
}

Test(report_markup, holes_without_values_are_empty)
{
    struct text text;

    text_init(&text);
    REPORT_MARKUP(&text, "{}-{}-{}", "a", "b");
    cr_assert_str_eq(text.data, "a-b-");
    text_release(&text);
}

Test(report_markup, members_have_defaults)
{
    json_t *object = json_pack("{s:s,s:i,s:f,s:s,s:n,s:s}", "text", "a", "count", 3, "real", 0.5,
                               "wide", "Infinity", "none", "nan", "NaN");

    cr_assert_str_eq(report_markup_string(object, "text"), "a");
    cr_assert_str_eq(report_markup_string(object, "count"), "");
    cr_assert_str_eq(report_markup_string(NULL, "text"), "");
    cr_assert_eq(report_markup_count(object, "count"), 3);
    cr_assert_eq(report_markup_count(object, "text"), 0);
    cr_assert_eq(report_markup_number(object, "real"), 0.5);
    cr_assert_eq(report_markup_number(object, "count"), 3);
    cr_assert_eq(report_markup_number(object, "wide"), INFINITY);
    cr_assert(isnan(report_markup_number(object, "none")));
    cr_assert(isnan(report_markup_number(object, "nan")));
    cr_assert(isnan(report_markup_number(object, "absent")));
    json_decref(object);
}

Test(report_markup, numbers_read_as_people_write_them)
{
    char out[REPORT_MARKUP_SHORT];

    cr_expect_str_eq(report_markup_thousands(0, out), "0");
    cr_expect_str_eq(report_markup_thousands(999, out), "999");
    cr_expect_str_eq(report_markup_thousands(1234567, out), "1,234,567");
    cr_expect_str_eq(report_markup_thousands(-1234, out), "-1,234");
    cr_expect_str_eq(report_markup_thousands(INT64_MIN, out), "-9,223,372,036,854,775,808");
    json_t *object = json_pack("{s:i}", "cases", 4321);

    cr_expect_str_eq(report_markup_thousands_of(object, "cases", out), "4,321");
    cr_expect_str_eq(report_markup_thousands_of(object, "calls", out), "0");
    json_decref(object);
    cr_expect_str_eq(report_markup_time(0, out), "0 ns");
    cr_expect_str_eq(report_markup_time(999, out), "999 ns");
    cr_expect_str_eq(report_markup_time(12345, out), "12.3 \xc2\xb5s");
    cr_expect_str_eq(report_markup_time(440000000, out), "440 ms");
    cr_expect_str_eq(report_markup_time(1310000000, out), "1.3 s");
    cr_expect_str_eq(report_markup_time(600 * INT64_C(1000000000), out), "10.0 min");
    cr_expect_str_eq(report_markup_margin(0, out), "=");
    cr_expect_str_eq(report_markup_margin(0.004, out), "<.01");
    cr_expect_str_eq(report_markup_margin(0.71, out), "0.71");
    cr_expect_str_eq(report_markup_margin(12.4, out), "12");
    cr_expect_str_eq(report_markup_margin(131000, out), "1.3e5");
    cr_expect_str_eq(report_markup_margin(1e300, out), "1.0e300");
    cr_expect_str_eq(report_markup_margin(NAN, out), "?");
    cr_expect_str_eq(report_markup_margin(INFINITY, out), "\xe2\x88\x9e");
    cr_expect_str_eq(report_markup_value(-0.7714, 7, out), "-0.7714");
    cr_expect_str_eq(report_markup_value(1.5e-6, 3, out), "1.5e-6");
    cr_expect_str_eq(report_markup_value(1e10, 3, out), "1e10");
    cr_expect_str_eq(report_markup_value(NAN, 3, out), "NaN");
    cr_expect_str_eq(report_markup_value(-INFINITY, 3, out), "-\xe2\x88\x9e");
    cr_expect_str_eq(report_markup_date(0, out), "1 January 1970, 00:00 UTC");
    cr_expect_str_eq(report_markup_date(1795269720, out), "21 November 2026, 14:02 UTC");
}

static json_t *blamed_of(const char *op, const char *evidence)
{
    return json_pack("{s:s, s:s}", "op", op, "evidence", evidence);
}

Test(report_markup, a_command_of_a_folder_is_one_outside_of_it)
{
    struct text out;

    text_init(&out);
    cr_expect_eq(report_markup_command("replay F-1 --target gpu", "F-1", "my run", &out), 1);
    cr_expect_str_eq(out.data, "replay 'my run'/F-1 --target gpu");
    cr_expect_eq(report_markup_command("check-device", "", "my run", &out), 0);
    cr_expect_eq(report_markup_command("check-device", "F-1", "my run", &out), 0);
    cr_expect_str_eq(out.data, "replay 'my run'/F-1 --target gpu");
    text_release(&out);
}

Test(report_markup, the_first_of_an_op_fails_in_the_model_if_one_does)
{
    json_t *blamed =
        json_pack("[o, o, o, o, o]", blamed_of("a", "derived"), blamed_of("b", "derived"),
                  blamed_of("a", "case"), blamed_of("a", "call"), blamed_of("b", "derived"));
    static const int firsts[] = {0, 1, 1, 0, 0};

    cr_assert_not_null(blamed);
    for (size_t i = 0; i < 5; i++) {
        cr_expect_eq(report_markup_is_first(blamed, i), firsts[i], "%d", (int)i);
    }
    json_decref(blamed);
}
