// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/text.h"
#include "dump/divergence.h"
#include "dump/divergence_report.h"
#include "dump/dump.h"
#include "dump/dump_catalogue.h"
#include "schema/catalogue.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct catalogue *catalogue;
static struct dump *first, *second;
static struct divergence divergence;
static struct text text;

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static void add(struct dump *dump, const char *name, const float *data)
{
    static const char *const sources[] = {"inp"};

    MUST(dump_add(dump, &(struct dump_tensor){.name = name,
                                              .op = "tapml.silu",
                                              .sources = sources,
                                              .source_count = 1,
                                              .dtype = TAPML_F32,
                                              .rank = 1,
                                              .shape = {2},
                                              .data = data}));
}

static void begin(void)
{
    MUST(dump_catalogue_create(&catalogue));
    MUST(dump_create("a.txt", &first));
    MUST(dump_create("b.txt", &second));
    text_init(&text);
}

static void end(void)
{
    text_release(&text);
    divergence_release(&divergence);
    dump_destroy(first);
    dump_destroy(second);
    catalogue_destroy(catalogue);
}

TestSuite(divergence_report, .init = begin, .fini = end);

static void find(void)
{
    const struct divergence_options options = {
        .first = first, .second = second, .catalogue = catalogue};

    MUST(divergence_find(&options, &divergence));
    divergence_report_print(&divergence, first, second, &text);
    MUST(text_status(&text));
}

static const float values[] = {1, 2}, other[] = {1, NAN};

static void contains(const char *piece)
{
    cr_assert_not_null(strstr(text.data, piece), "'%s' lacks '%s'", text.data, piece);
}

Test(divergence_report, the_first_place_is_named_with_its_op)
{
    json_t *document = NULL;

    first->is_ordered = 1;
    add(first, "x", values);
    add(first, "fused", values);
    add(first, "y", values);
    add(second, "x", other);
    add(second, "y", other);
    find();
    contains("first diverges at x [2], computed by tapml.silu from inp: 1 values are NaN");
    contains("element 1 is 2 and nan");
    contains("all that it was computed from is equal in both: the op differs");
    contains("then differ: y\n");
    contains("compared: 2; equal 0, within their limits 0, different 2");
    contains("only in a.txt, so fused or left out in the other: 1 (fused)");
    MUST(divergence_report_data(&divergence, first, second, &document));
    cr_assert_str_eq(json_string_value(json_object_get(document, "format")), "tapml-divergence/1");
    const json_t *row = json_array_get(json_object_get(document, "different"), 0);

    cr_assert_str_eq(json_string_value(json_object_get(row, "second")), "NaN");
    cr_assert_eq(json_array_size(json_object_get(document, "only_first")), 1u);
    json_decref(document);
}

Test(divergence_report, what_is_alike_says_so)
{
    add(first, "x", values);
    add(second, "x", values);
    find();
    contains("nothing diverges\ncompared: 1; equal 1");
    contains("the order is that of the names");
}
