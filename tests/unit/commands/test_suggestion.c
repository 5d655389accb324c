// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/status.h"
#include "commands/suggestion.h"
#include "harness/scratch.h"

static struct scratch scratch;

static void setup(void)
{
    scratch_make(&scratch);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(suggestion, .init = setup, .fini = teardown);

static void expect_sentence(const char *word, const char *sentence)
{
    cr_expect_eq(suggestion_fail(word), TAPML_INVALID);
    cr_expect_str_eq(status_message(), sentence);
}

Test(suggestion, the_nearest_command_or_option)
{
    expect_sentence("genrate", "unknown command 'genrate', did you mean 'generate'?");
    expect_sentence("explain", "unknown command 'explain', did you mean '--explain'?");
    expect_sentence("--explian", "unknown option '--explian', did you mean '--explain'?");
    expect_sentence("--jsno", "unknown option '--jsno', did you mean '--json'?");
    expect_sentence("--versoin", "unknown option '--versoin', did you mean '--version'?");
    expect_sentence("carve", "unknown command 'carve', see --help");
    expect_sentence("-x", "unknown option '-x', see --help");
    expect_sentence("", "unknown command '', see --help");
}

Test(suggestion, a_name_that_ends_like_a_file)
{
    expect_sentence("run.ini", "'run.ini' is no command: for a run 'tapml-host --config run.ini'");
    expect_sentence(
        "a/run.tapmlrun",
        "'a/run.tapmlrun' is no command: for its cases 'tapml-host show a/run.tapmlrun'");
    expect_sentence("x.gguf", "'x.gguf' is no command: to continue a prompt 'tapml-host generate "
                              "--model x.gguf --prompt TEXT'");
    expect_sentence(".ini", "unknown command '.ini', see --help");
}

// `sentence` behind the path of a file in the test's folder, or of the folder.
static void expect_told(const char *path, const char *sentence)
{
    char expected[3 * SCRATCH_PATH];

    (void)snprintf(expected, sizeof(expected), "'%s' is %s", path, sentence);
    cr_expect_eq(suggestion_fail(path), TAPML_INVALID);
    cr_expect_eq(strncmp(status_message(), expected, strlen(expected)), 0, "%s", status_message());
}

Test(suggestion, a_file_that_is_there)
{
    expect_told(scratch_text(&scratch, "mine.ini", ""), "a file: for a run 'tapml-host --config /");
    expect_told(scratch_text(&scratch, "notes", ""),
                "a file, and a command is expected before it, see --help");
    cr_expect_eq(suggestion_fail(scratch_text(&scratch, "my run.ini", "")), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "'tapml-host --config '/"), "%s", status_message());
}

Test(suggestion, a_folder_by_what_is_in_it)
{
    expect_told(scratch.folder, "a folder, and a command is expected before it");
    (void)scratch_text(&scratch, "config.json", "{}");
    expect_told(scratch.folder, "a folder: to continue a prompt 'tapml-host generate --model /");
    (void)scratch_text(&scratch, "run.tapmlrun", "");
    expect_told(scratch.folder, "a folder: for the report of the run 'tapml-host report /");
}
