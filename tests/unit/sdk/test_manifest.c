// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The manifest tool refuses what the host would refuse, with file, line, key, expected and found.

#include "harness/tool.h"

TOOL_SUITE(manifest_tool);

static int manifest(const char *arguments)
{
    return tool_run("TAPML_TEST_SOURCE", "sdk/tools/manifest", arguments);
}

#define PLUGIN                                                                                     \
    "; ours\n[plugin]\nformat = 1\nid = org.example.thing\nversion = 1.0.0\nlibrary = thing.so\n"
#define ABI       "abi = 1.0\n"
#define COMPONENT "[component.thing]\nkind = tapml.backend/1\n"

Test(manifest_tool, note)
{
    write_file("plugin.ini", PLUGIN ABI "\n" COMPONENT "options = a b\noptions = c");
    cr_assert_eq(manifest("note note.h plugin.ini"), 0, "%s", read_file("said"));
    const char *text = read_file("note.h");

    cr_expect_not_null(strstr(text, "\"[component.thing]\\n\""), "%s", text);
    cr_expect_not_null(strstr(text, "\"options = c\\n\""), "%s", text);
    cr_expect_null(strstr(text, "ours"), "%s", text);
}

// A later host may know it, as this one knows the first draft of policies, or not.
Test(manifest_tool, a_draft_is_called_one)
{
    write_file("plugin.ini", PLUGIN ABI "[component.thing]\nkind = tapml.policy/1-draft1\n");
    cr_assert_eq(manifest("note note.h plugin.ini"), 0, "%s", read_file("said"));
    cr_expect_str_eq(read_file("said"),
                     "manifest: plugin.ini: kind 'tapml.policy/1-draft1' is a draft: hosts that do "
                     "not know it refuse it, as later ones may\n");
}

Test(manifest_tool, wrong_input)
{
    static const char *const wrong[][2] = {
        {PLUGIN "abi = banana\n" COMPONENT,
         "plugin.ini:7: [plugin] abi: expected MAJOR.MINOR, such as 1.0, found 'banana'"},
        {PLUGIN COMPONENT, "plugin.ini: [plugin] has no 'abi', expected MAJOR.MINOR"},
        {PLUGIN ABI, "no section [component.ID]"},
        {PLUGIN ABI "[component.thing]\ntitle = Thing\n",
         "plugin.ini: [component.thing] has no 'kind', expected an id such as tapml.backend/1"},
        {PLUGIN ABI "[component.thing]\nkind = backend\n",
         "plugin.ini:9: [component.thing] kind: expected an id such as tapml.backend/1, found "
         "'backend'"},
        {PLUGIN ABI COMPONENT COMPONENT, "plugin.ini:10: section [component.thing] stands twice"},
        {PLUGIN ABI "[component.a thing]\nkind = tapml.backend/1\n", "a component's id has"},
        {"[plugin]\nformat = 2\n", "plugin.ini:2: [plugin] format: expected 1, the only format"},
        {"[plugin]\nformat = 1\nid = thing\n", "plugin.ini:3: [plugin] id: expected a reversed"},
        {PLUGIN "library\n", "plugin.ini:7: expected '[section]' or 'key = value'"},
        {"format = 1\n", "plugin.ini:1: expected '[section]'"},
        {PLUGIN " abi = 1.0\n", "plugin.ini:7: an indented line"},
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        write_file("plugin.ini", wrong[i][0]);
        cr_expect_eq(manifest("note note.h plugin.ini"), 1, "%s", wrong[i][0]);
        const char *said = read_file("said");

        cr_expect_not_null(strstr(said, wrong[i][1]), "'%s' gives '%s'", wrong[i][0], said);
    }
    cr_expect_eq(manifest("write out.tapml plugin.ini"), 1);
    cr_expect_not_null(strstr(read_file("said"), "not a 64-bit little-endian ELF file"));
}
