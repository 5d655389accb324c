// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_walk.h"

#include "base/alloc.h"
#include "base/random.h"

#include <inttypes.h>
#include <string.h>

enum { BUFFERS = 12, WORDS_MAX = 16384, WORD = 4, STEPS_IN_FLIGHT = 24 };

struct walk_buffer {
    tapml_object *buffer; // NULL: there is none.
    uint32_t words;
    uint32_t content[WORDS_MAX]; // What it should hold.
};

struct walk {
    struct kit_device *device;
    struct kit_result *result;
    struct random random;
    uint64_t seed;
    int step, in_flight; // The step at hand; those since the last wait.
    struct walk_buffer buffers[BUFFERS];
    uint32_t source[WORDS_MAX]; // What is written: constant, so that no write has to be waited for.
    uint32_t target[WORDS_MAX];
};

// Words of a buffer.
struct walk_range {
    uint32_t first, count;
};

static struct walk_range draw_range(struct walk *walk, uint32_t words)
{
    const uint32_t first = (uint32_t)random_below(&walk->random, words);

    return (struct walk_range){first, 1 + (uint32_t)random_below(&walk->random, words - first)};
}

static tapml_call *call_of(const struct walk *walk)
{
    return stand_in_call(walk->device->host);
}

static int expect(struct walk *walk, const char *function, tapml_status status)
{
    return kit_device_expect(walk->device, walk->result, function, status);
}

static int settle(struct walk *walk)
{
    walk->in_flight = 0;
    return kit_device_wait(walk->device, walk->result);
}

// -- Steps -------------------------------------------------------------------------------------

static int fill(struct walk *walk, struct walk_buffer *it, struct walk_range range)
{
    const uint32_t pattern = (uint32_t)random_u64(&walk->random);

    for (uint32_t i = 0; i < range.count; i++) {
        it->content[range.first + i] = pattern;
    }
    return expect(walk, "queue_fill",
                  walk->device->table->queue_fill(walk->device->queue, call_of(walk), it->buffer,
                                                  (uint64_t)range.first * WORD,
                                                  (uint64_t)range.count * WORD, pattern));
}

static int create(struct walk *walk, struct walk_buffer *it)
{
    it->words = 1 + (uint32_t)random_below(&walk->random, WORDS_MAX);
    it->buffer = kit_device_buffer(walk->device, walk->result, (uint64_t)it->words * WORD);
    return it->buffer != NULL && fill(walk, it, (struct walk_range){0, it->words});
}

static int write(struct walk *walk, struct walk_buffer *it)
{
    const struct walk_range range = draw_range(walk, it->words);
    const uint32_t from = (uint32_t)random_below(&walk->random, WORDS_MAX - range.count + 1);

    memcpy(it->content + range.first, walk->source + from, (size_t)range.count * WORD);
    return expect(walk, "queue_write",
                  walk->device->table->queue_write(
                      walk->device->queue, call_of(walk), it->buffer, (uint64_t)range.first * WORD,
                      walk->source + from, (uint64_t)range.count * WORD));
}

static int copy(struct walk *walk, struct walk_buffer *from, struct walk_buffer *to)
{
    struct walk_range range = draw_range(walk, from->words);

    range.count = range.count < to->words ? range.count : to->words;
    const uint32_t at = (uint32_t)random_below(&walk->random, to->words - range.count + 1);

    memcpy(to->content + at, from->content + range.first, (size_t)range.count * WORD);
    return expect(walk, "queue_copy",
                  walk->device->table->queue_copy(walk->device->queue, call_of(walk), from->buffer,
                                                  (uint64_t)range.first * WORD, to->buffer,
                                                  (uint64_t)at * WORD,
                                                  (uint64_t)range.count * WORD));
}

static int read_range(struct walk *walk, struct walk_buffer *it, struct walk_range range)
{
    const tapml_status status = walk->device->table->queue_read(
        walk->device->queue, call_of(walk), it->buffer, (uint64_t)range.first * WORD, walk->target,
        (uint64_t)range.count * WORD);

    if (!expect(walk, "queue_read", status) || !settle(walk)) {
        return 0;
    }
    for (uint32_t i = 0; i < range.count; i++) {
        if (walk->target[i] != it->content[range.first + i]) {
            kit_result_fail(walk->result,
                            "step %d of seed %" PRIu64
                            ": byte %u of a buffer of %u is of 0x%08x, and 0x%08x was written",
                            walk->step, walk->seed, (range.first + i) * WORD, it->words * WORD,
                            walk->target[i], it->content[range.first + i]);
            return 0;
        }
    }
    return 1;
}

static int drop(struct walk *walk, struct walk_buffer *it)
{
    const int is_settled = settle(walk); // What is queued may use it.

    kit_device_drop(it->buffer);
    it->buffer = NULL;
    return is_settled;
}

// -- The walk ----------------------------------------------------------------------------------

static int make_step(struct walk *walk)
{
    enum { CREATE, WRITE, FILL, COPY, READ, DROP, KINDS };
    struct walk_buffer *it = &walk->buffers[random_below(&walk->random, BUFFERS)];
    struct walk_buffer *other = &walk->buffers[random_below(&walk->random, BUFFERS)];
    const uint64_t kind = random_below(&walk->random, KINDS);

    if (it->buffer == NULL) {
        return create(walk, it);
    }
    if (++walk->in_flight > STEPS_IN_FLIGHT && !settle(walk)) {
        return 0;
    }
    switch (kind) {
    case FILL:
        return fill(walk, it, draw_range(walk, it->words));
    case COPY:
        return other == it || other->buffer == NULL ? write(walk, it) : copy(walk, other, it);
    case READ:
        return read_range(walk, it, draw_range(walk, it->words));
    case DROP:
        return drop(walk, it);
    default:
        return write(walk, it);
    }
}

static int read_all(struct walk *walk)
{
    for (int i = 0; i < BUFFERS; i++) {
        struct walk_buffer *it = &walk->buffers[i];

        if (it->buffer != NULL && !read_range(walk, it, (struct walk_range){0, it->words})) {
            return 0;
        }
    }
    return 1;
}

int kit_walk(struct kit_device *device, struct kit_result *io_result, uint64_t seed, int steps)
{
    struct walk *walk = alloc_new(sizeof(*walk));
    int is_right = walk != NULL;

    if (walk == NULL) {
        kit_result_fail(io_result, "out of memory");
        return 0;
    }
    walk->device = device;
    walk->result = io_result;
    walk->seed = seed;
    random_init(&walk->random, seed);
    for (int i = 0; i < WORDS_MAX; i++) {
        walk->source[i] = (uint32_t)random_u64(&walk->random);
    }
    for (; is_right && walk->step < steps; walk->step++) {
        is_right = make_step(walk);
    }
    is_right = is_right && read_all(walk);
    if (!is_right) {
        (void)kit_device_wait(device, &(struct kit_result){.outcome = KIT_PASSED});
    }
    for (int i = 0; i < BUFFERS; i++) {
        kit_device_drop(walk->buffers[i].buffer);
    }
    alloc_free(walk);
    return is_right;
}
