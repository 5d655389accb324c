// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// tokenizer/description: the bytes up to the first zero are a tokenizer.json, those behind it a
// text that is encoded and decoded again.
#include "fuzz.h"

#include "folder.h"
#include "tokenizer/special.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int is_ready;
    struct special special;
    if (!is_ready) {
        fuzz_write("tokenizer_config.json", "{\"bos_token\":\"<s>\",\"eos_token\":\"</s>\"}", 39);
        is_ready = 1;
    }
    folder_feed("tokenizer.json", 0, data, size);
    fuzz_begin();
    (void)fuzz_refused(special_load(fuzz_folder(), &special)); // Any ids are fine.
    fuzz_end();
    return 0;
}
