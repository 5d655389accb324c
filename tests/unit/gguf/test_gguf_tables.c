// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "gguf/gguf_tables.h"

#include <criterion/criterion.h>
#include <string.h>

// A rule is a name, an object with one, or null.
static void check_rule(const char *name, const json_t *rule)
{
    static const char *const members[] = {
        "from",      "rotary", "groups",  "axis",      "cut",          "take",
        "add",       "insert", "flatten", "transpose", "log_negative", "rank",
        "alternate", "fill",   "rows",    "stacked",   "double_every"};
    const char *member = NULL;
    json_t *value = NULL;
    cr_assert(json_is_string(rule) || json_is_null(rule) || json_object_get(rule, "from"), "%s",
              name);
    json_object_foreach((json_t *)(uintptr_t)rule, member, value)
    {
        int is_known = 0;
        for (size_t i = 0; i < sizeof(members) / sizeof(*members); ++i) {
            is_known |= strcmp(member, members[i]) == 0;
        }
        cr_assert(is_known, "%s: '%s'", name, member);
    }
}

Test(gguf_tables, tables_are_complete)
{
    cr_assert_gt(gguf_tables_count(), 40);
    for (size_t i = 0; i < gguf_tables_count(); ++i) {
        json_t *root = NULL;
        json_t *base = NULL;
        const char *name = NULL;
        json_t *rule = NULL;
        cr_assert_eq(gguf_tables_load(i, &root), TAPML_OK, "%s", status_message());
        cr_assert(json_is_object(json_object_get(root, "config")));
        const char *like = json_string_value(json_object_get(root, "like"));
        if (like) {
            cr_assert_eq(gguf_tables_load_named(like, &base), TAPML_OK, "%s", status_message());
        }
        json_object_foreach(json_object_get(root, "tensors"), name, rule)
        {
            check_rule(name, rule);
        }
        json_decref(base);
        json_decref(root);
    }
}

Test(gguf_tables, an_unknown_name_is_refused)
{
    json_t *root = NULL;
    cr_assert_eq(gguf_tables_load_named("no such", &root), TAPML_INTERNAL);
    cr_assert_not_null(strstr(status_message(), "no such"));
}
