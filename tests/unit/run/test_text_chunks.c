// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "harness/scratch.h"
#include "run/text_chunks.h"

enum { LONG = 1 << 20 };

struct fixture {
    struct scratch scratch;
    struct tokenizer *tokenizer;
};

static void open_fixture(struct fixture *fixture)
{
    scratch_make(&fixture->scratch);
    cr_assert_eq(tokenizer_open(scratch_source("models/tiny"), &fixture->tokenizer), TAPML_OK, "%s",
                 status_message());
}

static void close_fixture(struct fixture *fixture)
{
    tokenizer_close(fixture->tokenizer);
    scratch_remove(&fixture->scratch);
}

// Its ids, with the one that begins a text, are 0 352 528 13 419 277 266 261 473.
static const char text[] = "One morning, Ada went to the river\n";

Test(text_chunks, a_text_is_cut_and_each_part_begins_like_a_text)
{
    struct fixture fixture;
    struct text_chunks chunks;
    int32_t ids[4];

    open_fixture(&fixture);
    cr_assert_eq(text_chunks_read(fixture.tokenizer, scratch_text(&fixture.scratch, "text", text),
                                  4, LONG, &chunks),
                 TAPML_OK, "%s", status_message());
    cr_assert_eq(chunks.count, 9); // The newline at the end is none of them.
    cr_assert_eq(chunks.chunk_count, 2);
    cr_assert_eq(chunks.begin, 0);
    cr_assert_eq(text_chunks_first(&chunks), 2);
    text_chunks_copy(&chunks, 0, ids);
    cr_assert(ids[0] == 0 && ids[1] == 352 && ids[2] == 528 && ids[3] == 13);
    text_chunks_copy(&chunks, 1, ids); // In place of 419.
    cr_assert(ids[0] == 0 && ids[1] == 277 && ids[2] == 266 && ids[3] == 261);
    text_chunks_release(&chunks);
    cr_assert_eq(text_chunks_read(fixture.tokenizer, fixture.scratch.path, 4, 1, &chunks),
                 TAPML_OK);
    cr_assert_eq(chunks.chunk_count, 1);
    text_chunks_release(&chunks);
    close_fixture(&fixture);
}

Test(text_chunks, a_tokenizer_without_a_begin_leaves_the_first_token)
{
    struct fixture fixture;
    struct text_chunks chunks;
    struct tokenizer *tokenizer = NULL;
    int32_t ids[4];

    open_fixture(&fixture);
    cr_assert_eq(tokenizer_open(scratch_data("gguf/tokenizer-bpe_qwen2.gguf"), &tokenizer),
                 TAPML_OK, "%s", status_message());
    cr_assert_eq(
        text_chunks_read(tokenizer, scratch_text(&fixture.scratch, "text", text), 4, LONG, &chunks),
        TAPML_OK, "%s", status_message());
    cr_assert_eq(chunks.begin, -1);
    text_chunks_copy(&chunks, 1, ids);
    cr_assert_arr_eq(ids, chunks.ids + 4, sizeof(ids));
    text_chunks_release(&chunks);
    tokenizer_close(tokenizer);
    close_fixture(&fixture);
}

static void refused(const struct fixture *fixture, const char *path, const char *piece)
{
    struct text_chunks chunks;

    cr_assert_neq(text_chunks_read(fixture->tokenizer, path, 16, LONG, &chunks), TAPML_OK);
    cr_assert_not_null(strstr(status_message(), piece), "%s", status_message());
}

Test(text_chunks, wrong_files_are_refused)
{
    struct fixture fixture;

    open_fixture(&fixture);
    refused(&fixture, scratch_path(&fixture.scratch, "absent"), "absent: cannot open");
    refused(&fixture, scratch_text(&fixture.scratch, "bytes", "\xff\xfe"),
            "bytes: expected a text");
    refused(&fixture, scratch_text(&fixture.scratch, "short", text),
            "short: the text has 9 tokens, expected at least the 16 of one chunk");
    refused(&fixture, scratch_text(&fixture.scratch, "empty", ""), "empty: the text has 1 tokens");
    close_fixture(&fixture);
}

static tapml_status read_and_release(const struct fixture *fixture)
{
    struct text_chunks chunks;
    const tapml_status status =
        text_chunks_read(fixture->tokenizer, fixture->scratch.path, 4, LONG, &chunks);

    if (status == TAPML_OK) {
        text_chunks_release(&chunks);
    }
    return status;
}

Test(text_chunks, memory_that_runs_out_is_a_failure)
{
    struct fixture fixture;

    open_fixture(&fixture);
    (void)scratch_text(&fixture.scratch, "text", text);
    SCRATCH_SWEEP(read_and_release(&fixture));
    close_fixture(&fixture);
}

Test(text_chunks, the_context_is_that_of_the_model_if_that_is_less)
{
    struct scratch scratch;
    int64_t context = 0;

    cr_assert_eq(text_chunks_default_context(scratch_source("models/tiny"), &context), TAPML_OK);
    cr_assert_eq(context, TEXT_CHUNKS_CONTEXT); // It could be 1024.
    cr_assert_eq(text_chunks_default_context(scratch_data("models/llama"), &context), TAPML_OK);
    cr_assert_eq(context, 64);
    scratch_make(&scratch);
    cr_assert_neq(text_chunks_default_context(scratch.folder, &context), TAPML_OK);
    scratch_remove(&scratch);
}
