// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "model/prompts.h"

#include <criterion/criterion.h>
#include <string.h>

static struct scratch scratch;

static void setup(void)
{
    scratch_make(&scratch);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(prompts, .init = setup, .fini = teardown);

static struct tokenizer *open_tiny(void)
{
    struct tokenizer *tokenizer = NULL;
    cr_assert_eq(tokenizer_open(scratch_source("models/tiny"), &tokenizer), TAPML_OK);
    return tokenizer;
}

Test(prompts, ids_are_read)
{
    struct prompts prompts;
    const char *path =
        scratch_text(&scratch, "p.txt", "ids: 5 17 3\r\n\n \t\nids:0\nids:  5\t17 3  ");
    cr_assert_eq(
        prompts_load(path,
                     &(struct prompts_options){
                         .tokenizer = NULL, .no_text = NULL, .vocabulary = 18, .length_max = 3},
                     &prompts),
        TAPML_OK, "%s", status_message());
    cr_assert_eq(prompts.count, 3);
    cr_assert_eq(prompts.items[0].count, 3);
    cr_assert_arr_eq(prompts.items[0].ids, ((int32_t[]){5, 17, 3}), 12);
    cr_assert_str_eq(prompts.items[0].text, "ids: 5 17 3");
    cr_assert_eq(prompts.items[0].line, 1);
    cr_assert_eq(prompts.items[1].count, 1);
    cr_assert_eq(prompts.items[1].line, 4);
    cr_assert_eq(prompts.items[2].line, 5);
    // The same ids are the same prompt, however they are written.
    cr_assert(hash_equal(prompts.items[0].id, prompts.items[2].id));
    cr_assert_not(hash_equal(prompts.items[0].id, prompts.items[1].id));
    const int32_t ids[] = {5, 17, 3};
    cr_assert(hash_equal(prompts.items[0].id, hash_bytes(ids, sizeof(ids))));
    prompts_release(&prompts);
    prompts_release(NULL);
}

Test(prompts, equal_ones_are_known)
{
    char text[] = "ids: 1 2\nids: 1\nids: 1 2\nids: 1 2\n";
    struct prompts prompts;
    cr_assert_eq(prompts_parse("p", text, sizeof(text) - 1, &(struct prompts_options){0}, &prompts),
                 TAPML_OK, "%s", status_message());
    cr_assert_eq(prompts.count, 4);
    cr_expect_not(prompts.items[0].is_repeated || prompts.items[1].is_repeated);
    cr_expect(prompts.items[2].is_repeated && prompts.items[3].is_repeated);
    prompts_release(&prompts);
}

Test(prompts, a_text_in_memory_is_a_file_of_its_name)
{
    char good[] = "ids: 5 17\nids: 3", bad[] = "\nids: x";
    const struct prompts_options options = {.tokenizer = NULL};
    struct prompts prompts;
    cr_assert_eq(prompts_parse("--ids", good, sizeof(good) - 1, &options, &prompts), TAPML_OK);
    cr_assert_eq(prompts.count, 2);
    cr_assert_eq(prompts.items[1].ids[0], 3);
    prompts_release(&prompts);
    cr_assert_eq(prompts_parse("--ids", bad, sizeof(bad) - 1, &options, &prompts), TAPML_INVALID);
    cr_assert_eq(strncmp(status_message(), "--ids:2: ", 9), 0, "%s", status_message());
}

Test(prompts, texts_go_through_the_tokenizer)
{
    struct tokenizer *tokenizer = open_tiny();
    struct prompts prompts;
    const char *path = scratch_text(&scratch, "p.txt", "After lunch, Ben\n  two\n");
    cr_assert_eq(
        prompts_load(path,
                     &(struct prompts_options){
                         .tokenizer = tokenizer, .no_text = NULL, .vocabulary = 0, .length_max = 0},
                     &prompts),
        TAPML_OK, "%s", status_message());
    cr_assert_eq(prompts.count, 2);
    int32_t *ids = NULL;
    size_t count = 0;
    cr_assert_eq(tokenizer_encode(tokenizer, "After lunch, Ben", 16, 1, &ids, &count), TAPML_OK);
    cr_assert_eq(prompts.items[0].count, count);
    cr_assert_arr_eq(prompts.items[0].ids, ids, count * sizeof(*ids));
    cr_assert_eq(ids[0], 0); // What the tokenizer puts before a text.
    cr_assert_str_eq(prompts.items[1].text, "  two");
    alloc_free(ids);
    prompts_release(&prompts);
    cr_assert_eq(prompts_load(scratch_source("models/tiny/prompts.txt"),
                              &(struct prompts_options){.tokenizer = tokenizer,
                                                        .no_text = NULL,
                                                        .vocabulary = 619,
                                                        .length_max = 1024},
                              &prompts),
                 TAPML_OK, "%s", status_message());
    cr_assert_gt(prompts.count, 5);
    prompts_release(&prompts);
    tokenizer_close(tokenizer);
}

static void expect_refused(const char *text, size_t size, const char *word)
{
    struct prompts prompts;
    const size_t live = alloc_live();
    const char *path = scratch_write(&scratch, "p.txt", text, size);
    cr_assert_eq(
        prompts_load(path,
                     &(struct prompts_options){
                         .tokenizer = NULL, .no_text = NULL, .vocabulary = 18, .length_max = 3},
                     &prompts),
        TAPML_INVALID, "%s", text);
    cr_assert_not_null(strstr(status_message(), word), "%s: %s", text, status_message());
    cr_assert_eq(alloc_live(), live);
}

Test(prompts, a_text_is_refused_with_the_reason_why_there_is_no_tokenizer)
{
    struct prompts prompts;
    const char *path = scratch_write(&scratch, "p.txt", "ids: 1\nhello\n", 13);
    cr_assert_eq(prompts_load(path,
                              &(struct prompts_options){.tokenizer = NULL,
                                                        .no_text = "it is strange",
                                                        .vocabulary = 18,
                                                        .length_max = 3},
                              &prompts),
                 TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "p.txt:2: expected 'ids: ...' where there is no "
                                                "tokenizer, found a text; it is strange"),
                       "%s", status_message());
}

