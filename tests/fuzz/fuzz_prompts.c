// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// model/prompts: any bytes as a prompts file, with a tokenizer and without.
#include "fuzz.h"

#include "model/prompts.h"

enum { VOCABULARY = 1000, LENGTH_MAX = 512 };

static void load(const char *path, const struct tokenizer *tokenizer)
{
    struct prompts prompts;
    fuzz_begin();
    if (!fuzz_refused(prompts_load(path, tokenizer, NULL, VOCABULARY, LENGTH_MAX, &prompts))) {
        FUZZ_CHECK(prompts.count > 0);
        for (size_t i = 0; i < prompts.count; i++) {
            const struct prompt *prompt = &prompts.items[i];
            FUZZ_CHECK(prompt->count > 0 && prompt->count <= LENGTH_MAX);
            FUZZ_CHECK(prompt->line > 0 && prompt->text[0]);
            for (size_t k = 0; k < prompt->count; k++) {
                FUZZ_CHECK(prompt->ids[k] >= 0 && prompt->ids[k] < VOCABULARY);
            }
        }
        prompts_release(&prompts);
    }
    fuzz_end();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tokenizer *tokenizer; // For all inputs: to open one takes longer than a file.
    if (!tokenizer) {
        FUZZ_CHECK(tokenizer_open(FUZZ_TOKENIZER, &tokenizer) == TAPML_OK);
    }
    const char *path = fuzz_file(data, size);
    load(path, tokenizer);
    load(path, NULL);
    return 0;
}
