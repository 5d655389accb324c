// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "model_fixture.h"

#include <tapml/model/root.h>

#include <criterion/criterion.h>
#include <string.h>

static const char description[] = "any";

static void build(struct model_context *context, const void *given)
{
    cr_assert_eq(given, description);
    model_fail(context, TAPML_INVALID, "built with %s", context->graph ? "a graph" : "nothing");
}

static void fill(struct model_context *context, const void *given, const struct model_fill *fill)
{
    cr_assert_eq(given, description);
    if (strcmp(fill->name, "positions") == 0) {
        model_fill_positions(context, fill, 8);
    } else {
        model_fill_nothing(context, fill);
    }
}

static const struct model_architecture architecture = {.model_type = "any",
                                                       .class_name = "AnyModel",
                                                       .description = description,
                                                       .build = build,
                                                       .fill = fill};

// A root over the config `text`.
static tapml_object *open_root(struct model_fixture **out_fixture, const char *text)
{
    tapml_object *root = NULL;

    *out_fixture = model_fixture_open(NULL, text);
    model_fixture_ok(
        model_root_create(&architecture, model_fixture_host(*out_fixture), NULL, &root));
    return root;
}

static void close_root(struct model_fixture *fixture, tapml_object *root)
{
    root->vt->release(root);
    model_fixture_close(fixture);
}

static const tapml_model *table_of(tapml_object *root)
{
    return root->vt->interface_of(root, TAPML_KIND_MODEL);
}

Test(model_root, is_a_model_and_nothing_else)
{
    const size_t live = alloc_live();
    struct model_fixture *fixture = NULL;
    tapml_object *root = open_root(&fixture, "{}");

    cr_assert_not_null(table_of(root));
    cr_assert_null(root->vt->interface_of(root, "tapml.backend/1"));
    close_root(fixture, root);
    cr_assert_eq(alloc_live(), live);
}

static uint32_t score(const char *text)
{
    struct model_fixture *fixture = NULL;
    tapml_object *root = open_root(&fixture, text);
    uint32_t score = 1234;

    model_fixture_ok(table_of(root)->match(root, NULL, model_fixture_config(fixture), &score));
    close_root(fixture, root);
    return score;
}

Test(model_root, matches_by_the_type_then_by_the_class)
{
    cr_assert_eq(score("{\"model_type\": \"any\"}"), 100);
    cr_assert_eq(score("{\"architectures\": [\"AnyModel\"]}"), 90);
    cr_assert_eq(score("{\"model_type\": \"other\", \"architectures\": [\"AnyModel\"]}"), 0);
    cr_assert_eq(score("{}"), 0);
}

Test(model_root, builds_and_reports_what_was_wrong)
{
    struct model_fixture *fixture = NULL;
    tapml_object *root = open_root(&fixture, "{}");

    model_fixture_expect(table_of(root)->build(root, NULL, model_fixture_config(fixture),
                                               model_fixture_weights(fixture),
                                               model_fixture_graph(fixture)),
                         TAPML_INVALID, "built with a graph");
    close_root(fixture, root);
}

Test(model_root, fills_positions)
{
    struct model_fixture *fixture = NULL;
    tapml_object *root = open_root(&fixture, "{}"), *config = model_fixture_config(fixture);
    const tapml_model *table = table_of(root);
    int32_t rows[3] = {0};

    model_fixture_ok(table->fill(root, NULL, config, "positions", 5, 3, 8, rows, sizeof(rows)));
    cr_assert(rows[0] == 5 && rows[1] == 6 && rows[2] == 7);
    model_fixture_expect(table->fill(root, NULL, config, "positions", 6, 3, 9, rows, sizeof(rows)),
                         TAPML_INVALID, "position 8 is beyond the 8 that the model knows");
    model_fixture_expect(
        table->fill(root, NULL, config, "positions", 5, 3, 8, rows, sizeof(rows) - 4),
        TAPML_INVALID, "positions of 3 tokens have not 8 bytes");
    model_fixture_expect(table->fill(root, NULL, config, "else", 5, 3, 8, rows, sizeof(rows)),
                         TAPML_NOT_FOUND, "no input 'else' is filled here");
    close_root(fixture, root);
}

Test(model_root, memory_may_run_out)
{
    struct model_fixture *fixture = model_fixture_open(NULL, "{}");
    tapml_object *root = NULL;

    alloc_fail_at(1);
    const tapml_status status =
        model_root_create(&architecture, model_fixture_host(fixture), NULL, &root);
    alloc_fail_at(0);
    model_fixture_expect(status, TAPML_NO_MEMORY, "no memory for the root");
    cr_assert_null(root);
    model_fixture_close(fixture);
}
