// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/workspace.h"

static int is_equal(struct workspace *workspace, const char *left, const char *right)
{
    const struct datum a = workspace_datum(workspace, left);
    const struct datum b = workspace_datum(workspace, right);
    int equal = -1;
    cr_assert_eq(datum_equal(&workspace->budget, &a, &b, &equal), TAPML_OK);
    return equal;
}

Test(datum, is_equal_as_in_python)
{
    struct workspace workspace;
    workspace_open(&workspace);
    cr_assert(is_equal(&workspace, "1", "1.0") && is_equal(&workspace, "true", "1"));
    cr_assert(is_equal(&workspace, "[1, \"a\"]", "[1.0, \"a\"]"));
    cr_assert(is_equal(&workspace, "{\"a\": 1, \"b\": 2}", "{\"b\": 2, \"a\": 1}"));
    cr_assert_not(is_equal(&workspace, "\"1\"", "1") || is_equal(&workspace, "null", "false"));
    cr_assert_not(is_equal(&workspace, "[1]", "[1, 2]") || is_equal(&workspace, "{}", "[]"));
    workspace_close(&workspace);
}

Test(datum, has_an_order_where_python_has_one)
{
    struct workspace workspace;
    int order = 0;
    workspace_open(&workspace);
    const struct datum one = workspace_datum(&workspace, "[1, 2]");
    const struct datum two = workspace_datum(&workspace, "[1, 3]");
    const struct datum word = datum_word("a");
    cr_assert_eq(datum_compare(&workspace.budget, &one, &two, &order), TAPML_OK);
    cr_assert_eq(order, -1);
    workspace_refused(datum_compare(&workspace.budget, &one, &word, &order), "have no order");
    workspace_close(&workspace);
}

Test(datum, is_true_unless_empty)
{
    struct workspace workspace;
    static const char *const empty[] = {"0", "0.0", "\"\"", "[]", "{}", "null", "false", NULL};
    workspace_open(&workspace);
    for (int i = 0; empty[i]; ++i) {
        const struct datum datum = workspace_datum(&workspace, empty[i]);
        cr_assert_not(datum_is_true(&datum), "%s", empty[i]);
    }
    const struct datum full = workspace_datum(&workspace, "[0]");
    cr_assert(datum_is_true(&full));
    workspace_close(&workspace);
}

Test(datum, sets_and_gets_members)
{
    struct workspace workspace;
    struct datum map;
    struct datum value;
    const struct datum key = datum_word("k");
    const struct datum one = datum_integer(1);
    const struct datum two = datum_integer(2);
    workspace_open(&workspace);
    cr_assert_eq(datum_make_map(&workspace.budget, DATUM_MAP, &map), TAPML_OK);
    cr_assert_eq(datum_set(&workspace.budget, &map, &key, &one), TAPML_OK);
    cr_assert_eq(datum_set(&workspace.budget, &map, &key, &two), TAPML_OK);
    workspace_is(&workspace, &map, "{'k': 2}");
    workspace_refused(datum_set(&workspace.budget, &map, &map, &one), "key of a member");
    cr_assert_eq(datum_get(&workspace.budget, &map, &one, &value), TAPML_OK);
    cr_assert_eq(value.kind, DATUM_UNDEFINED);
    workspace_close(&workspace);
}

Test(datum, has_items_and_a_length)
{
    struct workspace workspace;
    const struct datum_list *items = NULL;
    const struct datum text = datum_word("a\xc3\xa9");
    const struct datum number = datum_integer(5);
    size_t length = 0;
    int is_in = 0;
    workspace_open(&workspace);
    cr_assert_eq(datum_items(&workspace.budget, &text, &items), TAPML_OK);
    cr_assert_eq(items->count, 2);
    workspace_is(&workspace, &items->items[1], "\xc3\xa9");
    workspace_refused(datum_items(&workspace.budget, &number, &items), "no items");
    workspace_refused(datum_length(&workspace.budget, &number, &length), "no length");
    workspace_refused(datum_contains(&workspace.budget, &number, &text, &is_in), "cannot search");
    workspace_close(&workspace);
}

Test(datum, of_json_is_not_nested_without_end)
{
    struct workspace workspace;
    struct datum datum;
    json_t *json = json_array();
    workspace_open(&workspace);
    for (int i = 0; i < 2 * BUDGET_DEPTH; ++i) {
        json = json_pack("[o]", json);
    }
    workspace_refused(datum_from_json(&workspace.budget, json, &datum), "levels deep");
    json_decref(json);
    workspace_close(&workspace);
}
