// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// tokenizer/tiktoken: a list of ranks, by which texts are encoded and decoded again.
#include "fuzz.h"

#include "folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    folder_feed("qwen.tiktoken", 0, data, size);
    return 0;
}
