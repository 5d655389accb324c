// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The checks of a program for the vendor of a driver, over functions of its API that stand in front
// of this text: `device_open`, `device_write` ... They do what the checks of TapML of these names
// do, with other bytes.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { INPUT, OUTPUT, LARGE }; // Buffers.
enum {
    WHOLE = 64,
    BYTES = (1 << 20) + 16 * WHOLE, // Of INPUT and OUTPUT.
    LARGE_BYTES = 32 << 20,
    END = 4096,  // Bytes at each end of LARGE.
    PART = 4096, // Bytes of queued transfers.
    QUARTER = BYTES / 4 / WHOLE * WHOLE,
    ROUNDS = 8
};

static unsigned char given[BYTES], expected[BYTES], found[BYTES];
static uint64_t drawn = FOUND_SEED;

// What was found may be of a larger buffer than is used here.
static size_t size_of_trial(size_t most)
{
    return FOUND_SIZE < most ? FOUND_SIZE : most;
}

static size_t offset_of_trial(void)
{
    return FOUND_OFFSET + size_of_trial(BYTES) <= BYTES ? FOUND_OFFSET : 0;
}

static uint32_t draw(void)
{
    drawn = drawn * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(drawn >> 32);
}

static void draw_bytes(unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += sizeof(uint32_t)) {
        const uint32_t word = draw();

        memcpy(bytes + i, &word, sizeof(word));
    }
}

static void repeat_pattern(unsigned char *bytes, size_t size, uint32_t pattern)
{
    for (size_t i = 0; i < size; i += sizeof(pattern)) {
        memcpy(bytes + i, &pattern, sizeof(pattern));
    }
}

// Compares what was read with what was to be there; `begin` is where it lies in the buffer. The
// first byte that differs is printed. Whether all are equal.
static int is_right(const unsigned char *right,
                    const unsigned char *read,
                    size_t begin,
                    size_t size,
                    const char *what)
{
    size_t wrong = 0, first = 0;

    for (size_t i = size; i-- > 0;) {
        if (right[i] != read[i]) {
            first = i;
            wrong++;
        }
    }
    if (wrong > 0) {
        (void)printf("WRONG: after %s, byte %zu is 0x%02x, expected 0x%02x; %zu of %zu differ\n",
                     what, begin + first, read[first], right[first], wrong, size);
    }
    return wrong == 0;
}

// Fills INPUT with bytes that `expected` has, too.
static void prepare(void)
{
    draw_bytes(expected, BYTES);
    device_write(INPUT, 0, expected, BYTES);
    device_wait();
}

static int look(int buffer, const char *what)
{
    memset(found, 0, BYTES);
    device_read(buffer, 0, found, BYTES);
    device_wait();
    return is_right(expected, found, 0, BYTES, what);
}

// -- Memory ------------------------------------------------------------------------------------

static int check_write(void)
{
    const size_t offset = offset_of_trial(), size = size_of_trial(BYTES);

    prepare();
    draw_bytes(given, BYTES);
    device_write(INPUT, offset, given + offset, size);
    device_wait();
    memcpy(expected + offset, given + offset, size);
    return look(INPUT, "a write");
}

// Memory of the host beside the target stays, too.
static int check_read(void)
{
    const size_t offset = offset_of_trial(), size = size_of_trial(BYTES);

    prepare();
    draw_bytes(given, BYTES);
    memcpy(found, given, BYTES);
    device_read(INPUT, offset, found + offset, size);
    device_wait();
    memcpy(given + offset, expected + offset, size);
    return is_right(given, found, 0, BYTES, "a read");
}

static int check_fill(void)
{
    const size_t offset = offset_of_trial(), size = size_of_trial(BYTES);
    const uint32_t pattern = draw();

    prepare();
    device_fill(INPUT, offset, size, pattern);
    device_wait();
    repeat_pattern(expected + offset, size, pattern);
    return look(INPUT, "a fill");
}

// To the offset at hand, from the one that is as far from the other end.
static int check_copy(void)
{
    const size_t offset = offset_of_trial(), size = size_of_trial(BYTES);
    const size_t from = BYTES - size - offset;

    prepare();
    draw_bytes(given, BYTES);
    device_write(OUTPUT, 0, given, BYTES);
    device_wait();
    device_copy(INPUT, from, OUTPUT, offset, size);
    device_wait();
    memcpy(given + offset, expected + from, size);
    memcpy(expected, given, BYTES);
    return look(OUTPUT, "a copy");
}

static int check_reset(void)
{
    const size_t size = size_of_trial(BYTES);
    const uint32_t initial = 0xff800000; // Minus infinity.

    draw_bytes(given, BYTES);
    device_fill(OUTPUT, 0, size, initial);
    device_wait();
    device_write(OUTPUT, 0, given, BYTES);
    device_wait();
    device_fill(OUTPUT, 0, size, initial);
    device_wait();
    memcpy(expected, given, BYTES);
    repeat_pattern(expected, size, initial);
    return look(OUTPUT, "a reset by a fill");
}

