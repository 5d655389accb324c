// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the fuzz targets share. A target is one function over bytes of a stranger; it calls a parser
// the way the host does and checks what the parser promises of what it lets through. libFuzzer
// calls it with bytes of its own making, feed.c with those of the corpus.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Ends the program where a promise is broken, so that the input is kept.
#define FUZZ_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fuzz_broken(__FILE__, __LINE__, #condition);                                           \
        }                                                                                          \
    } while (0)
_Noreturn void fuzz_broken(const char *file, int line, const char *condition);

// Whether a parser refused its input, which it must do with a sentence.
int fuzz_refused(tapml_status status);

// Begins and ends an input: all blocks that the parser took must be back at the end.
void fuzz_begin(void);
void fuzz_end(void);

// The path of a file in memory that holds the bytes until the next call.
const char *fuzz_file(const uint8_t *data, size_t size);

// A folder of this process alone, removed at its end, and the path of a name in it.
const char *fuzz_folder(void);
const char *fuzz_path(const char *name);

// Lets `name` in the folder stand for the file in memory.
void fuzz_link(const char *name);

// Writes a file into the folder, in place of what was there.
void fuzz_write(const char *name, const void *data, size_t size);
