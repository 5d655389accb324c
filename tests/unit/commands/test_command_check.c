// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/file.h"
#include "harness/command.h"
#include "harness/short_run.h"

Test(command_check, a_good_file_is_reported_as_such_and_nothing_is_run)
{
    struct scratch scratch;

    scratch_make(&scratch);
    char *ini = (char *)(uintptr_t)short_run_write_text(&scratch, "");
    struct printed printed = PRINTED(command_check_main, "--check-config", ini);

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s%s", printed.out, printed.err);
    cr_assert_not_null(strstr(printed.out, "run.ini: no problem found\n"));
    cr_assert_not_null(strstr(printed.out, " keys read, "), "%s", printed.out);
    cr_assert_not_null(strstr(printed.out, "2, the longest of "), "%s", printed.out);
    cr_assert_not_null(strstr(printed.out, "target   other: reference:f64"), "%s", printed.out);
    cr_assert_str_eq(printed.err, "");
    cr_assert_neq(access(scratch_path(&scratch, "run"), F_OK), 0);
    printed_release(&printed);
    scratch_remove(&scratch);
}

Test(command_check, everything_that_is_wrong_is_a_line)
{
    static const char *const expected[] = {
        "unknown key 'x' in [run]",
        "[target.gone] backend: no plugin has a component 'gone'",
        "[target.gone] require: expected 'any' or 'all', found 'some'",
        "[fault.1] kind: unknown kind 'nann'",
    };
    struct scratch scratch;
    size_t lines = 0;

    scratch_make(&scratch);
    char *ini = (char *)(uintptr_t)short_run_write_text(
        &scratch, "[run]\nx = 1\n[target.gone]\nbackend = gone\nrequire = some\n"
                  "[fault.1]\ntarget = other\nkind = nann\n");
    struct printed printed = PRINTED(command_check_main, "--check-config", ini);

    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        cr_assert_not_null(strstr(printed.out, expected[i]), "'%s' is not in %s", expected[i],
                           printed.out);
    }
    for (const char *at = printed.out; *at != '\0'; at++) {
        lines += *at == '\n';
    }
    cr_assert_eq(lines, 4, "%s", printed.out);
    printed_release(&printed);
    scratch_remove(&scratch);
}

Test(command_check, rules_and_faults_are_held_to_the_model)
{
    struct scratch scratch;

    scratch_make(&scratch);
    char *ini = (char *)(uintptr_t)short_run_write_text(
        &scratch, "[plan]\nrule = op=slu -> other\n"
                  "[fault.1]\ntarget = other\nop = slu\nkind = nan\n");
    struct printed printed = PRINTED(command_check_main, "--check-config", ini);

    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.out, "matches no op of the model, did you mean 'silu'?"));
    cr_assert_not_null(strstr(printed.out, "[fault.1] kind: "), "%s", printed.out);
    printed_release(&printed);
    scratch_remove(&scratch);
}

Test(command_check, a_broken_tokenizer_is_reported_once)
{
    struct scratch scratch;
    char name[64];
    char changed[4 * SCRATCH_PATH];

    scratch_make(&scratch);
    char *ini = (char *)(uintptr_t)short_run_write_text(&scratch, "");

    // The model's folder again, by links, with another tokenizer.
    char *text = NULL;
    size_t size = 0;
    static const char *const files[] = {"config.json", "model.safetensors"};

    cr_assert_eq(file_read(ini, 1 << 16, &text, &size), TAPML_OK);
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(name, sizeof(name), "models/tiny/%s", files[i]);
        cr_assert_eq(symlink(scratch_source(name), scratch_path(&scratch, files[i])), 0);
    }
    (void)scratch_text(&scratch, "tokenizer.json", "[]");
    const char *model = strstr(text, "path = ");
    const int before = (int)(model - text);

    (void)snprintf(changed, sizeof(changed), "%.*spath = %s%s", before, text, scratch.folder,
                   strchr(model, '\n'));
    ini = (char *)(uintptr_t)scratch_text(&scratch, "run.ini", changed);
    struct printed printed = PRINTED(command_check_main, "--check-config", ini);

    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    // Only the texts need it.
    cr_assert_not_null(strstr(printed.out, "found a text; "), "%s", printed.out);
    const char *said = strstr(printed.out, "tokenizer.json: expected an object\n");

    cr_assert_not_null(said, "%s", printed.out);
    cr_assert_null(strstr(said + 1, "tokenizer.json"), "%s", printed.out);
    printed_release(&printed);
    alloc_free(text);
    scratch_remove(&scratch);
}

Test(command_check, a_file_that_cannot_be_read_is_a_failure)
{
    struct printed printed = PRINTED(command_check_main, "--check-config", "/nowhere/run.ini");

    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "/nowhere/run.ini: cannot open"), "%s", printed.err);
    printed_release(&printed);
}

static void check_prints(const char *extra, enum outcome outcome, const char *expected)
{
    struct scratch scratch;

    scratch_make(&scratch);
    char *ini = (char *)(uintptr_t)short_run_write(&scratch, extra);
    struct printed printed = PRINTED(command_check_main, "--check-config", ini);

    cr_expect_eq(printed.outcome, outcome, "%s%s", printed.out, printed.err);
    cr_expect_not_null(strstr(printed.out, expected), "%s", printed.out);
    printed_release(&printed);
    scratch_remove(&scratch);
}

// The lines of an INI that load a library of the zoo, and a target that is in it.
static const char *zoo(const char *name, const char *rest)
{
    static char text[4 * SCRATCH_PATH];

    (void)snprintf(text, sizeof(text), "[plugins]\nload = %s/tests/zoo/%s.so\n%s",
                   getenv("TAPML_TEST_BUILD"), name, rest);
    return text;
}

Test(command_check, a_target_that_cannot_be_opened_is_a_line)
{
    check_prints(zoo("no_driver", "[target.gpu]\nbackend = no_driver\n"), OUTCOME_ENVIRONMENT,
                 "[target.gpu] backend: the component 'no_driver' of 'org.example.no_driver' is "
                 "no-driver: ");
    check_prints(zoo("no_device", "[target.gpu]\nbackend = no_device\nx = 1\n"), OUTCOME_USAGE,
                 "is no-device: "); // And a mistake in the file.
    check_prints(zoo("no_driver", ""), OUTCOME_OK, "no problem found");
}

Test(command_check, a_plugin_that_is_loaded_and_cannot_be_used_is_a_line)
{
    check_prints(zoo("newer_abi", ""), OUTCOME_USAGE,
                 "newer_abi.so', which is named by --plugin or [plugins] load, is wrong-abi: ");
    check_prints(zoo("short_struct", ""), OUTCOME_USAGE, // Its manifest does not show it.
                 "short_struct.so', which is named by --plugin or [plugins] load, is ");
    check_prints("[plugins]\nload = gone.so\n", OUTCOME_USAGE, "/gone.so', which is named by ");
}
