// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "base/ini.h"
#include "base/text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static tapml_status parse(const char *text, struct ini *out_ini)
{
    return ini_parse("run.ini", text, strlen(text), out_ini);
}

static void expect_refused(const char *text, const char *where)
{
    struct ini ini;
    const size_t live = alloc_live();
    cr_assert_eq(parse(text, &ini), TAPML_INVALID, "'%s' was read", text);
    cr_assert_eq(strncmp(status_message(), where, strlen(where)), 0, "%s", status_message());
    cr_assert_eq(alloc_live(), live);
}

Test(ini, sections_and_entries_keep_their_order)
{
    struct ini ini;
    cr_assert_eq(parse("\xef\xbb\xbf[run]\r\n"
                       "; a comment\n"
                       "dir = out ; inline\n"
                       "\n"
                       "[empty]\n"
                       "[target.gpu]\n"
                       "backend=x;y\n"
                       "name : one two  \n"
                       "[run]\n"
                       "none =\n"
                       "dir = again",
                       &ini),
                 TAPML_OK, "%s", status_message());
    cr_assert_eq(ini.section_count, 3);
    cr_assert_str_eq(ini.sections[0], "run");
    cr_assert_str_eq(ini.sections[1], "empty");
    cr_assert_str_eq(ini.sections[2], "target.gpu");
    cr_assert_eq(ini.count, 5);
    cr_assert_str_eq(ini.entries[0].section, "run");
    cr_assert_str_eq(ini.entries[0].key, "dir");
    cr_assert_str_eq(ini.entries[0].value, "out");
    cr_assert_eq(ini.entries[0].line, 3);
    cr_assert_str_eq(ini.entries[1].value, "x;y");
    cr_assert_eq(ini.entries[1].line, 7);
    cr_assert_str_eq(ini.entries[2].value, "one two");
    cr_assert_eq(ini.entries[4].line, 11);
    cr_assert_str_eq(ini_get(&ini, "run", "dir"), "again");
    cr_assert_str_eq(ini_get(&ini, "run", "none"), "");
    cr_assert_null(ini_get(&ini, "run", "backend"));
    cr_assert(ini_has_section(&ini, "empty"));
    cr_assert_not(ini_has_section(&ini, "target"));
    ini_release(&ini);
    ini_release(NULL);
}

Test(ini, an_empty_text_is_fine)
{
    struct ini ini;
    cr_assert_eq(parse("", &ini), TAPML_OK);
    cr_assert_eq(ini.count, 0);
    cr_assert_eq(ini.section_count, 0);
    cr_assert_null(ini_get(&ini, "", ""));
    ini_release(&ini);
}

Test(ini, what_is_wrong_is_refused_with_its_line)
{
    expect_refused("[run]\nword\n", "run.ini:2: ");
    expect_refused("[run\nkey = 1\n", "run.ini:1: ");
    expect_refused("[]\n", "run.ini:1: ");
    expect_refused("[run] x\n", "run.ini:1: ");
    expect_refused("[run]\nkey = 1\n  joined\n", "run.ini:3: ");
    expect_refused("\tkey = 1\n", "run.ini:1: ");
    expect_refused(" [run]\n", "run.ini:1: ");
    expect_refused("= 1\n", "run.ini:1: ");
    expect_refused("[run]\nkey ; = 1\n", "run.ini:2: expected 'key = value' or '[section]', found");
}

struct told {
    char sentences[8][128];
    size_t count;
};

static void keep_sentence(void *user, const char *sentence)
{
    struct told *told = user;
    cr_assert_lt(told->count, 8);
    snprintf(told->sentences[told->count++], sizeof(told->sentences[0]), "%.127s", sentence);
}

Test(ini, a_survey_goes_on_behind_what_is_wrong)
{
    struct scratch scratch;
    struct told told = {.count = 0};
    struct ini ini;
    scratch_make(&scratch);
    const char *path =
        scratch_text(&scratch, "x.ini", "[a]\nb = 1\n joined\nword\n[c\nd = 2\n= 3\n[e]\nf = 4\n");
    cr_assert_eq(ini_survey(path, keep_sentence, &told, &ini), TAPML_OK, "%s", status_message());
    cr_assert_eq(told.count, 3);
    cr_assert_not_null(strstr(told.sentences[0], "x.ini:3: expected no blank"));
    cr_assert_not_null(strstr(told.sentences[1], "x.ini:4: expected 'key = value'"));
    cr_assert_not_null(strstr(told.sentences[2], "x.ini:5: expected '[section]'"));
    // What stands in the section that could not be read is nobody's.
    cr_assert_eq(ini.count, 2);
    cr_assert_str_eq(ini_get(&ini, "a", "b"), "1");
    cr_assert_eq(ini_find(&ini, "e", "f")->line, 9);
    cr_assert_eq(ini.section_count, 2);
    cr_assert_eq(ini.section_lines[1], 8);
    ini_release(&ini);
    scratch_remove(&scratch);
}

