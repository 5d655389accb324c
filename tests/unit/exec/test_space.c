// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/space.h"
#include "harness/late.h"
#include "harness/places.h"
#include "harness/plain.h"
#include "link/loopback.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

// Two places on host memory, two devices.
enum { SOURCE, OTHER, GPU, NPU, PLACES };

static struct backend *backends[PLACES];

static void open_set(struct space_set *set)
{
    static const char *const names[] = {"source", "other", "gpu", "npu"};
    backends[SOURCE] = plain_create();
    backends[OTHER] = plain_create();
    backends[GPU] = late_create(&(struct late_options){0});
    backends[NPU] = late_create(&(struct late_options){0});
    struct places places;
    space_set_init(set, places_over(&places, backends, names, PLACES), PLACES);
}

static void close_set(void)
{
    for (int i = 0; i < PLACES; i++) {
        backend_release(backends[i]);
    }
}

Test(space, is_shared_by_host_memory_backends_alone)
{
    struct space_set set;
    open_set(&set);
    cr_expect_eq(set.places[SOURCE].space, SPACE_HOST);
    cr_expect_eq(set.places[OTHER].space, SPACE_HOST);
    cr_expect_neq(set.places[GPU].space, SPACE_HOST);
    cr_expect_neq(set.places[NPU].space, SPACE_HOST);
    cr_expect_neq(set.places[NPU].space, set.places[GPU].space);
    close_set();
}

Test(space, wraps_the_same_memory_for_host_memory_backends)
{
    struct space_set set;
    struct space_block block;
    tapml_object *a = NULL, *b = NULL, *c = NULL, *again = NULL;
    open_set(&set);
    space_block_init(&block, activation_bytes(65, 0));
    cr_expect_eq(block.bytes.at[ACTIVATION_F32], 128);
    cr_assert_eq(space_buffer(&set, &block, SOURCE, &a), TAPML_OK);
    cr_assert_eq(space_buffer(&set, &block, OTHER, &b), TAPML_OK);
    cr_assert_eq(space_buffer(&set, &block, GPU, &c), TAPML_OK);
    cr_assert_eq(space_buffer(&set, &block, GPU, &again), TAPML_OK);
    cr_expect_neq(a, b);
    cr_expect_eq(plain_bytes(a), block.memory);
    cr_expect_eq(plain_bytes(b), block.memory);
    cr_expect_eq((uintptr_t)block.memory % 64, 0);
    cr_expect_neq(late_bytes(c), block.memory);
    cr_expect_eq(c, again);
    space_block_release(&block, &set);
    cr_expect_eq(late_counts(backends[GPU]).buffers_alive, 0);
    close_set();
}

Test(space, waits_for_host_memory_at_a_boundary)
{
    struct space_set set;
    open_set(&set);
    cr_assert_eq(space_enter(&set, SOURCE), TAPML_OK);
    space_note_call(&set, SOURCE);
    cr_assert_eq(space_enter(&set, SOURCE), TAPML_OK);
    cr_expect_eq(plain_waits(backends[SOURCE]), 0, "no boundary, no wait");
    cr_assert_eq(space_enter(&set, GPU), TAPML_OK);
    cr_expect_eq(plain_waits(backends[SOURCE]), 1);
    cr_assert_eq(space_enter(&set, OTHER), TAPML_OK);
    space_note_call(&set, GPU);
    cr_assert_eq(space_enter(&set, SPACE_NO_PLACE), TAPML_OK);
    cr_expect_eq(late_counts(backends[GPU]).waits, 0, "its memory is its own");
    cr_expect_eq(plain_waits(backends[SOURCE]), 1, "it was idle");
    close_set();
}

Test(space, waits_before_memory_that_is_being_read_is_overwritten)
{
    struct space_set set;
    struct space_block block;
    void *memory = NULL;
    open_set(&set);
    space_block_init(&block, activation_bytes(64, 0));
    cr_assert_eq(space_memory(&set, &block, &memory), TAPML_OK);
    memset(memory, 1, 64);
    cr_assert_eq(space_upload(&set, &block, GPU, 0, 64), TAPML_OK);
    cr_assert_eq(space_claim(&set, &block), TAPML_OK);
    memset(memory, 2, 64);
    cr_expect_eq(late_counts(backends[GPU]).waits, 1);
    cr_expect_eq(*(const char *)late_bytes(block.buffers[GPU]), 1);

    cr_assert_eq(space_claim(&set, &block), TAPML_OK);
    cr_expect_eq(late_counts(backends[GPU]).waits, 1, "nothing is pending any more");
    space_block_release(&block, &set);
    close_set();
}

Test(space, waits_once_for_a_device_that_reads_memory_and_overwrites_it)
{
    struct space_set set;
    struct space_block block;
    void *memory = NULL;
    open_set(&set);
    space_block_init(&block, activation_bytes(64, 0));
    cr_assert_eq(space_memory(&set, &block, &memory), TAPML_OK);
    memset(memory, 1, 64);
    cr_assert_eq(space_upload(&set, &block, GPU, 0, 64), TAPML_OK);
    cr_assert_eq(space_download(&set, &block, GPU, 0, 64), TAPML_OK);
    cr_expect_eq(late_counts(backends[GPU]).waits, 0);
    cr_assert_eq(space_wait(&set, GPU), TAPML_OK);
    cr_expect_eq(late_counts(backends[GPU]).waits, 1);
    cr_expect_eq(*(const char *)memory, 1);
    cr_assert_eq(space_claim(&set, &block), TAPML_OK);
    cr_expect_eq(late_counts(backends[GPU]).waits, 1, "nothing is pending any more");
    space_block_release(&block, &set);
    close_set();
}

