// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Runs a kernel on the CPU, workgroup by workgroup, so that the texts of CUDA and Metal can be run
// where there is neither. For C++17; no header of the standard library, which would cost more to
// compile than the kernels.
//
// Work items run one after another on one fiber. One that waits, at a barrier or for its subgroup,
// is put aside with its fiber, and the others go on with a new one. What a group shares is filled
// with NaN before it begins. A barrier that not every item reaches ends the process with a message.
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

extern "C" {
float cosf(float);
float expf(float);
float sinf(float);
float tanhf(float);
}

// The memory of a workgroup: all variables of this section.
#define EMULATION_SHARED static __attribute__((section("group_memory"), used))
extern "C" char __start_group_memory[] __attribute__((weak, visibility("hidden")));
extern "C" char __stop_group_memory[] __attribute__((weak, visibility("hidden")));

namespace emulation
{

enum { ITEMS_MAX = 1024, STACK_BYTES = 64 * 1024, SUBGROUP = 32 };
enum state { READY, WAITS_FOR_GROUP, WAITS_FOR_SUBGROUP, DONE };

struct index {
    unsigned x, y, z;
};

// Where a fiber goes on. Unlike swapcontext this switches without asking the kernel.
struct place {
    void *words[5];
};

struct fiber {
    place at;
    bool is_begun;
    ucontext_t context; // Of its first steps.
};

struct group {
    unsigned items, current, next; // Of its items: the one that runs, the first not yet begun.
    index at, count;
    void (*body)(void *);
    void *argument;
    state states[ITEMS_MAX];
    unsigned turns[ITEMS_MAX]; // Of shuffles; they use two sets of slots in turn.
    unsigned long long slots[2][ITEMS_MAX];
    fiber *owner[ITEMS_MAX];
    fiber *idle[ITEMS_MAX], *running;
    unsigned idle_count;
    place scheduler;
};

static group g;

[[noreturn]] static inline void die(const char *what)
{
    fprintf(stderr, "emulation: %s\n", what);
    abort();
}

// The two halves must not stand in one function.
[[noreturn]] __attribute__((noinline)) static void enter(place *place)
{
    __builtin_longjmp(place->words, 1);
}

// Goes on at `to`, until somebody goes on at `from`.
__attribute__((noinline)) static void leave(place *from, place *to)
{
    if (__builtin_setjmp(from->words) == 0) {
        enter(to);
    }
}

// What a fiber does, again and again: items that nobody has begun.
static void run_items()
{
    for (;;) {
        while (g.next < g.items) {
            const unsigned item = g.current = g.next++;

            g.owner[item] = g.running;
            g.body(g.argument);
            g.states[g.current] = DONE; // After a wait, it is this fiber's item again.
        }
        g.idle[g.idle_count++] = g.running;
        leave(&g.running->at, &g.scheduler);
    }
}

__attribute__((noinline)) static void resume(fiber *fiber)
{
    g.running = fiber;
    if (fiber->is_begun) {
        leave(&g.scheduler, &fiber->at);
    } else if (__builtin_setjmp(g.scheduler.words) == 0) {
        fiber->is_begun = true;
        setcontext(&fiber->context);
    }
}

static inline void wait(state why)
{
    const unsigned item = g.current;

    g.states[item] = why;
    leave(&g.running->at, &g.scheduler);
    g.current = item;
}

static inline void barrier()
{
    wait(WAITS_FOR_GROUP);
}

// The value of `v` in the lane whose number differs in the bits of `mask`.
template <class T> static inline T shuffle_xor(T v, unsigned mask)
{
    static_assert(sizeof(T) <= sizeof(g.slots[0][0]));
    const unsigned item = g.current;
    unsigned long long *slots = g.slots[g.turns[item]++ % 2];

    memcpy(&slots[item], &v, sizeof(v));
    wait(WAITS_FOR_SUBGROUP);
    memcpy(&v, &slots[item ^ mask], sizeof(v));
    return v;
}

static inline float subgroup_sum(float v)
{
    for (unsigned mask = SUBGROUP / 2; mask > 0; mask /= 2) {
        v += shuffle_xor(v, mask);
    }
    return v;
}

static inline float subgroup_max(float v)
{
    for (unsigned mask = SUBGROUP / 2; mask > 0; mask /= 2) {
        v = __builtin_fmaxf(v, shuffle_xor(v, mask));
    }
    return v;
}

static inline fiber *take_fiber()
{
    if (g.idle_count > 0) {
        return g.idle[--g.idle_count];
    }
    fiber *made = static_cast<fiber *>(calloc(1, sizeof(fiber) + STACK_BYTES));

    if (made == nullptr || getcontext(&made->context) != 0) {
        die("out of memory");
    }
    made->context.uc_stack.ss_sp = made + 1;
    made->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&made->context, run_items, 0);
    return made;
}