Test(ini, a_zero_byte_is_refused)
{
    struct ini ini;
    cr_assert_eq(ini_parse("x", "a = b\0c\n", 8, &ini), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "x:1: "));
}

// A line of `key_length` and `value_length` bytes, or a section of `key_length` where that is -1.
static tapml_status parse_long(int key_length, int value_length)
{
    char line[1000];
    char word[500];
    memset(word, 'x', sizeof(word));
    struct ini ini;
    if (value_length < 0) {
        snprintf(line, sizeof(line), "[%.*s]\n", key_length, word);
    } else {
        snprintf(line, sizeof(line), "%.*s=%.*s\n", key_length, word, value_length, word);
    }
    TAPML_TRY(parse(line, &ini));
    const size_t found = value_length < 0 ? strlen(ini.sections[0]) : strlen(ini.entries[0].value);
    cr_assert_eq(found, (size_t)(value_length < 0 ? key_length : value_length));
    ini_release(&ini);
    return TAPML_OK;
}

Test(ini, nothing_is_cut_without_a_word)
{
    cr_assert_eq(parse_long(49, 148), TAPML_OK);
    cr_assert_eq(parse_long(50, 1), TAPML_INVALID);
    cr_assert_eq(parse_long(8, 189), TAPML_OK);
    cr_assert_eq(parse_long(7, 190), TAPML_INVALID);
    cr_assert_eq(parse_long(49, 189), TAPML_INVALID);
    cr_assert_eq(parse_long(49, -1), TAPML_OK);
    cr_assert_eq(parse_long(50, -1), TAPML_INVALID);
}

Test(ini, a_long_comment_is_not_taken_for_an_entry)
{
    char text[400];
    memset(text, ' ', sizeof(text));
    memcpy(text, "; comment", 9);
    memcpy(text + 300, "key = 1\n", sizeof("key = 1\n"));
    struct ini ini;
    cr_assert_eq(parse(text, &ini), TAPML_INVALID);
}

Test(ini, a_file_is_loaded_by_its_name)
{
    struct scratch scratch;
    scratch_make(&scratch);
    struct ini ini;
    const char *path = scratch_text(&scratch, "run.ini", "[a]\nb = c\n");
    cr_assert_eq(ini_load(path, &ini), TAPML_OK);
    cr_assert_str_eq(ini.name, path);
    cr_assert_str_eq(ini_get(&ini, "a", "b"), "c");
    ini_release(&ini);
    path = scratch_text(&scratch, "bad.ini", "[a]\nb\n");
    cr_assert_eq(ini_load(path, &ini), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "bad.ini:2: "));
    cr_assert_eq(ini_load(scratch_path(&scratch, "absent"), &ini), TAPML_NOT_FOUND);
    scratch_remove(&scratch);
}

Test(ini, a_second_byte_order_mark_is_refused)
{
    struct ini ini;
    cr_assert_eq(parse("\xef\xbb\xbf[a]\nb = c\n", &ini), TAPML_OK);
    cr_assert(ini_has_section(&ini, "a"));
    ini_release(&ini);
    cr_assert_eq(parse("\xef\xbb\xbf\xef\xbb\xbf[a]\nb = c\n", &ini), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "second byte order mark"));
}

Test(ini, time_does_not_grow_with_the_square_of_the_sections, .timeout = 60)
{
    struct text text;
    struct ini ini;
    text_init(&text);
    for (int i = 0; i < 100000; ++i) {
        text_format(&text, "[%d]\n", i);
    }
    cr_assert_eq(ini_parse("x", text.data, text.length, &ini), TAPML_OK);
    cr_assert_eq(ini.section_count, 100000);
    ini_release(&ini);
    text_release(&text);
}

static tapml_status build(void)
{
    struct ini ini;
    char text[4000];
    int length = 0;
    for (int i = 0; i < 40; ++i) {
        length += snprintf(text + length, sizeof(text) - (size_t)length, "[s%d]\nk = %d\n", i, i);
    }
    TAPML_TRY(ini_parse("x", text, (size_t)length, &ini));
    cr_assert_eq(ini.count, 40);
    cr_assert_eq(ini.section_count, 40);
    ini_release(&ini);
    return TAPML_OK;
}

Test(ini, survives_without_memory)
{
    SCRATCH_SWEEP(build());
}
