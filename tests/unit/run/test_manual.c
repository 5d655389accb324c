// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/quotes.h"
#include "run/manual.h"

#include <criterion/redirect.h>
#include <stdlib.h>

static const struct options_spec specs[] = {
    {"--model", "DIR", "a \"folder\""}, {"--help", NULL, "prints this"}, {NULL, NULL, NULL}};
static const struct options_manual takes = {"tool --model DIR\ntool", "First.\nSecond.", specs};
static const struct options_spec none[] = {{NULL, NULL, NULL}};
static const struct options_manual nothing = {"tool one", "", none};

// What was printed, which the caller owns.
static json_t *printed(const struct manual *manual)
{
    json_error_t error;

    cr_assert_eq(manual_print(manual), TAPML_OK);
    (void)fflush(stdout);
    json_t *json = json_loadf(cr_get_redirected_stdout(), JSON_REJECT_DUPLICATES, &error);

    cr_assert_not_null(json, "line %d: %s", error.line, error.text);
    return json;
}

// The member of `json` is `expected`, in single quotes.
static void expect_member(const json_t *json, const char *name, const char *expected)
{
    json_t *wanted = quotes_json(expected);
    char *found = json_dumps(json_object_get(json, name), JSON_ENCODE_ANY);

    cr_expect(json_equal(json_object_get(json, name), wanted), "%s: %s", name, found);
    free(found);
    json_decref(wanted);
}

TestSuite(manual, .init = cr_redirect_stdout);

Test(manual, of_a_program_without_commands)
{
    static const struct outcome_meaning codes[] = {{0, "success"}, {77, "no device"}, {0, NULL}};
    json_t *json =
        printed(&(struct manual){.own = {"tool", "a tool", &takes}, .exit_codes = codes});
    const json_t *own = json_object_get(json, "own");

    expect_member(json, "commands", "[]");
    expect_member(json, "files", "[]");
    expect_member(own, "name", "'tool'");
    expect_member(own, "about", "'a tool'");
    expect_member(own, "usage", "['tool --model DIR', 'tool']");
    expect_member(own, "description", "'First.\\nSecond.'");
    expect_member(own, "options",
                  "[{'name': '--model', 'value': 'DIR', 'help': 'a \\'folder\\''}, "
                  "{'name': '--help', 'short': '-h', 'help': 'prints this'}]");
    expect_member(json, "exit_codes",
                  "[{'code': 0, 'means': 'success'}, {'code': 77, 'means': 'no device'}]");
    json_decref(json);
}

static const struct key_section sections[] = {{"run", "run", "A run.", 0},
                                              {"any.", "any.NAME", "Others.", 1}};
static const struct key keys[] = {
    {.section = "run",
     .name = "keep",
     .kind = KEY_NUMBER,
     .fallback = "2",
     .high = 7,
     .example = "5",
     .help = "Which."},
    {.section = "run",
     .name = "dir",
     .kind = KEY_TEXT,
     .is_needed = 1,
     .unless = "run.keep",
     .may_repeat = 1,
     .type = "a folder",
     .example = "here",
     .help = "Where."},
};

Test(manual, of_commands_and_files)
{
    const struct key_table table = {sections, 2, keys, 2, ""};
    const struct manual_command commands[] = {{"one", "does one", &nothing},
                                              {"two", "does two", &nothing}};
    const struct manual_file file = {"tool.ini", "a file", "Lines.", &table};
    json_t *json = printed(&(struct manual){.own = {"tool", "a tool", &takes},
                                            .commands = commands,
                                            .command_count = 2,
                                            .files = &file,
                                            .file_count = 1,
                                            .exit_codes = outcome_meanings});

    expect_member(json, "commands",
                  "[{'name': 'one', 'about': 'does one', 'usage': ['tool one'], 'description': '', "
                  "'options': []}, {'name': 'two', 'about': 'does two', 'usage': ['tool one'], "
                  "'description': '', 'options': []}]");
    const json_t *described = json_array_get(json_object_get(json, "files"), 0);
    const json_t *list = json_object_get(described, "sections");

    expect_member(described, "name", "'tool.ini'");
    expect_member(described, "title", "'a file'");
    expect_member(described, "about", "'Lines.'");
    expect_member(json_array_get(list, 0), "title", "'run'");
    expect_member(json_array_get(list, 0), "keys",
                  "[{'name': 'keep', 'takes': 'a whole number from 0 to 7', 'default': '2', "
                  "'needed': false, 'may_repeat': false, 'example': '5', "
                  "'help': 'Which.'}, {'name': 'dir', 'takes': 'a folder', "
                  "'needed': true, 'unless': 'run.keep', 'may_repeat': true, 'example': 'here', "
                  "'help': 'Where.'}]");
    expect_member(json_array_get(list, 1), "takes_any_key", "true");
    expect_member(json_array_get(list, 1), "keys", "[]");
    json_decref(json);
}
