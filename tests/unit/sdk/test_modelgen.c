// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// modelgen makes the entry and the manifest of a family from its list, and refuses lists that make
// none.

#include "harness/tool.h"

#include <sys/stat.h>

TOOL_SUITE(modelgen);

static int modelgen(const char *arguments)
{
    return tool_run("TAPML_TEST_SOURCE", "sdk/tools/modelgen", arguments);
}

static const char *const good =
    "# A comment.\nshared\nsmall | Small: \"quoted\"\nwide architecture is=wide-1 is=Wide | Wide\n";

static void write_list(const char *text)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "%s/family", tool_folder);
    (void)mkdir(path, 0700); // It may be there.
    write_file("family/types", text);
}

Test(modelgen, a_component_for_each_type)
{
    write_list(good);
    cr_assert_eq(modelgen("entry entry.c family/types"), 0);
    const char *text = read_file("entry.c");

    cr_expect_neq(strstr(text, "#include \"family-note.h\""), NULL);
    cr_expect_neq(strstr(text, "extern const struct model_decoder describe_small;"), NULL);
    cr_expect_neq(strstr(text,
                         "MODEL_COMPONENT(small, \"Small: \\\"quoted\\\"\", model_decoder_create, "
                         "&describe_small)"),
                  NULL);
    cr_expect_neq(
        strstr(text, "MODEL_COMPONENT(wide, \"Wide\", model_root_create, &describe_wide)"), NULL);
    cr_expect_neq(strstr(text, "&small, &wide)"), NULL);
    cr_expect_eq(strstr(text, "shared"), NULL);
    cr_assert_eq(modelgen("manifest plugin.ini family/types"), 0);
    text = read_file("plugin.ini");
    cr_expect_neq(strstr(text, "id = org.tapml.family\n"), NULL);
    cr_expect_neq(strstr(text, "[component.wide]\nkind = tapml.model/1\ntitle = Wide\n"
                               "model-types = wide-1 Wide\n"),
                  NULL);
    cr_expect_neq(strstr(text, "\nmodel-types = small\n"), NULL);
}

Test(modelgen, a_header_of_all_families)
{
    write_list(good);
    cr_assert_eq(modelgen("header types.h family/types"), 0);
    const char *text = read_file("types.h");

    cr_expect_neq(strstr(text, "extern const struct model_architecture describe_wide;"), NULL);
    cr_expect_neq(strstr(text, "#define MODEL_DECODERS(X) \\\n    X(small)\n"), NULL);
    cr_expect_neq(strstr(text, "#define MODEL_TYPES(X) \\\n    X(small, \"small\") \\\n"
                               "    X(wide, \"wide-1 Wide\")\n"),
                  NULL);
}

Test(modelgen, wrong_lists)
{
    static const char *const wrong[][2] = {
        {"shared\n", "it has no types"},
        {"small |\n",
         "types:1: expected 'TYPE [architecture] [is=TYPE]... | TITLE', found 'small |'"},
        {"small encoder | Small\n", "types:1: expected"},
        {"Small | Small\n", "types:1: expected"},
        {"small | Small\nsmall | Again\n", "types:2: 'small' stands there twice"},
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        write_list(wrong[i][0]);
        cr_expect_eq(modelgen("entry entry.c family/types"), 1);
        cr_expect_neq(strstr(read_file("said"), wrong[i][1]), NULL, "%s", wrong[i][1]);
    }
    cr_expect_eq(modelgen("entry entry.c nowhere/types"), 1);
    cr_expect_eq(modelgen("entry entry.c"), 2);
}
