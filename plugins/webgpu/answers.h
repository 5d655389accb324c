// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the page says. Nothing of it is believed: a stranger may sit at the other end, so that every
// length is looked at, texts are cut down to plain characters, and what was not asked for ends the
// connection.
//
// A message is a row of frames of sdk/wire. README.md lists the verbs.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    ANSWERS_READ_MAX = 64, // Reads on their way at most,
    ANSWERS_STREAM_MAX = 8 // and streams of one page.
};

// From the page.
enum answers_verb {
    ANSWERS_HELLO = 1, // struct answers_limits, three texts
    ANSWERS_MADE,      // text: why not; has the number of the question
    ANSWERS_DATA,      // bytes; has the number of the question
    ANSWERS_REACHED,   // u32 stream, u64 ticket
    ANSWERS_TAKEN,     // u64 large messages so far that the device is done with
    ANSWERS_FAILED,    // u32 enum answers_failure, u64 op call or 0, text
};

// What WebGPU says of the page's device.
struct answers_limits {
    uint64_t buffer_bytes;
    uint32_t group_items, shared_bytes, grid;
    uint32_t subgroup_min, subgroup_max; // 0 without subgroups.
    uint32_t is_cpu, has_f16;
};

enum answers_failure {
    ANSWERS_FINE,
    ANSWERS_NO_DEVICE, // The page cannot compute.
    ANSWERS_LOST,      // It could, and cannot any more.
    ANSWERS_WRONG,     // A command failed; or the page says what it must not.
};

struct answers_read {
    uint64_t number; // Of the question.
    uint32_t size;
    void *target;
};

struct answers {
    int has_hello;
    struct answers_limits limits;
    char name[128];   // Of the device,
    char driver[128]; // and of the browser.

    uint64_t asked;    // Number of the last question that makes something,
    uint64_t made;     // of the last one answered,
    char refusal[400]; // and why not; "" where it was made.

    uint32_t first, count; // Of the ring of reads, which are answered in order.
    struct answers_read reads[ANSWERS_READ_MAX];

    uint64_t reached[ANSWERS_STREAM_MAX];   // Tickets of each stream,
    uint64_t signalled[ANSWERS_STREAM_MAX]; // and the last one sent.
    uint64_t sent, taken;                   // Large messages.

    // The first failure; from then on nothing more is taken.
    enum answers_failure failure;
    uint64_t culprit; // The op call that failed; 0 unknown.
    char message[400];
};

// Takes a message that has arrived whole.
void answers_take(struct answers *answers, const void *message, size_t size);

// Notes a read that is asked for. There is room for one more.
void answers_expect(struct answers *answers, const struct answers_read *read);
