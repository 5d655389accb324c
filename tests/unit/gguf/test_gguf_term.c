// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "gguf/gguf_term.h"
#include "harness/gguf_maker.h"

#include <criterion/criterion.h>

static struct scratch scratch;
static struct gguf_maker maker;

static void setup(void)
{
    scratch_make(&scratch);
    gguf_maker_begin(&maker);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(gguf_term, .init = setup, .fini = teardown);

static struct gguf *make(void)
{
    struct gguf *gguf = NULL;
    gguf_maker_u32(&maker, "a.count", 6);
    gguf_maker_f32(&maker, "a.eps", 1e-5F);
    gguf_maker_string(&maker, "word", "w");
    gguf_maker_array(&maker, "a.list", 4, 3);
    for (uint32_t i = 0; i < 3; ++i) {
        gguf_maker_number(&maker.keys, i, 4);
    }
    gguf_maker_tensor(&maker, "t.weight", 2, 3);
    cr_assert_eq(gguf_open(gguf_maker_write(&maker, &scratch, "x.gguf"), &gguf), TAPML_OK);
    return gguf;
}

Test(gguf_term, terms_have_values)
{
    static const struct {
        const char *term, *value; // NULL: not there.
    } cases[] = {
        {"count", "6"},
        {"eps", "1e-5"},
        {"/word", "\"w\""},
        {"none", NULL},
        {"none | count", "6"},
        {"count | none", "6"},
        {"0.5", "0.5"},
        {"-3", "-3"},
        {"'text'", "\"text\""},
        {"list", "[0, 1, 2]"},
        {"at(list, 2)", "2"},
        {"at(list, 3)", NULL},
        {"at(count, 1)", "6"},
        {"has(t.weight)", "true"},
        {"lacks(t.weight)", "false"},
        {"extent(t.weight, 0)", "2"},
        {"extent(t.weight, 2)", NULL},
        {"values(t.weight)", "[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]"},
        {"mul(count, 2)", "12"},
        {"div(count, 4)", "1.5"},
        {"div(count, 3)", "2"},
        {"div(count, 0)", "null"},
        {"sub(count, 7)", "-1"},
        {"sqrt(4)", "2.0"},
        {"mul(none, 2)", NULL},
        {"same(count, 6.0)", "true"},
        {"not(same('a', 'b'))", "true"},
        {"any(list)", "true"},
        {"largest(list)", "2"},
        {"largest(count)", "6"},
        {"largest(/word)", NULL},
        {"pattern(3, 2, 'x', 'y')", "[\"y\", \"x\", \"y\"]"},
        {"choose(list, 'x', 'y')", "[\"y\", \"x\", \"x\"]"},
    };
    struct gguf *gguf = make();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
        json_t *value = NULL;
        json_t *expected =
            cases[i].value ? json_loads(cases[i].value, JSON_DECODE_ANY, NULL) : NULL;
        const size_t live = alloc_live();
        cr_assert_eq(gguf_term_evaluate(gguf, "a", cases[i].term, &value), TAPML_OK, "%s: %s",
                     cases[i].term, status_message());
        const int is_null = !value && (!expected || json_is_null(expected));
        cr_assert(is_null || json_equal(value, expected), "%s", cases[i].term);
        json_decref(value);
        json_decref(expected);
        cr_assert_eq(alloc_live(), live);
    }
    gguf_close(gguf);
}

Test(gguf_term, what_is_no_term_is_refused)
{
    static const char *const terms[] = {
        "",     "count)",      "mul(count)", "f(count)",     "'a",
        "has(", "count count", "|",          "mul(1, 2, 3)", "pattern(100000000, 2, 1, 2)"};
    struct gguf *gguf = make();
    for (size_t i = 0; i < sizeof(terms) / sizeof(*terms); ++i) {
        json_t *value = NULL;
        cr_assert_eq(gguf_term_evaluate(gguf, "a", terms[i], &value), TAPML_INVALID, "%s",
                     terms[i]);
        cr_assert_null(value);
    }
    gguf_close(gguf);
}

Test(gguf_term, nothing_false_and_zero_are_not_true)
{
    json_t *zero = json_integer(0);
    json_t *text = json_string("");
    cr_assert_not(gguf_term_is_true(NULL));
    cr_assert_not(gguf_term_is_true(json_false()));
    cr_assert_not(gguf_term_is_true(zero));
    cr_assert(gguf_term_is_true(json_true()));
    cr_assert(gguf_term_is_true(text));
    json_decref(zero);
    json_decref(text);
}
