// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Over a fixture whose image tokens, 95, each stand for one of the four rows of an image.
#include "base/alloc.h"
#include "harness/tensor_file.h"
#include "model/safetensors.h"
#include "run/model_parts.h"
#include "run/setup.h"

enum { IMAGE = 95, ROWS = 4 };

struct fixture {
    struct setup setup;
    struct model_options options;
    struct checkpoint *file;
    struct model_inputs inputs;
    struct model_parts parts;
};

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static void open_fixture(struct fixture *fixture, const int32_t *ids, int64_t count)
{
    static const struct options_spec specs[] = {SETUP_OPTIONS, {NULL, NULL, NULL}};
    const char *folder = scratch_data("models/llava");
    struct options options;
    char program[1024], path[1024];

    *fixture = (struct fixture){.options = {.folder = folder}};
    (void)snprintf(program, sizeof(program), "%s/tapml-host", getenv("TAPML_TEST_BUILD"));
    MUST(options_parse(specs, 0, NULL, &options));
    MUST(setup_open(program, &options, NULL, &fixture->setup));
    MUST(setup_model(&fixture->setup, &fixture->options));
    (void)snprintf(path, sizeof(path), "%s/expected.safetensors", folder);
    MUST(safetensors_open_file(path, &fixture->file));
    fixture->inputs = (struct model_inputs){.file = fixture->file, .name = "the file"};
    MUST(model_parts_open(fixture->setup.registry, fixture->setup.model, &fixture->options, ids,
                          count, &fixture->parts));
}

static void close_fixture(struct fixture *fixture)
{
    model_parts_close(&fixture->parts);
    checkpoint_close(fixture->file);
    setup_close(&fixture->setup);
}

// The rows of the prompt's parts, on the default backend.
static tapml_status compute(struct fixture *fixture)
{
    struct plan *plan = NULL;
    const char *backend = NULL;

    MUST(setup_default_backend(&fixture->setup, &backend));
    MUST(setup_place(&fixture->setup, "source", backend));
    MUST(plan_create(&plan));
    const tapml_status status = model_parts_compute(
        &fixture->parts, &fixture->inputs,
        &(struct session_options){.places = fixture->setup.places, .place_count = 1, .plan = plan});

    plan_destroy(plan);
    return status;
}

static void said(tapml_status status, const char *piece)
{
    cr_assert_eq(status, TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), piece), "'%s' is not in '%s'", piece,
                       status_message());
}

Test(model_parts, rows_are_those_of_hugging_face)
{
    static const int32_t ids[] = {1, IMAGE, IMAGE, IMAGE, IMAGE, 2};
    struct fixture fixture;

    open_fixture(&fixture, ids, 6);
    cr_assert_eq(fixture.parts.count, 1);
    cr_assert(model_parts_have(&fixture.parts, "pixel_values"));
    cr_assert(model_parts_have(&fixture.parts, "image_features"));
    cr_assert_not(model_parts_have(&fixture.parts, "hidden.0"));
    MUST(compute(&fixture));

    const struct model_part *image = &fixture.parts.items[0];
    const float *expected = checkpoint_find(fixture.file, "image_features")->data;

    cr_assert_eq(image->count, ROWS);
    for (int64_t i = 0; i < image->count * image->part->width; i++) {
        cr_assert_float_eq(image->rows[i], expected[i], 1e-5);
    }

    const struct prompt_givens givens = model_parts_givens(&fixture.parts);

    cr_assert_eq(givens.count, 1);
    cr_assert_str_eq(givens.items[0].name, "image_features");
    cr_assert_eq(givens.items[0].data, image->rows);
    cr_assert_eq(givens.items[0].bytes, (uint64_t)(ROWS * image->part->width) * sizeof(float));
    close_fixture(&fixture);
}

Test(model_parts, one_token_for_an_image_becomes_as_many_as_it_has_rows)
{
    static const int32_t ids[] = {1, IMAGE, 2}, made[] = {1, IMAGE, IMAGE, IMAGE, IMAGE, 2};
    struct fixture fixture;
    int32_t *copy = alloc_array(3, sizeof(*copy));
    int64_t count = 3;

    memcpy(copy, ids, sizeof(ids));
    open_fixture(&fixture, ids, 3);
    MUST(model_parts_expand(&fixture.parts, &fixture.inputs, &copy, &count));
    cr_assert_eq(count, 6);
    cr_assert_arr_eq(copy, made, sizeof(made));
    MUST(model_parts_expand(&fixture.parts, &fixture.inputs, &copy, &count));
    cr_assert_eq(count, 6);
    MUST(compute(&fixture));
    alloc_free(copy);
    close_fixture(&fixture);
}

Test(model_parts, a_prompt_without_such_tokens_opens_nothing)
{
    static const int32_t ids[] = {1, 2};
    struct fixture fixture;

    open_fixture(&fixture, ids, 2);
    cr_assert_eq(fixture.parts.count, 0);
    MUST(compute(&fixture));
    close_fixture(&fixture);
}

Test(model_parts, another_number_of_tokens_is_refused)
{
    static const int32_t ids[] = {IMAGE, IMAGE, IMAGE};
    struct fixture fixture;

    open_fixture(&fixture, ids, 3);
    cr_assert_eq(model_parts_check(&fixture.parts, &fixture.inputs), TAPML_INVALID);
    said(compute(&fixture), "3 tokens of the prompt are 95, each of which stands for a row of "
                            "'image_features': expected 1 times 4, as 'llava_vision' gives");
    close_fixture(&fixture);
}

// What a file has in place of pixels.
static void refused(const char *header, const char *piece)
{
    static const int32_t ids[] = {IMAGE};
    static const float values[8];
    struct scratch scratch;
    struct fixture fixture;

    scratch_make(&scratch);
    open_fixture(&fixture, ids, 1);
    struct checkpoint *file = tensor_file_open(&scratch, header, values, 8);

    fixture.inputs.file = file;
    said(compute(&fixture), piece);
    checkpoint_close(file);
    close_fixture(&fixture);
    scratch_remove(&scratch);
}

Test(model_parts, other_inputs_are_refused)
{
    refused("{'pixels':{'dtype':'F32','shape':[8],'data_offsets':[0,32]}}    ",
            "the file: expected a tensor 'pixel_values', found none");
    refused("{'pixel_values':{'dtype':'F32','shape':[8],'data_offsets':[0,32]}}  ",
            "the file: tensor 'pixel_values' is f32 [8], expected f32 [3, 16, 16], or several");
    refused("{'pixel_values':{'dtype':'I32','shape':[2,2,2],'data_offsets':[0,32]}} ",
            "is i32 [2, 2, 2], expected f32 [3, 16, 16]");
}
