// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the targets of tokenizers share: the file in memory is that of a folder, whose tokenizer is
// opened, and encodes and decodes.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Feeds an input: the bytes up to the first zero byte, or all if `is_binary`, are the file `name`
// of the folder, those behind it a text.
void folder_feed(const char *name, int is_binary, const uint8_t *data, size_t size);
