// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Frames of the wire: a header of 24 bytes with the length of the payload (sdk/wire), behind one
// byte that says who is fed.
#include "mutate.h"

#include <string.h>

enum {
    FRAMES_MAX = 64,
    HEADER_BYTES = 24,
    VERB_AT = 6,
    NUMBER_AT = 8,
    LENGTH_AT = 16,
    VERBS = 64,
    PIECE_BYTES = 4096
};

// The begins of the frames that are whole; `out_begins` has one more, their end.
static size_t find_frames(const uint8_t *data, size_t size, size_t out_begins[FRAMES_MAX + 1])
{
    size_t at = 1, count = 0;
    out_begins[0] = at;
    while (count < FRAMES_MAX && size >= HEADER_BYTES && at <= size - HEADER_BYTES) {
        const uint64_t length = mutation_take(data + at + LENGTH_AT, 4);
        if (length > size - at - HEADER_BYTES) {
            break;
        }
        at += HEADER_BYTES + (size_t)length;
        out_begins[++count] = at;
    }
    return count;
}

// A field of the payload becomes another number. Its fields have 4 or 8 bytes.
static void change_field(struct mutation *mutation, uint8_t *frame, size_t length)
{
    const size_t bytes = length >= 8 && mutation_below(mutation, 2) ? 8 : 4;
    if (length >= bytes) {
        const size_t at = 4 * mutation_below(mutation, (length - bytes) / 4 + 1);
        mutation_put(frame + HEADER_BYTES + at, bytes, mutation_number(mutation));
    }
}

// A copy of a frame is put before another one.
static size_t repeat(uint8_t *data, size_t size, size_t max_size, const size_t *from, size_t to)
{
    uint8_t piece[PIECE_BYTES];
    const size_t length = from[1] - from[0];
    if (length > sizeof(piece) || length > max_size - size) {
        return size;
    }
    memcpy(piece, data + from[0], length);
    size = mutation_resize(data, size, to, 0, length);
    memcpy(data + to, piece, length);
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    struct mutation mutation = mutation_begin(seed);
    size_t begins[FRAMES_MAX + 1];
    const size_t count = find_frames(data, size, begins);
    const size_t chosen = mutation_below(&mutation, count);
    if (count == 0) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    uint8_t *frame = data + begins[chosen];
    const size_t length = begins[chosen + 1] - begins[chosen] - HEADER_BYTES;
    size_t new_length = 0;
    switch (mutation_below(&mutation, 8)) {
    case 0:
        return repeat(data, size, max_size, &begins[chosen],
                      begins[mutation_below(&mutation, count + 1)]);
    case 1:
        return mutation_resize(data, size, begins[chosen], HEADER_BYTES + length, 0);
    case 2:
        mutation_put(frame + VERB_AT, 2, mutation_below(&mutation, VERBS));
        return size;
    case 3:
        mutation_put(frame + NUMBER_AT, 8, mutation_number(&mutation));
        return size;
    case 4:
        size = mutation_of_span(data, size, max_size, begins[chosen] + HEADER_BYTES, length,
                                &new_length);
        mutation_put(frame + LENGTH_AT, 4, new_length);
        return size;
    case 5:
        return LLVMFuzzerMutate(data, size, max_size);
    default:
        change_field(&mutation, frame, length);
        return size;
    }
}
