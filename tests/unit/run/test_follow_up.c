// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/ini.h"
#include "exec/place.h"
#include "harness/scratch.h"
#include "run/follow_up.h"
#include "run/setup.h"
#include "verify/fault_rule.h"

static const struct options_spec specs[] = {SETUP_OPTIONS, {NULL, NULL, NULL}};

// Names an animal of the zoo in a folder by a link there.
static void link_animal(struct scratch *scratch, const char *name)
{
    char library[SCRATCH_PATH];

    (void)snprintf(library, sizeof(library), "%s/tests/zoo/%s", getenv("TAPML_TEST_BUILD"), name);
    cr_assert_eq(symlink(library, scratch_path(scratch, name)), 0);
}

static void open_setup(struct setup *setup, const struct ini *ini, int count, char **words)
{
    static char program[SCRATCH_PATH]; // As long as the setup.
    struct options options;

    (void)snprintf(program, sizeof(program), "%s/tapml-host", getenv("TAPML_TEST_BUILD"));
    cr_assert_eq(options_parse(specs, count, words, &options), TAPML_OK);
    cr_assert_eq(setup_open(program, &options, ini, setup), TAPML_OK, "%s", status_message());
}

static void check(void (*print)(const struct setup *, struct text *),
                  const struct setup *setup,
                  const char *format,
                  const char *folder)
{
    char expected[4 * SCRATCH_PATH];
    struct text text;

    text_init(&text);
    print(setup, &text);
    // NOLINTNEXTLINE(clang-diagnostic-format-nonliteral): a test's own.
    (void)snprintf(expected, sizeof(expected), format, folder, folder);
    cr_expect_str_eq(text.data, expected);
    text_release(&text);
}

Test(follow_up, a_command_finds_the_plugins_of_the_run_and_their_options)
{
    static char plugin[] = "--plugin";
    struct scratch scratch;
    struct setup setup;
    struct ini ini;

    scratch_make(&scratch);
    char given[2 * SCRATCH_PATH], path[2 * SCRATCH_PATH];

    link_animal(&scratch, "good.so");
    link_animal(&scratch, "tame.so");
    (void)snprintf(given, sizeof(given), "%s/good.so", scratch.folder);
    (void)snprintf(path, sizeof(path), "%s",
                   scratch_text(&scratch, "run.ini",
                                "[plugins]\nload = tame.so\n[component.good]\ncolour = it's so\n"));
    cr_assert_eq(ini_load(path, &ini), TAPML_OK, "%s", status_message());
    open_setup(&setup, &ini, 2, (char *[]){plugin, given});
    char zoo[SCRATCH_PATH];

    (void)snprintf(zoo, sizeof(zoo), "%s/tests/zoo", getenv("TAPML_TEST_BUILD"));
    check(follow_up_print_given, &setup, " --plugin %s/good.so", zoo);
    check(follow_up_print, &setup,
          " --plugin %s/good.so --plugin %s/tame.so --option 'good.colour=it'\\''s so'", zoo);
    setup_close(&setup);
    ini_release(&ini);
    scratch_remove(&scratch);
}

Test(follow_up, a_run_that_searched_the_systems_folder_alone_says_so)
{
    static char safe[] = "--safe";
    struct setup setup;

    open_setup(&setup, NULL, 1, (char *[]){safe});
    check(follow_up_print_given, &setup, " --safe", "");
    check(follow_up_print, &setup, " --safe", "");
    setup_close(&setup);
    open_setup(&setup, NULL, 0, NULL);
    check(follow_up_print_given, &setup, "", "");
    check(follow_up_print, &setup, "", "");
    setup_close(&setup);
}

static int needs(const char *text, struct place_settings target)
{
    struct ini ini;

    cr_assert_eq(ini_parse("run.ini", text, strlen(text), &ini), TAPML_OK);
    const int answer = follow_up_needs_config(&ini, &target);

    ini_release(&ini);
    return answer;
}

Test(follow_up, what_decides_beside_the_backend_needs_the_file)
{
    static const char plain[] = "[run]\ndir = run\n[target.gpu]\nbackend = b\n";
    const struct fault_rule rule = {.name = "fault.1"};

    cr_expect_not(needs(plain, (struct place_settings){.name = "gpu"}));
    cr_expect(needs(plain, (struct place_settings){.observers = "tally"}));
    cr_expect(needs(plain, (struct place_settings){.faults = &rule, .fault_count = 1}));
    cr_expect(needs(plain, (struct place_settings){.isolation.url = "tapml://far"}));
    cr_expect(needs("[plugins]\nload = x.so\n", (struct place_settings){.name = "gpu"}));
    cr_expect(needs("[component.b]\nspeed = 2\n", (struct place_settings){.name = "gpu"}));
}

Test(follow_up, a_path_is_whole_and_one_word)
{
    struct scratch scratch;
    struct text text;
    char expected[SCRATCH_PATH + 16];

    scratch_make(&scratch);
    (void)scratch_text(&scratch, "a b.ini", "");
    cr_assert_eq(chdir(scratch.folder), 0);
    text_init(&text);
    follow_up_print_path("a b.ini", &text);
    (void)snprintf(expected, sizeof(expected), "'%s/a b.ini'", scratch.folder);
    cr_expect_str_eq(text.data, expected);
    text_clear(&text);
    follow_up_print_path("gone.ini", &text);
    cr_expect_str_eq(text.data, "gone.ini");
    text_release(&text);
    scratch_remove(&scratch);
}