// The device behind the link reads as late as it may: whoever does not wait corrupts what it reads.
Test(space, lends_host_memory_to_a_place_behind_a_link)
{
    enum { NEAR, FAR, BYTES = 1 << 15 };
    static const char *const names[] = {"near", "far"};
    struct backend *device = late_create(&(struct late_options){0});
    struct backend *both[] = {plain_create(), NULL};
    struct catalogue *catalogue = NULL;
    struct arena *arena = arena_create();
    struct space_set set;
    struct space_block block, other;
    void *memory = NULL, *rest = NULL;
    cr_assert_eq(catalogue_create(&catalogue), TAPML_OK);
    cr_assert_eq(loopback_create(device, catalogue, arena, &both[FAR]), TAPML_OK);
    struct places places;
    space_set_init(&set, places_over(&places, both, names, 2), 2);
    space_block_init(&block, activation_bytes(BYTES, 0));
    space_block_init(&other, activation_bytes(BYTES, 0));
    cr_assert_eq(space_memory(&set, &block, &memory), TAPML_OK);
    cr_assert_eq(space_memory(&set, &other, &rest), TAPML_OK);
    cr_expect_eq(block.span.memory, memory);
    cr_expect_eq(set.places[FAR].shared, 1, "both lie in one region");
    for (int turn = 0; turn < 3; turn++) {
        cr_assert_eq(space_claim(&set, &block), TAPML_OK);
        memset(memory, turn + 1, BYTES);
        cr_assert_eq(space_upload(&set, &block, FAR, 0, BYTES), TAPML_OK);
        cr_expect_eq(late_counts(device).waits, (uint64_t)turn, "what is shared is waited for");
    }
    cr_assert_eq(space_claim(&set, &block), TAPML_OK);
    memset(memory, 0xff, BYTES);
    cr_assert_eq(space_download(&set, &block, FAR, 0, BYTES), TAPML_OK);
    cr_assert_eq(space_wait_all(&set), TAPML_OK);
    cr_expect_eq(((unsigned char *)memory)[0], 3);
    cr_expect_eq(((unsigned char *)memory)[BYTES - 1], 3);
    space_block_release(&block, &set);
    space_block_release(&other, &set);
    space_set_release(&set);
    cr_expect_null(set.memory);
    backend_release(both[FAR]);
    backend_release(both[NEAR]);
    backend_release(device);
    catalogue_destroy(catalogue);
    arena_destroy(arena);
}

Test(space, moves_between_devices_over_host_memory)
{
    struct space_set set;
    struct space_block block;
    void *memory = NULL;
    open_set(&set);
    space_block_init(&block, activation_bytes(64, 0));
    cr_assert_eq(space_memory(&set, &block, &memory), TAPML_OK);
    for (unsigned char i = 0; i < 64; i++) {
        ((unsigned char *)memory)[i] = i;
    }
    cr_assert_eq(space_upload(&set, &block, GPU, 0, 64), TAPML_OK);
    cr_assert_eq(space_claim(&set, &block), TAPML_OK);
    memset(memory, 0xff, 64);
    // From byte 6 to 17: whole grains are 4 to 20.
    cr_assert_eq(space_download(&set, &block, GPU, 6, 17), TAPML_OK);
    cr_assert_eq(space_wait(&set, GPU), TAPML_OK);
    cr_expect_eq(late_counts(backends[GPU]).read_bytes, 16);
    cr_expect_eq(((unsigned char *)memory)[3], 0xff);
    cr_expect_eq(((unsigned char *)memory)[4], 4);
    cr_expect_eq(((unsigned char *)memory)[19], 19);
    cr_expect_eq(((unsigned char *)memory)[20], 0xff);
    cr_assert_eq(space_upload(&set, &block, NPU, 6, 17), TAPML_OK);
    cr_assert_eq(space_wait_all(&set), TAPML_OK);
    cr_expect_eq(memcmp((const char *)late_bytes(block.buffers[NPU]) + 4, (char *)memory + 4, 16),
                 0);
    space_block_release(&block, &set);
    close_set();
}

Test(space, tells_others_once_to_begin_what_they_hold)
{
    struct space_set set;
    open_set(&set);
    space_note_call(&set, NPU);
    cr_assert_eq(space_flush_others(&set, NPU), TAPML_OK);
    cr_expect_eq(late_counts(backends[NPU]).flushes, 0, "more may come");
    cr_assert_eq(space_flush_others(&set, GPU), TAPML_OK);
    cr_assert_eq(space_flush_others(&set, SOURCE), TAPML_OK);
    cr_expect_eq(late_counts(backends[GPU]).flushes, 0, "nothing was given to it");
    cr_expect_eq(late_counts(backends[NPU]).flushes, 1);
    space_note_call(&set, NPU);
    cr_assert_eq(space_wait(&set, NPU), TAPML_OK);
    cr_assert_eq(space_flush_others(&set, SOURCE), TAPML_OK);
    cr_expect_eq(late_counts(backends[NPU]).flushes, 1, "it was waited for");
    close_set();
}
