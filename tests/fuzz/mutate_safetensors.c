// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A file of safetensors: the length of a header in 8 bytes, the header, which is JSON, and data.
// The length stays that of the header.
#include "mutate.h"

#include <string.h>

enum { LENGTH_BYTES = 8 };

static size_t change_dtype(struct mutation *mutation, uint8_t *text, size_t size, size_t max_size)
{
    static const char *const dtypes[] = {"F64", "F32",     "F16",     "BF16",   "I64",     "I32",
                                         "U8",  "F8_E4M3", "F8_E5M2", "BOOL",   "F8_E8M0", "F4",
                                         "I8",  "U16",     "F6_E2M3", "F8_E4M3"};
    const char *chosen = dtypes[mutation_below(mutation, sizeof(dtypes) / sizeof(*dtypes))];
    static const char key[] = "\"dtype\":\"";
    const uint8_t *at = memmem(text, size, key, sizeof(key) - 1);
    if (!at) {
        return mutation_of_text(mutation, text, size, max_size);
    }
    const size_t begin = (size_t)(at - text) + sizeof(key) - 1;
    const uint8_t *end = memchr(text + begin, '"', size - begin);
    const size_t old_length = end ? (size_t)(end - text) - begin : 0;
    const size_t new_length = strlen(chosen);
    if (size - old_length + new_length > max_size) {
        return size;
    }
    size = mutation_resize(text, size, begin, old_length, new_length);
    memcpy(text + begin, chosen, new_length);
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    struct mutation mutation = mutation_begin(seed);
    const uint64_t length = size < LENGTH_BYTES ? 0 : mutation_take(data, LENGTH_BYTES);
    if (size < LENGTH_BYTES || length > size - LENGTH_BYTES || mutation_below(&mutation, 8) == 0) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    // The data goes to the end of the room, so that the header can grow.
    const size_t behind = size - LENGTH_BYTES - (size_t)length;
    uint8_t *header = data + LENGTH_BYTES;
    const size_t room = max_size - LENGTH_BYTES - behind;
    memmove(data + max_size - behind, header + length, behind);
    const size_t fresh = mutation_below(&mutation, 4) == 0
                             ? change_dtype(&mutation, header, (size_t)length, room)
                             : mutation_of_text(&mutation, header, (size_t)length, room);
    memmove(header + fresh, data + max_size - behind, behind);
    mutation_put(data, LENGTH_BYTES, fresh);
    size = LENGTH_BYTES + fresh + behind;
    if (mutation_below(&mutation, 8) == 0) { // And a byte of data more or less.
        size = size < max_size && mutation_below(&mutation, 2) ? size + 1 : size - (behind > 0);
    }
    return size;
}
