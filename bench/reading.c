// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reading.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/pool.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
    PIECE_BYTES = 1 << 20,
    STREAMS = 4,
    AHEAD_BYTES = 8192,
    LINE_BYTES = 64,
    LARGE_PAGE_BYTES = 2 << 20,
    PAGE_KINDS = 2,
    WAYS = 8
};

static const struct way {
    const char *name;
    int is_large, is_fetched;
    uint64_t streams;
} ways[WAYS] = {
    {"small pages, one stream", 0, 0, 1}, {"small pages, four streams", 0, 0, STREAMS},
    {"small pages, fetched", 0, 1, 1},    {"small pages, four fetched", 0, 1, STREAMS},
    {"large pages, one stream", 1, 0, 1}, {"large pages, four streams", 1, 0, STREAMS},
    {"large pages, fetched", 1, 1, 1},    {"large pages, four fetched", 1, 1, STREAMS},
};

struct reading {
    struct pool *pool;
    uint64_t bytes;
    unsigned char *maps[PAGE_KINDS], *buffers[PAGE_KINDS]; // Small pages, large ones.
    double least[WAYS];
    const struct way *way; // Of the run.
    uint64_t sum;          // Wanted by nobody: reading must not be left out.
};

struct moment reading_now(void)
{
    struct timespec processor;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &processor);
    return (struct moment){(double)clock_now_ns() * 1e-9,
                           (double)processor.tv_sec + (double)processor.tv_nsec * 1e-9};
}

struct moment reading_since(struct moment begin)
{
    const struct moment now = reading_now();

    return (struct moment){now.wall - begin.wall, now.processor - begin.processor};
}

// A buffer that begins on a large page. The system may refuse the advice, which changes only speed.
static unsigned char *map(uint64_t bytes, int is_large, unsigned char **out_buffer)
{
    unsigned char *memory = mmap(NULL, bytes + LARGE_PAGE_BYTES, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        return NULL;
    }
    *out_buffer = memory + (LARGE_PAGE_BYTES - (uintptr_t)memory % LARGE_PAGE_BYTES);
    (void)madvise(*out_buffer, bytes, is_large ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    memset(*out_buffer, 1, bytes);
    return memory;
}

tapml_status reading_create(struct pool *pool, uint64_t bytes, struct reading **out_reading)
{
    struct reading *reading = alloc_array(1, sizeof(*reading));

    if (reading == NULL) {
        return status_no_memory();
    }
    *reading = (struct reading){.pool = pool, .bytes = bytes};
    for (int kind = 0; kind < PAGE_KINDS; kind++) {
        reading->maps[kind] = map(bytes, kind, &reading->buffers[kind]);
        if (reading->maps[kind] == NULL) {
            reading_destroy(reading);
            return status_no_memory();
        }
    }
    for (uint32_t i = 0; i < WAYS; i++) {
        reading->least[i] = INFINITY;
    }
    *out_reading = reading;
    return TAPML_OK;
}

void reading_destroy(struct reading *reading)
{
    if (reading == NULL) {
        return;
    }
    for (int kind = 0; kind < PAGE_KINDS; kind++) {
        if (reading->maps[kind] != NULL) {
            (void)munmap(reading->maps[kind], reading->bytes + LARGE_PAGE_BYTES);
        }
    }
    alloc_free(reading);
}

// The pieces [begin, end), cut into streams that are read side by side. `streams` and `is_fetched`
// are constants where this is compiled.
static inline __attribute__((always_inline)) uint64_t
read_streams(const unsigned char *buffer, uint64_t bytes, uint64_t streams, int is_fetched)
{
    typedef uint64_t words __attribute__((vector_size(LINE_BYTES)));
    const uint64_t step = bytes / streams;
    words sums[STREAMS] = {{0}};

    for (uint64_t at = 0; at < step; at += STREAMS / streams * LINE_BYTES) {
        for (uint64_t i = 0; i < STREAMS; i++) {
            const unsigned char *place = buffer + i % streams * step + at;
            words values;

            place += i / streams * LINE_BYTES;
            if (is_fetched) {
                __builtin_prefetch((const void *)((uintptr_t)place + AHEAD_BYTES), 0, 2);
            }
            memcpy(&values, place, sizeof(values));
            sums[i] += values;
        }
    }
    return ((sums[0] + sums[1]) + (sums[2] + sums[3]))[0];
}

static void read_pieces(void *user, uint64_t begin, uint64_t end)
{
    struct reading *reading = user;
    const struct way *way = reading->way;
    const unsigned char *buffer = reading->buffers[way->is_large] + begin * PIECE_BYTES;
    const uint64_t bytes = (end - begin) * PIECE_BYTES;
    uint64_t sum = 0;

    if (way->streams == 1) {
        sum =
            way->is_fetched ? read_streams(buffer, bytes, 1, 1) : read_streams(buffer, bytes, 1, 0);
    } else {
        sum = way->is_fetched ? read_streams(buffer, bytes, STREAMS, 1)
                              : read_streams(buffer, bytes, STREAMS, 0);
    }
    (void)__atomic_fetch_add(&reading->sum, sum, __ATOMIC_RELAXED);
}

struct moment reading_run(struct reading *reading)
{
    struct moment best = {INFINITY, INFINITY};

    for (uint32_t i = 0; i < WAYS; i++) {
        const struct moment begin = reading_now();

        reading->way = &ways[i];
        pool_run(reading->pool, reading->bytes / PIECE_BYTES, 1, read_pieces, reading);
        const struct moment took = reading_since(begin);

        best.wall = fmin(best.wall, took.wall);
        best.processor = fmin(best.processor, took.processor);
        reading->least[i] = fmin(reading->least[i], took.wall);
    }
    return best;
}

const char *reading_way(uint32_t index)
{
    return index < WAYS ? ways[index].name : NULL;
}

double reading_least(const struct reading *reading, uint32_t index)
{
    return reading->least[index];
}