Test(prompts, what_is_wrong_is_refused_with_file_and_line)
{
    expect_refused("", 0, "p.txt: ");
    expect_refused("\n \n", 3, "p.txt: ");
    expect_refused("ids: 1\nids: 18\n", 15, "p.txt:2: ");
    expect_refused("ids: -1", 7, "p.txt:1: ");
    expect_refused("ids: 99999999999999999999", 25, "p.txt:1: ");
    expect_refused("ids: 1x", 7, "p.txt:1: ");
    expect_refused("ids:", 4, "p.txt:1: ");
    expect_refused("ids: 1 2 3 4", 12, "p.txt:1: ");
    expect_refused("text", 4, "tokenizer");
    expect_refused("ids: 1\n\xff", 8, "UTF-8");
    expect_refused("ids: 1\0", 7, "zero");
    struct prompts prompts;
    cr_assert_eq(
        prompts_load(scratch_path(&scratch, "absent"),
                     &(struct prompts_options){
                         .tokenizer = NULL, .no_text = NULL, .vocabulary = 0, .length_max = 0},
                     &prompts),
        TAPML_NOT_FOUND);
}

static tapml_status build(const char *path, const struct tokenizer *tokenizer)
{
    struct prompts prompts;
    TAPML_TRY(
        prompts_load(path,
                     &(struct prompts_options){
                         .tokenizer = tokenizer, .no_text = NULL, .vocabulary = 0, .length_max = 0},
                     &prompts));
    prompts_release(&prompts);
    return TAPML_OK;
}

Test(prompts, survives_without_memory)
{
    struct tokenizer *tokenizer = open_tiny();
    const char *path = scratch_text(&scratch, "p.txt", "ids: 1 2 3\nThat night\n");
    SCRATCH_SWEEP(build(path, tokenizer));
    tokenizer_close(tokenizer);
}

Test(prompts, a_file_of_inputs_is_part_of_a_prompt)
{
    static const struct prompts_options options = {.vocabulary = 9};
    struct prompts prompts;
    struct hash first;

    scratch_text(&scratch, "image", "1");
    scratch_text(&scratch, "prompts.txt", "inputs: image\nids: 0\ninputs:\timage  ids: 3 4\n");
    cr_assert_eq(prompts_load(scratch.path, &options, &prompts), TAPML_OK, "%s", status_message());
    cr_assert_eq(prompts.count, 3);
    cr_assert(prompts.items[0].count == 1 && prompts.items[0].ids[0] == 0);
    cr_assert_str_eq(prompts.items[0].inputs, scratch_path(&scratch, "image"));
    cr_assert_null(prompts.items[1].inputs);
    cr_assert_not(hash_equal(prompts.items[0].id, prompts.items[1].id));
    cr_assert(prompts.items[2].count == 2 && prompts.items[2].ids[1] == 4);
    first = prompts.items[0].id;
    prompts_release(&prompts);
    scratch_text(&scratch, "image", "2");
    scratch_text(&scratch, "prompts.txt", "inputs: image\n");
    cr_assert_eq(prompts_load(scratch.path, &options, &prompts), TAPML_OK);
    cr_assert_not(hash_equal(prompts.items[0].id, first));
    prompts_release(&prompts);
    scratch_text(&scratch, "prompts.txt", "ids: 1\ninputs: \n");
    cr_assert_eq(prompts_load(scratch.path, &options, &prompts), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "prompts.txt:2: expected a file behind 'inputs:'"));
    scratch_text(&scratch, "prompts.txt", "inputs: absent ids: 1\n");
    cr_assert_eq(prompts_load(scratch.path, &options, &prompts), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "prompts.txt:1: "), "%s", status_message());
}

Test(prompts, lines_of_chat_are_rendered_by_the_template)
{
    struct tokenizer *tokenizer = NULL;
    struct prompts prompts;

    scratch_text(
        &scratch, "tokenizer_config.json",
        "{\"bos_token\": \"<s>\", \"chat_template\": \"{{ bos_token }}{% for m in messages "
        "%}{{ m.content }}{% if not loop.last %}{{ ' ' }}{% endif %}{% endfor %}\"}");
    cr_assert_eq(tokenizer_open(scratch_source("models/tiny"), &tokenizer), TAPML_OK);
    const struct prompts_options options = {.tokenizer = tokenizer, .folder = scratch.folder};
    scratch_text(
        &scratch, "prompts.txt",
        "The fox was\nchat: The fox was\nchat: [{\"role\": \"user\", \"content\": \"The fox\"}, "
        "{\"role\": \"x\", \"content\": \"was\"}]\n");
    cr_assert_eq(prompts_load(scratch.path, &options, &prompts), TAPML_OK, "%s", status_message());
    cr_assert_eq(prompts.count, 3);
    for (size_t i = 1; i < prompts.count; ++i) {
        cr_assert_eq(prompts.items[i].count, prompts.items[0].count);
        cr_assert_eq(memcmp(prompts.items[i].ids, prompts.items[0].ids,
                            prompts.items[0].count * sizeof(int32_t)),
                     0);
    }
    prompts_release(&prompts);
    scratch_text(&scratch, "prompts.txt", "a\nchat: [1]\n");
    cr_assert_eq(prompts_load(scratch.path, &options, &prompts), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "prompts.txt:2: expected messages"), "%s",
                       status_message());
    tokenizer_close(tokenizer);
}