// When the kernel is unloaded.
__attribute__((destructor)) static void free_fibers()
{
    while (g.idle_count > 0) {
        free(g.idle[--g.idle_count]);
    }
}

static inline unsigned count_items(state what)
{
    unsigned count = 0;

    for (unsigned i = 0; i < g.items; i++) {
        count += g.states[i] == what;
    }
    return count;
}

static inline void release(unsigned begin, unsigned end)
{
    for (unsigned i = begin; i < end; i++) {
        g.states[i] = READY;
    }
}

// Lets those subgroups go on that wait as a whole.
static inline void release_subgroups()
{
    for (unsigned begin = 0; begin < g.items; begin += SUBGROUP) {
        const unsigned end = begin + SUBGROUP < g.items ? begin + SUBGROUP : g.items;
        unsigned waiting = 0;

        for (unsigned i = begin; i < end; i++) {
            waiting += g.states[i] == WAITS_FOR_SUBGROUP;
        }
        if (waiting == end - begin) {
            release(begin, end);
        }
    }
}

static inline void run_group()
{
    g.next = 0;
    memset(g.turns, 0, sizeof(g.turns));
    if (__start_group_memory != nullptr) {
        memset(__start_group_memory, 0xff, __stop_group_memory - __start_group_memory);
    }
    while (g.next < g.items) {
        resume(take_fiber());
    }
    for (unsigned waiting; (waiting = g.items - count_items(DONE)) > 0;) {
        if (count_items(WAITS_FOR_GROUP) == g.items) {
            release(0, g.items);
        }
        release_subgroups();
        if (count_items(READY) == 0) {
            die(waiting < g.items ? "a barrier that not every work item reaches"
                                  : "work items wait at different barriers");
        }
        for (unsigned i = 0; i < g.items; i++) {
            if (g.states[i] == READY) {
                resume(g.owner[i]);
            }
        }
    }
}

static inline void run(index grid, unsigned items, void (*body)(void *), void *argument)
{
    if (items > ITEMS_MAX) {
        die("a workgroup of more than 1024 items");
    }
    g.items = items;
    g.count = grid;
    g.body = body;
    g.argument = argument;
    for (g.at.z = 0; g.at.z < grid.z; g.at.z++) {
        for (g.at.y = 0; g.at.y < grid.y; g.at.y++) {
            for (g.at.x = 0; g.at.x < grid.x; g.at.x++) {
                run_group();
            }
        }
    }
}

// -- f16, rounded to nearest even --------------------------------------------------------------

static inline unsigned bits_of(float f)
{
    unsigned u;

    memcpy(&u, &f, sizeof(u));
    return u;
}

static inline float float_of(unsigned u)
{
    float f;

    memcpy(&f, &u, sizeof(f));
    return f;
}

static inline float from_half(unsigned short half)
{
    const unsigned sign = (half & 0x8000u) << 16, exponent = (half >> 10) & 31u,
                   fraction = half & 1023u;

    if (exponent == 31) {
        return float_of(sign | 0x7f800000u | (fraction << 13));
    }
    const float magnitude = exponent == 0 ? static_cast<float>(fraction) * 0x1p-24f
                                          : float_of(((exponent + 112) << 23) | (fraction << 13));

    return float_of(sign | bits_of(magnitude));
}

static inline unsigned short to_half(float f)
{
    const unsigned u = bits_of(f), sign = (u >> 16) & 0x8000u, magnitude = u & 0x7fffffffu;

    if (magnitude > 0x7f800000u) {
        return static_cast<unsigned short>(sign | 0x7e00u);
    }
    if (magnitude >= 0x477ff000u) { // 65520 and above.
        return static_cast<unsigned short>(sign | 0x7c00u);
    }
    if (magnitude < 0x38800000u) { // Below the normal numbers: adding 0.5 rounds as wanted.
        return static_cast<unsigned short>(sign |
                                           (bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u));
    }
    const unsigned odd = (magnitude >> 13) & 1u;

    return static_cast<unsigned short>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

} // namespace emulation

// What the stand-ins for drivers look up: the number and sizes of a kernel's arguments, and the
// launch. The arguments are pointers to the values: parameters first, then the addresses of
// buffers.
#define EMULATE(name)                                                                              \
    extern "C" unsigned emulated_params_##name()                                                   \
    {                                                                                              \
        return sizeof(K_params);                                                                   \
    }                                                                                              \
    extern "C" unsigned emulated_count_##name()                                                    \
    {                                                                                              \
        return emulation::argument_count(name);                                                    \
    }                                                                                              \
    extern "C" void emulated_run_##name(void **arguments, const unsigned *grid, unsigned items)    \
    {                                                                                              \
        emulation::run_kernel(name, arguments, {grid[0], grid[1], grid[2]}, items);                \
    }
