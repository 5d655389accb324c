// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Over a fixture whose image tokens, 95, each stand for one of the four rows of an image.
#include "harness/scratch.h"
#include "run/prompt_inputs.h"
#include "run/setup.h"

struct fixture {
    struct setup setup;
    struct model_options opening;
    struct scratch scratch;
    struct prompts prompts;
};

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

// Opens the fixture, or its image part, and the lines of a prompts file beside a link to an image.
static void open_fixture(struct fixture *fixture, const char *architecture, const char *lines)
{
    static const struct options_spec specs[] = {SETUP_OPTIONS, {NULL, NULL, NULL}};
    struct options options;
    const char *backend = NULL;
    char program[1024];

    (void)snprintf(program, sizeof(program), "%s/tapml-host", getenv("TAPML_TEST_BUILD"));
    MUST(options_parse(specs, 0, NULL, &options));
    MUST(setup_open(program, &options, NULL, &fixture->setup));
    fixture->opening = (struct model_options){.folder = scratch_data("models/llava"),
                                              .architecture = architecture};
    MUST(setup_model(&fixture->setup, &fixture->opening));
    MUST(setup_default_backend(&fixture->setup, &backend));
    MUST(setup_place(&fixture->setup, "source", backend));
    scratch_make(&fixture->scratch);
    cr_assert_eq(symlink(scratch_data("models/llava/expected.safetensors"),
                         scratch_path(&fixture->scratch, "image")),
                 0);
    const char *path = scratch_write(&fixture->scratch, "prompts.txt", lines, strlen(lines));

    MUST(prompts_load(path, &(struct prompts_options){.length_max = 8}, &fixture->prompts));
}

static void close_fixture(struct fixture *fixture)
{
    prompts_release(&fixture->prompts);
    scratch_remove(&fixture->scratch);
    setup_close(&fixture->setup);
}

static tapml_status read_all(struct fixture *fixture, int computes)
{
    fixture->opening.folder = model_folder(fixture->setup.model);
    return prompt_inputs_read(
        &(struct prompt_inputs_options){.registry = fixture->setup.registry,
                                        .model = fixture->setup.model,
                                        .opening = &fixture->opening,
                                        .source = computes ? fixture->setup.places[0] : NULL,
                                        .path = "p",
                                        .length_max = 8},
        &fixture->prompts);
}

static void refused(const char *architecture, const char *lines, const char *piece)
{
    struct fixture fixture;

    open_fixture(&fixture, architecture, lines);
    cr_assert_eq(read_all(&fixture, 0), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), piece), "'%s' is not in '%s'", piece,
                       status_message());
    close_fixture(&fixture);
}

Test(prompt_inputs, an_image_is_checked_and_then_computed)
{
    struct fixture fixture;

    open_fixture(&fixture, NULL, "inputs: image ids: 1 95 2\nids: 1 2\n");
    const struct prompt *prompt = &fixture.prompts.items[0];

    MUST(read_all(&fixture, 0));
    cr_assert_eq(prompt->count, 6);
    cr_assert_eq(prompt->given.count, 0);
    MUST(read_all(&fixture, 1));
    cr_assert_eq(prompt->count, 6);
    cr_assert_arr_eq(prompt->ids, ((const int32_t[]){1, 95, 95, 95, 95, 2}), 24);
    cr_assert_eq(prompt->given.count, 1);
    cr_assert_str_eq(prompt->given.items[0].name, "image_features");
    cr_assert_eq(prompt->given.items[0].bytes, 4 * 64 * sizeof(float));
    cr_assert_eq(fixture.prompts.items[1].given.count, 0);
    close_fixture(&fixture);
}

Test(prompt_inputs, a_part_alone_has_its_own)
{
    struct fixture fixture;

    open_fixture(&fixture, "llava_vision", "inputs: image\n");
    MUST(read_all(&fixture, 1));
    const struct prompt *prompt = &fixture.prompts.items[0];

    cr_assert_eq(prompt->given.count, 1);
    cr_assert_str_eq(prompt->given.items[0].name, "pixel_values");
    cr_assert_eq(prompt->given.items[0].bytes, 3 * 16 * 16 * sizeof(float));
    close_fixture(&fixture);
}

Test(prompt_inputs, images_and_tokens_need_each_other)
{
    refused(NULL, "ids: 1\n\nids: 1 95\n", "p:3: token 95 stands for a row of 'image_features'");
    refused(NULL, "inputs: image ids: 1 2\n", "is given, and no token of the prompt");
    refused(NULL, "inputs: image ids: 95 95\n", "2 tokens of the prompt are 95");
    refused(NULL, "inputs: image ids: 1 2 3 4 5 6 95\n",
            "at most 8 tokens, found 10 with its rows");
}
