// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Feeds files to a fuzz target where there is no libFuzzer: `fuzz_NAME FILE...`. With
// `--mutate COUNT` before them, COUNT further inputs are made of each file, by the mutator of the
// target's format if there is one; the input that broke something is the file `input` in the folder
// that the last line names.
#include "base/alloc.h"
#include "base/file.h"
#include "fuzz.h"
#include "mutate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 20, CHANGES_MAX = 3 };

// A target without a mutator of its own has none.
#pragma weak LLVMFuzzerCustomMutator

static struct mutation bytes_mutation; // What the mutator of bytes goes on from.

// One of a few small changes.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
    struct mutation *mutation = &bytes_mutation;
    const size_t at = mutation_below(mutation, size);
    const size_t count = 1 + mutation_below(mutation, size - at < 16 ? size - at : 16);
    if (size == 0 || mutation_below(mutation, 8) == 0) {
        if (size < max_size) {
            size = mutation_resize(data, size, at, 0, 1);
            data[at] = (uint8_t)mutation_draw(mutation);
        }
        return size;
    }
    switch (mutation_below(mutation, 4)) {
    case 0:
        data[at] ^= (uint8_t)(1u << mutation_below(mutation, 8));
        return size;
    case 1:
        data[at] = (uint8_t)mutation_draw(mutation);
        return size;
    case 2:
        return count < size - at ? mutation_resize(data, size, at, count, 0) : at;
    default:
        mutation_put(data + at, size - at < 8 ? size - at : 8, mutation_number(mutation));
        return size;
    }
}

static size_t mutate(uint8_t *data, size_t size, unsigned int seed)
{
    bytes_mutation = mutation_begin(~seed);
    for (size_t i = 1 + mutation_below(&bytes_mutation, CHANGES_MAX); i > 0; i--) {
        size = LLVMFuzzerCustomMutator
                   ? LLVMFuzzerCustomMutator(data, size, FILE_BYTES_MAX, seed + (unsigned int)i)
                   : LLVMFuzzerMutate(data, size, FILE_BYTES_MAX);
    }
    return size;
}

static void feed_mutated(const char *data, size_t size, unsigned int file, unsigned int count)
{
    uint8_t *input = malloc(FILE_BYTES_MAX);
    FUZZ_CHECK(input);
    for (unsigned int i = 0; i < count; i++) {
        memcpy(input, data, size);
        const size_t changed = mutate(input, size, (file << 24) + 8 * i);
        fuzz_write("input", input, changed);
        (void)LLVMFuzzerTestOneInput(input, changed); // It ends the program or is 0.
    }
    free(input);
}

int main(int argc, char **argv)
{
    const int has_count = argc > 2 && strcmp(argv[1], "--mutate") == 0;
    const unsigned int count = has_count ? (unsigned int)strtoul(argv[2], NULL, 10) : 0;
    for (int i = has_count ? 3 : 1; i < argc; i++) {
        char *data = NULL;
        size_t size = 0;
        fprintf(stderr, "%s\n", argv[i]); // What a crash speaks of is the last line.
        if (file_read(argv[i], FILE_BYTES_MAX, &data, &size) != TAPML_OK) {
            fprintf(stderr, "%s\n", status_message());
            return 1;
        }
        (void)LLVMFuzzerTestOneInput((const uint8_t *)data, size); // It ends the program or is 0.
        if (count > 0) {
            fprintf(stderr, "%s, %u times mutated, in %s\n", argv[i], count, fuzz_folder());
            feed_mutated(data, size, (unsigned int)i, count);
        }
        alloc_free(data);
    }
    return 0;
}
