// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/scratch.h"

// Links to the files of the embedded model, in a folder that can have more of them.
static void scratch_copy_tiny(struct scratch *scratch)
{
    static const char *const names[] = {"config.json", "generation_config.json",
                                        "model.safetensors", "tokenizer.json",
                                        "tokenizer_config.json"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        char source[SCRATCH_PATH];

        (void)snprintf(source, sizeof(source), "%s/%s", scratch_source("models/tiny"), names[i]);
        cr_assert_eq(symlink(source, scratch_path(scratch, names[i])), 0);
    }
}

#define TINY ((char *)(uintptr_t)scratch_source("models/tiny"))

Test(command_generate, goes_on_from_a_prompt)
{
    struct printed printed =
        PRINTED(command_generate_main, "--model", TINY, "--prompt", "The fox was", "--count", "12");

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_str_eq(printed.out, "The fox was curious, so Finn gave it the kite. Finn gave 1\n");
    printed_release(&printed);
}

Test(command_generate, ids_and_text_are_one_prompt)
{
    struct printed printed = PRINTED(command_generate_main, "--model", TINY, "--ids",
                                     "0 53 258 594 291", "--count", "3", "--json");

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_not_null(strstr(printed.out, "\"ids\": [0, 53, 258, 594, 291, 559, 13, 487]"));
    printed_release(&printed);
}

Test(command_generate, mistakes_are_refused)
{
    struct printed printed = PRINTED(command_generate_main, "--model", TINY);

    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "either --prompt or --ids"));
    printed_release(&printed);
    printed = PRINTED(command_generate_main, "--model", TINY, "--ids", "0 x");
    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "'x' is no token id"));
    printed_release(&printed);
    printed = PRINTED(command_generate_main, "--model", TINY, "--ids", "0 100000");
    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "100000"));
    printed_release(&printed);
    printed = PRINTED(command_generate_main, "--model", "/nonexistent", "--ids", "0");
    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    printed_release(&printed);
    printed = PRINTED(command_generate_main, "--model", TINY, "--ids", "0 53", "--count", "9",
                      "--capacity", "4");
    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "capacity"), "%s", printed.err);
    printed_release(&printed);
}

Test(command_generate, answers_messages_by_the_template_of_the_folder)
{
    struct scratch scratch;
    struct printed printed;

    scratch_make(&scratch);
    scratch_copy_tiny(&scratch);
    scratch_text(&scratch, "chat_template.jinja",
                 "{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}");
    printed = PRINTED(command_generate_main, "--model", scratch.folder, "--chat", "--prompt",
                      "The fox was", "--count", "12");
    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_str_eq(printed.out, " curious, so Finn gave it the kite. Finn gave 1\n");
    printed_release(&printed);
    printed = PRINTED(command_generate_main, "--model", scratch.folder, "--chat", "--system",
                      "The fox", "--prompt", " was", "--count", "3", "--json");
    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_not_null(strstr(printed.out, "\"prompt_tokens\": 5, \"ids\": [0, 53,"), "%s",
                       printed.out);
    printed_release(&printed);
    scratch_remove(&scratch);
}

Test(command_generate, mistakes_of_chats_are_refused)
{
    static char *const cases[][5] = {
        {"has no chat template", "--chat", "--prompt", "x", NULL},
        {"--chat needs --prompt", "--chat", "--ids", "1", NULL},
        {"--system needs --chat", "--system", "s", "--prompt", "x"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        struct printed printed = PRINTED(command_generate_main, "--model", TINY, cases[i][1],
                                         cases[i][2], cases[i][3], cases[i][4]);

        cr_assert_eq(printed.outcome, OUTCOME_USAGE);
        cr_assert_not_null(strstr(printed.err, cases[i][0]), "%s", printed.err);
        printed_release(&printed);
    }
}

// A model with images, and the file with one.
struct images {
    char model[1024], pixels[1024];
};

static struct images images_of(void)
{
    struct images images;

    (void)snprintf(images.model, sizeof(images.model), "%s", scratch_data("models/llava"));
    (void)snprintf(images.pixels, sizeof(images.pixels), "%s/expected.safetensors",
                   scratch_data("models/llava"));
    return images;
}

static void continues(const char *ids)
{
    struct images images = images_of();
    struct printed printed =
        PRINTED(command_generate_main, "--model", images.model, "--inputs", images.pixels,
                "--count", "5", "--ids", (char *)(uintptr_t)ids);

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_str_eq(printed.out, "50 86 14 95 95 95 95 84 84 43 80 36 7 7 34 28 7\n");
    printed_release(&printed);
}

Test(command_generate, an_image_stands_in_a_prompt)
{
    continues("50 86 14 95 95 95 95 84 84 43 80 36");
    continues("50 86 14 95 84 84 43 80 36");
}

Test(command_generate, an_image_and_its_tokens_need_each_other)
{
    struct images images = images_of();
    struct printed printed = PRINTED(command_generate_main, "--model", images.model, "--ids",
                                     "50 95 14", "--count", "1");

    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "token 95 of the prompt stands for a row of "
                                           "'image_features' of 'llava_vision': give --inputs"));
    printed_release(&printed);
    printed = PRINTED(command_generate_main, "--model", images.model, "--ids", "50 14", "--count",
                      "1", "--inputs", images.pixels);
    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "--inputs is given, and no token of the prompt"));
    printed_release(&printed);
}