static int check_large(void)
{
    static const size_t places[] = {0, LARGE_BYTES / 2, LARGE_BYTES - END};
    int right = 1;

    draw_bytes(expected, BYTES);
    for (size_t i = 0; i < 3; i++) {
        device_write(LARGE, places[i], expected + i * END, END);
        device_wait();
    }
    for (size_t i = 0; i < 3 && right; i++) {
        memset(found, 0, END);
        device_read(LARGE, places[i], found, END);
        device_wait();
        right = is_right(expected + i * END, found, places[i], END, "a write to a large buffer");
    }
    return right;
}

// -- The queue ---------------------------------------------------------------------------------

// Moments of a round, each as it is to be read.
static void expect_moments(const uint32_t patterns[2])
{
    memcpy(expected, given, PART);
    repeat_pattern(expected + PART / 4, PART / 2, patterns[0]);
    memcpy(expected + PART, expected, PART);
    memcpy(expected + PART + PART / 2, given + PART, PART / 2);
    memcpy(expected + 2 * PART, expected + PART, PART);
    repeat_pattern(expected + 2 * PART, PART / 2, patterns[1]);
}

static int check_order(void)
{
    static const char *const moments[] = {"a write and a fill, queued at once",
                                          "a write behind them", "a fill behind that"};
    const uint32_t patterns[] = {draw(), draw()};
    int right = 1;

    draw_bytes(given, BYTES);
    memset(found, 0, BYTES);
    device_write(INPUT, 0, given, PART);
    device_fill(INPUT, PART / 4, PART / 2, patterns[0]);
    device_read(INPUT, 0, found, PART);
    device_write(INPUT, PART / 2, given + PART, PART / 2);
    device_read(INPUT, 0, found + PART, PART);
    device_fill(INPUT, 0, PART / 2, patterns[1]);
    device_read(INPUT, 0, found + 2 * PART, PART);
    device_wait();
    expect_moments(patterns);
    for (size_t i = 0; i < 3 && right; i++) {
        right = is_right(expected + i * PART, found + i * PART, 0, PART, moments[i]);
    }
    return right;
}

static int check_points(void)
{
    draw_bytes(given, PART);
    memset(found, 0, PART);
    device_write(INPUT, 0, given, PART);
    device_read(INPUT, 0, found, PART);
    device_wait();
    return is_right(given, found, 0, PART, "a write, a read and a wait");
}

// Numbers that a factor of 1, 2 or 4 leaves exact, and what lies behind them there.
static void draw_numbers(size_t count, float factor)
{
    for (size_t i = 0; i < count; i++) {
        const float number = (float)(draw() % 1000) - 500, product = number * factor;

        memcpy(given + i * sizeof(number), &number, sizeof(number));
        memcpy(expected + i * sizeof(number), &product, sizeof(product));
    }
    memset(expected + count * sizeof(float), 0xa5, WHOLE);
}

// Whether the last of some launches, queued between the write of its input and the read of its
// output, has its own arguments.
static int check_launches(int has_first, float factor, const char *what)
{
    const size_t count = size_of_trial(QUARTER - WHOLE) / sizeof(float);
    const size_t size = count * sizeof(float), offset = 2 * (size_t)QUARTER;

    draw_numbers(count, factor);
    memset(found, 0, size + WHOLE);
    device_write(INPUT, 0, given, size);
    device_fill(OUTPUT, offset, size + WHOLE, 0xa5a5a5a5);
    if (has_first) {
        device_scale(INPUT, OUTPUT, 3 * (size_t)QUARTER, count, 2 * factor);
    }
    device_scale(INPUT, OUTPUT, offset, count, factor);
    device_read(OUTPUT, offset, found, size + WHOLE);
    device_wait();
    return is_right(expected, found, offset, size + WHOLE, what);
}

static int check_launch(void)
{
    return check_launches(0, 1, "a launch between a write and a read");
}

static int check_arguments(void)
{
    return check_launches(1, 2, "the second of two launches");
}

// -- The program -------------------------------------------------------------------------------

static const struct {
    const char *name;
    int (*run)(void);
} checks[] = {
    {"write", check_write},         {"read", check_read},     {"fill", check_fill},
    {"copy", check_copy},           {"reset", check_reset},   {"large", check_large},
    {"order", check_order},         {"points", check_points}, {"launch", check_launch},
    {"arguments", check_arguments},
};

// Makes a check some times; whether it was right each time.
static int repeat_check(size_t index)
{
    int right = 1;

    for (int round = 0; round < ROUNDS && right; round++) {
        right = checks[index].run();
    }
    (void)printf("%-10s %s\n", checks[index].name, right ? "right" : "WRONG");
    return right;
}

int main(int count, char **words)
{
    static const size_t sizes[] = {BYTES, BYTES, LARGE_BYTES};
    const char *name = count > 1 ? words[1] : FOUND_CHECK;
    int made = 0, wrong = 0;

    device_open(count > 2 ? words[2] : FOUND_DEVICE, sizes);
    for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
        if (strcmp(name, "all") == 0 || strcmp(name, checks[i].name) == 0) {
            made++;
            wrong += !repeat_check(i);
        }
    }
    device_close();
    if (made == 0) {
        (void)printf("there is no check '%s' in this program\n", name);
    }
    return made == 0 ? 2 : wrong > 0;
}
