// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The files of a folder that describe its tokenizer, in the order in which they are preferred:
// tokenizer.json, tokenizer.model, tekken.json, *.tiktoken, vocab.json with merges.txt, vocab.txt,
// rwkv_vocab_*.txt. Beside all but the first, tokenizer_config.json names added tokens; beside any,
// it says what begins and ends a text where the file does not. In the place of a folder a GGUF file
// has all of that in its metadata.
#pragma once

#include "base/status.h"
#include "tokenizer/parts.h"

// Whether the folder has one of the files.
int sources_exist(const char *folder);

// Reads the folder's file. The caller releases the parts, after a failure too. TAPML_NOT_FOUND if
// there is none.
tapml_status sources_read(const char *folder, struct parts *out_parts) STATUS_USED;
