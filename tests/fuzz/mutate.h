// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the mutators of formats share. A target with one links mutate_FORMAT.c, which changes a part
// of its input and keeps the rest in order: lengths, counts and checksums are those of what there
// is, so that readers get beyond their first check. libFuzzer calls it; so does feed.c.
#pragma once

#include <stddef.h>
#include <stdint.h>

// The mutator of a format. Changes `data` of `size` bytes in place, in which there is room for
// `max_size`, and returns the new size. The same seed makes the same change.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

// Changes bytes without knowing what they mean: libFuzzer's, which learns from the program, or that
// of feed.c.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

struct mutation {
    uint64_t state;
};

struct mutation mutation_begin(unsigned int seed);
uint64_t mutation_draw(struct mutation *mutation);
size_t mutation_below(struct mutation *mutation, size_t count); // From 0; 0 where `count` is.
uint64_t mutation_number(struct mutation *mutation);            // One at which readers go wrong.

// A number as people write it, where one stands in `text` of `size` bytes, is replaced by another
// one; returns the new size. Without one, bytes are changed.
size_t mutation_of_text(struct mutation *mutation, uint8_t *text, size_t size, size_t max_size);

// Little-endian, of 1 to 8 bytes.
uint64_t mutation_take(const uint8_t *at, size_t bytes);
void mutation_put(uint8_t *at, size_t bytes, uint64_t value);

// A span of bytes gets another length, in an input of `size` bytes; what follows moves. Returns the
// new size of the input.
size_t mutation_resize(uint8_t *data, size_t size, size_t at, size_t old_length, size_t new_length);

// Bytes at `at` are changed by LLVMFuzzerMutate, and may become more or fewer; `out_length` is how
// many there are. Returns the new size of the input.
size_t mutation_of_span(
    uint8_t *data, size_t size, size_t max_size, size_t at, size_t length, size_t *out_length);
