// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// model/tokenizer: the bytes up to the first zero are a tokenizer.json, those behind it a text that
// is encoded and decoded again.
#include "fuzz.h"

#include "base/alloc.h"
#include "tokenizer/special.h"
#include "tokenizer/tokenizer.h"

#include <string.h>

static const char sample[] = " Once upon\ta time<|end|> there's 1 \xc3\xa9t\xc3\xa9  \n";

static void encode(const struct tokenizer *tokenizer, const char *text, size_t length)
{
    int32_t *ids = NULL;
    size_t count = 0;
    char *again = NULL;
    if (fuzz_refused(tokenizer_encode(tokenizer, text, length, 1, &ids, &count))) {
        return;
    }
    // Ids that a template or an added token names may be those of no token.
    if (!fuzz_refused(tokenizer_decode(tokenizer, ids, count, 0, &again))) {
        FUZZ_CHECK(strlen(again) < (1 << 24));
        alloc_free(again);
    }
    alloc_free(ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int is_ready;
    const uint8_t *end = size > 0 ? memchr(data, '\0', size) : NULL;
    const size_t length = end ? (size_t)(end - data) : size;
    struct tokenizer *tokenizer = NULL;
    struct special special;
    FUZZ_CHECK(fuzz_file(data, length));
    if (!is_ready) {
        fuzz_link("tokenizer.json");
        fuzz_write("tokenizer_config.json", "{\"bos_token\":\"<s>\",\"eos_token\":\"</s>\"}", 39);
        is_ready = 1;
    }
    fuzz_begin();
    if (!fuzz_refused(tokenizer_open(fuzz_folder(), &tokenizer))) {
        encode(tokenizer, sample, sizeof(sample) - 1);
        if (end) {
            encode(tokenizer, (const char *)end + 1, size - length - 1);
        }
        tokenizer_close(tokenizer);
    }
    (void)fuzz_refused(special_load(fuzz_folder(), &special)); // Any ids are fine.
    fuzz_end();
    return 0;
}
