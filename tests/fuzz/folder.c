// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "folder.h"

#include "base/alloc.h"
#include "base/text.h"
#include "fuzz.h"
#include "tokenizer/tokenizer.h"

#include <string.h>

enum { DECODED_MAX = 1 << 24 };

static const char sample[] = " Once upon\ta time<|end|> there's 1 \xc3\xa9t\xc3\xa9  \n";

// What a stream gives is what is decoded at once.
static void stream(const struct tokenizer *tokenizer,
                   const int32_t *ids,
                   size_t count,
                   const char *expected,
                   size_t length)
{
    struct tokenizer_stream *stream = NULL;
    struct text text;
    text_init(&text);
    FUZZ_CHECK(tokenizer_stream_create(tokenizer, 0, &stream) == TAPML_OK);
    for (size_t i = 0; i < count; ++i) {
        FUZZ_CHECK(tokenizer_stream_push(stream, ids[i], &text) == TAPML_OK);
    }
    FUZZ_CHECK(tokenizer_stream_finish(stream, &text) == TAPML_OK);
    FUZZ_CHECK(text.length == length && memcmp(text.data, expected, length) == 0);
    tokenizer_stream_destroy(stream);
    text_release(&text);
}

static void encode(const struct tokenizer *tokenizer, const char *text, size_t length)
{
    int32_t *ids = NULL;
    size_t count = 0;
    size_t again_length = 0;
    char *again = NULL;
    if (fuzz_refused(tokenizer_encode(tokenizer, text, length, 1, &ids, &count))) {
        return;
    }
    // Ids that a template or an added token names may be those of no token.
    if (!fuzz_refused(tokenizer_decode(tokenizer, ids, count, 0, &again, &again_length))) {
        FUZZ_CHECK(again_length < DECODED_MAX);
        stream(tokenizer, ids, count, again, again_length);
        alloc_free(again);
    }
    alloc_free(ids);
}

void folder_feed(const char *name, int is_binary, const uint8_t *data, size_t size)
{
    const uint8_t *end = size > 0 && !is_binary ? memchr(data, '\0', size) : NULL;
    const size_t length = end ? (size_t)(end - data) : size;
    static int is_linked;
    struct tokenizer *tokenizer = NULL;
    FUZZ_CHECK(fuzz_file(data, length));
    if (!is_linked) {
        fuzz_link(name);
        is_linked = 1;
    }
    fuzz_begin();
    if (!fuzz_refused(tokenizer_open(fuzz_folder(), &tokenizer))) {
        encode(tokenizer, sample, sizeof(sample) - 1);
        if (end) {
            encode(tokenizer, (const char *)end + 1, size - length - 1);
        }
        tokenizer_close(tokenizer);
    }
    fuzz_end();
}
