// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "mutate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER_TEXT = 32 };

struct mutation mutation_begin(unsigned int seed)
{
    return (struct mutation){.state = seed};
}

// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
uint64_t mutation_draw(struct mutation *mutation)
{
    uint64_t bits = mutation->state += 0x9e3779b97f4a7c15u;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    return bits ^ bits >> 31;
}

size_t mutation_below(struct mutation *mutation, size_t count)
{
    return count == 0 ? 0 : (size_t)(mutation_draw(mutation) % count);
}

uint64_t mutation_number(struct mutation *mutation)
{
    const uint64_t power = (uint64_t)1 << mutation_below(mutation, 64);
    switch (mutation_below(mutation, 8)) {
    case 0:
        return mutation_below(mutation, 17);
    case 1:
        return 0 - (uint64_t)mutation_below(mutation, 17);
    case 2:
        return power;
    case 3:
        return power - 1;
    case 4:
        return power + 1;
    case 5:
        return 0 - power;
    case 6:
        return mutation_draw(mutation) % 65536;
    default:
        return mutation_draw(mutation);
    }
}

static int is_digit(uint8_t letter)
{
    return letter >= '0' && letter <= '9';
}

// How many digits stand at `at`, and a sign before them.
static size_t number_length(const uint8_t *text, size_t size, size_t at)
{
    size_t length = at < size && text[at] == '-' ? 1 : 0;
    while (at + length < size && is_digit(text[at + length])) {
        length++;
    }
    return length;
}

// Where the number begins that stands at or next behind a place, or `size`.
static size_t find_number(const uint8_t *text, size_t size, size_t from)
{
    for (size_t at = from; at < size; at++) {
        if (is_digit(text[at])) {
            while (at > 0 && (is_digit(text[at - 1]) || text[at - 1] == '-')) {
                at--;
            }
            return at;
        }
    }
    return size;
}

size_t mutation_of_text(struct mutation *mutation, uint8_t *text, size_t size, size_t max_size)
{
    static const char *const words[] = {
        "NaN",  "Infinity", "-Infinity", "1e308", "-0.0", "1e-320", "null",
        "true", "\"x\"",    "[]",        "{}",    "0.5",  "1e999",  "99999999999999999999"};
    const size_t at = find_number(text, size, mutation_below(mutation, size));
    char number[NUMBER_TEXT];
    if (at == size || mutation_below(mutation, 4) == 0) {
        return LLVMFuzzerMutate(text, size, max_size);
    }
    if (mutation_below(mutation, 4) == 0) {
        (void)snprintf(number, sizeof(number), "%s",
                       words[mutation_below(mutation, sizeof(words) / sizeof(*words))]);
    } else {
        (void)snprintf(number, sizeof(number), "%" PRId64, (int64_t)mutation_number(mutation));
    }
    const size_t old_length = number_length(text, size, at);
    const size_t new_length = strlen(number);
    if (size - old_length + new_length > max_size) {
        return size;
    }
    size = mutation_resize(text, size, at, old_length, new_length);
    memcpy(text + at, number, new_length);
    return size;
}

uint64_t mutation_take(const uint8_t *at, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++) {
        value |= (uint64_t)at[i] << (8 * i);
    }
    return value;
}

void mutation_put(uint8_t *at, size_t bytes, uint64_t value)
{
    for (size_t i = 0; i < bytes; i++) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}

size_t mutation_resize(uint8_t *data, size_t size, size_t at, size_t old_length, size_t new_length)
{
    memmove(data + at + new_length, data + at + old_length, size - at - old_length);
    return size - old_length + new_length;
}

size_t mutation_of_span(
    uint8_t *data, size_t size, size_t max_size, size_t at, size_t length, size_t *out_length)
{
    // What follows goes to the end of the room, out of the way.
    const size_t behind = size - at - length;
    memmove(data + max_size - behind, data + at + length, behind);
    *out_length = LLVMFuzzerMutate(data + at, length, max_size - behind - at);
    memmove(data + at + *out_length, data + max_size - behind, behind);
    return at + *out_length + behind;
}
