// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/scratch.h"

enum { PATH_SIZE = 1024 };

// What the tests name, each text on its own.
struct paths {
    char tiny[PATH_SIZE], prompts[PATH_SIZE], llama[PATH_SIZE], bert[PATH_SIZE], note[PATH_SIZE];
};

static struct paths paths_of(void)
{
    struct paths paths;

    (void)snprintf(paths.tiny, PATH_SIZE, "%s", scratch_source("models/tiny"));
    (void)snprintf(paths.prompts, PATH_SIZE, "%s", scratch_source("models/tiny/prompts.txt"));
    (void)snprintf(paths.note, PATH_SIZE, "%s",
                   scratch_source("models/tiny/tokenizer_config.json"));
    (void)snprintf(paths.llama, PATH_SIZE, "%s", scratch_data("models/llama"));
    (void)snprintf(paths.bert, PATH_SIZE, "%s", scratch_data("models/bert"));
    return paths;
}

#define REFUSED(piece_, ...)                                                                       \
    printed_expect(PRINTED(command_perplexity_main, __VA_ARGS__), OUTCOME_USAGE, piece_)

Test(command_perplexity, mistakes_are_refused)
{
    struct paths paths = paths_of();

    REFUSED("no model: give --model PATH", "--text", paths.prompts);
    REFUSED("no text: give --text FILE", "--model", paths.tiny);
    REFUSED("expected no argument, found 'x'", "--model", paths.tiny, "x");
    REFUSED("absent: cannot open", "--model", paths.tiny, "--text", "/absent");
    REFUSED("expected at least the 1024 of one chunk", "--model", paths.tiny, "--text", paths.note,
            "--context", "1024");
    REFUSED("option '--context' is 3, expected 4", "--model", paths.tiny, "--text", paths.prompts,
            "--context", "3");
    REFUSED("option '--chunks' is 0, expected 1", "--model", paths.tiny, "--text", paths.prompts,
            "--chunks", "0");
    REFUSED("llama' has no tokenizer", "--model", paths.llama, "--text", paths.prompts);
    REFUSED("it has no perplexity", "--model", paths.bert, "--text", paths.prompts);
    REFUSED("llama' has logits of 96 tokens, expected 619", "--model", paths.tiny, "--text",
            paths.prompts, "--context", "16", "--chunks", "1", "--base", paths.llama);
}

// llama.cpp's perplexity tool prints 13.6854 +/- 3.19898 for this file (docs/perplexity.md).
Test(command_perplexity, the_embedded_model_has_the_known_value)
{
    struct paths paths = paths_of();
    struct printed printed = PRINTED(command_perplexity_main, "--model", paths.tiny, "--text",
                                     paths.prompts, "--context", "128", "--backend", "cpu");

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_not_null(strstr(printed.out, ": 1062 tokens, 8 chunks of 128, of which 63 are"), "%s",
                       printed.out);
    cr_assert_not_null(strstr(printed.out, "\nchunk 1 of 8: perplexity so far 18.73"), "%s",
                       printed.out);
    cr_assert_not_null(strstr(printed.out, "\nperplexity 13.685"), "%s", printed.out);
    cr_assert_not_null(strstr(printed.out, "over 504 tokens\n"), "%s", printed.out);
    printed_release(&printed);
}

Test(command_perplexity, another_model_is_a_base)
{
    struct paths paths = paths_of();
    struct printed printed =
        PRINTED(command_perplexity_main, "--model", paths.tiny, "--text", paths.prompts,
                "--context", "64", "--chunks", "2", "--weights", "q8_0", "--base", paths.tiny);

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_not_null(strstr(printed.out, "\nperplexity of the base "), "%s", printed.out);
    cr_assert_not_null(strstr(printed.out, "\nKL divergence: mean "), "%s", printed.out);
    cr_assert_null(strstr(printed.out, "KL divergence: mean 0 "), "%s", printed.out);
    printed_release(&printed);
}
