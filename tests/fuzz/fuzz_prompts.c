// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// model/prompts: any bytes as a prompts file, with a tokenizer and without.
#include "fuzz.h"

#include "model/prompts.h"

enum { VOCABULARY = 1000, LENGTH_MAX = 512 };

// The template of lines of chat.
static const char config[] = "{\"bos_token\":\"<s>\",\"chat_template\":\"{{ bos_token }}"
                             "{% for m in messages %}{{ m.role + m.content }}{% endfor %}\"}";

static void load(const char *path, const struct tokenizer *tokenizer)
{
    struct prompts prompts;
    const struct prompts_options options = {.tokenizer = tokenizer,
                                            .folder = fuzz_folder(),
                                            .vocabulary = VOCABULARY,
                                            .length_max = LENGTH_MAX};
    fuzz_begin();
    if (!fuzz_refused(prompts_load(path, &options, &prompts))) {
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
        fuzz_write("tokenizer_config.json", config, sizeof(config) - 1);
    }
    const char *path = fuzz_file(data, size);
    load(path, tokenizer);
    load(path, NULL);
    return 0;
}
