// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/key_reader.h"
#include "config/keys.h"
#include "config/run_config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

// Reads "[section] key = value" into `object`; the number of problems.
static size_t read_one(const char *section, const char *key, const char *value, void *object)
{
    char text[512];
    struct ini ini;
    struct problems problems;

    (void)snprintf(text, sizeof(text), "[%s]\n%s = %s\n", section, key, value);
    cr_assert_eq(ini_parse("x.ini", text, strlen(text), &ini), TAPML_OK, "%s", status_message());
    problems_init(&problems);
    key_reader_read(keys_table(), &ini, section, object, &problems);
    // The texts end with the ini; problems other than this key's are keys that are needed.
    size_t count = 0;
    char where[128];

    (void)snprintf(where, sizeof(where), "x.ini:2: [%s] %s: ", section, key);
    for (const char *at = problems.text.data; (at = strstr(at, where)) != NULL; at++) {
        count++;
    }
    problems_release(&problems);
    ini_release(&ini);
    return count;
}

Test(key_reader, every_default_and_every_example_is_one_that_the_key_takes)
{
    union {
        struct run_config run;
        struct place_settings target;
        struct run_config_fault fault;
    } object;

    for (size_t i = 0; keys_at(i) != NULL; i++) {
        const struct key *key = keys_at(i);
        char section[64];

        memset(&object, 0, sizeof(object));
        (void)snprintf(section, sizeof(section), "%s%s", key->section,
                       key->section[strlen(key->section) - 1] == '.' ? "x" : "");
        cr_assert_eq(read_one(section, key->name, key->example, &object), 0, "[%s] %s = %s",
                     section, key->name, key->example);
        if (key->fallback != NULL) {
            cr_assert_eq(read_one(section, key->name, key->fallback, &object), 0, "[%s] %s = %s",
                         section, key->name, key->fallback);
        }
    }
}

Test(key_reader, values_go_where_their_rows_say)
{
    struct run_config config = {.path = NULL};
    struct run_config_fault fault = {.target = NULL};

    cr_assert_eq(read_one("run", "decode", "7", &config), 0);
    cr_assert_eq(config.decode, 7);
    cr_assert_eq(config.capacity, 256);
    cr_assert_eq(read_one("run", "decode", "-1", &config), 1);
    cr_assert_eq(config.decode, 32);
    cr_assert_eq(read_one("run", "keep", "all", &config), 0);
    cr_assert_eq(config.keep_all, 1);
    cr_assert_eq(read_one("run", "keep", "al", &config), 1);
    cr_assert_eq(config.keep_all, 0);
    cr_assert_eq(read_one("fault.1", "probability", "0.25", &fault), 0);
    cr_assert_eq(fault.rule.probability, 0.25);
    cr_assert_eq(read_one("fault.1", "probability", "0", &fault), 1);
    cr_assert_eq(read_one("fault.1", "seed", "9", &fault), 0);
    cr_assert_eq(fault.rule.seed, 9u);
}

static void check(const char *text, const char *expected)
{
    struct ini ini;
    struct problems problems;

    cr_assert_eq(ini_parse("x.ini", text, strlen(text), &ini), TAPML_OK, "%s", status_message());
    problems_init(&problems);
    key_reader_check(keys_table(), &ini, &problems);
    cr_assert_str_eq(problems.text.data, expected);
    problems_release(&problems);
    ini_release(&ini);
}

Test(key_reader, what_is_unknown_or_repeated_is_reported)
{
    check("[run]\ndir = a\n[component.any]\nany = 1\n[plan]\nrule = a\nrule = b\n", "");
    check("[run]\ndirr = a\n", "x.ini:2: unknown key 'dirr' in [run], did you mean 'dir'?\n");
    check("[source]\ncapacity = 1\n",
          "x.ini:2: unknown key 'capacity' in [source], there is one in [run]\n");
    check("[source]\nquux = 1\n", "x.ini:2: unknown key 'quux' in [source], see --explain\n");
    check("\n[taget.gpu]\n", "x.ini:2: unknown section [taget.gpu], did you mean [target.gpu]?\n");
    check("[fault]\n", "x.ini:1: unknown section [fault], did you mean [fault.N]?\n");
    check("a = 1\n", "x.ini:1: expected a [section] before 'a'\n");
    check("[run]\ndir = a\n[run]\ndir = b\n",
          "x.ini:4: expected 'dir' once in [run], found it in line 2 too\n");
    check("[component.a]\nx = 1\nx = 2\n",
          "x.ini:3: expected 'x' once in [component.a], found it in line 2 too\n");
}

// The names that an unknown one is compared with are all there are.
Test(key_reader, the_tables_have_room)
{
    size_t sections = 0, keys = 0;

    while (keys_section_at(sections) != NULL) {
        size_t own = 0;

        for (size_t i = 0; keys_at(i) != NULL; i++) {
            own += strcmp(keys_at(i)->section, keys_section_at(sections)->name) == 0;
        }
        keys = own > keys ? own : keys;
        sections++;
    }
    cr_assert_leq(sections, 24u);
    cr_assert_leq(keys, 32u);
}
