// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/shared.h"
#include "far.h"
#include "link/far_memory.h"

static struct far far;
static const float values[] = {1, 2, 3, 4};
static const float zeros[4];

static void teardown(void)
{
    far_close(&far);
}

TestSuite(far_memory, .fini = teardown);

static void moves_bytes(const char *device)
{
    float found[4] = {0};
    far_open(&far, device);
    tapml_object *x = far_buffer(&far, values, sizeof(values));
    tapml_object *y = far_buffer(&far, zeros, sizeof(zeros));
    FAR_MUST(far_trouble(&far, x, y, 0, "a"));
    FAR_MUST(backend_read(far.backend, y, 0, found, sizeof(found)));
    FAR_MUST(backend_fill(far.backend, y, 4, 8, 0));
    FAR_MUST(backend_wait(far.backend));
    cr_assert_arr_eq(found, values, sizeof(values), "the read stands before the fill");
    FAR_MUST(backend_read(far.backend, y, 0, found, sizeof(found)));
    FAR_MUST(backend_wait(far.backend));
    cr_assert_eq(found[0], 1);
    cr_assert_eq(found[1], 0);
    cr_assert_eq(found[3], 4);
    FAR_MUST(backend_copy(far.backend, &(struct backend_copy){x, y, 8, 0, 8}));
    FAR_MUST(backend_read(far.backend, y, 0, found, sizeof(found)));
    FAR_MUST(backend_wait(far.backend));
    cr_assert_arr_eq(found, ((float[]){3, 4, 0, 4}), sizeof(found));
    cr_assert_eq(backend_copy(far.backend, &(struct backend_copy){x, y, 12, 0, 8}), TAPML_INVALID);
    backend_buffer_free(far.backend, x);
    backend_buffer_free(far.backend, y);
}

Test(far_memory, moves_bytes_of_host_memory)
{
    moves_bytes("good:first");
}

Test(far_memory, moves_bytes_of_a_device)
{
    moves_bytes("good:0000:02/b");
}

Test(far_memory, refuses_what_leaves_a_buffer)
{
    tapml_object *wrapped = NULL;
    char bytes[64] = {0};
    far_open(&far, "good:first");
    tapml_object *x = far_buffer(&far, values, sizeof(values));
    cr_assert_eq(backend_write(far.backend, x, 4, bytes, 16), TAPML_INVALID);
    cr_assert_eq(backend_read(far.backend, x, 0, bytes, 6), TAPML_INVALID);
    cr_assert_eq(backend_fill(far.backend, x, UINT64_MAX - 3, 4, 0), TAPML_INVALID);
    cr_assert_eq(backend_buffer_wrap(far.backend, bytes, 64, TAPML_ACCESS_READ, &wrapped),
                 TAPML_UNIMPLEMENTED);
    cr_assert_eq(backend_buffer_new(far.backend, (1 << 20) + 4, &wrapped), TAPML_NO_MEMORY);
    backend_buffer_free(far.backend, x);
}

enum { SHARED_BYTES = 1 << 14 };

static struct shared *memory;
static struct shared_span shared;

// Memory that is shared, with numbers in it.
static void share(void)
{
    FAR_MUST(shared_create(SHARED_READ_ONLY, &memory));
    FAR_MUST(shared_take(memory, SHARED_BYTES, &shared));
    for (size_t i = 0; i < SHARED_BYTES / sizeof(float); i++) {
        const float number = (float)i;
        memcpy(shared.memory + i * sizeof(number), &number, sizeof(number));
    }
    const struct backend_share share = {shared.memory, shared_bytes(memory, 0),
                                        shared_descriptor(memory, 0)};
    FAR_MUST(backend_share(far.backend, &share));
}

static void unshare(void)
{
    backend_unshare(far.backend, shared.memory);
    FAR_MUST(backend_fill(far.backend, far_buffer(&far, values, sizeof(values)), 0, 4, 0));
    FAR_MUST(backend_wait(far.backend)); // What the far side thinks of it comes with the wait.
    shared_destroy(memory);
}

// A write of shared memory reads it at the wait at the latest, and not before it must.
Test(far_memory, writes_from_memory_that_is_shared)
{
    static unsigned char found[SHARED_BYTES];
    far_open(&far, "good:0000:02/b");
    share();
    cr_assert_eq(backend_info(far.backend)->borrowing, BACKEND_BORROWS_SOURCES);
    tapml_object *x = NULL;
    FAR_MUST(backend_buffer_new(far.backend, SHARED_BYTES, &x));
    FAR_MUST(backend_write(far.backend, x, 0, shared.memory, SHARED_BYTES));
    shared.memory[5000] ^= 0xff; // Against the rules, but it shows that nothing was copied.
    FAR_MUST(backend_wait(far.backend));
    FAR_MUST(backend_read(far.backend, x, 0, found, SHARED_BYTES));
    FAR_MUST(backend_wait(far.backend));
    cr_assert_arr_eq(found, shared.memory, SHARED_BYTES);
    FAR_MUST(backend_write(far.backend, x, 0, shared.memory, SHARED_BYTES));
    FAR_MUST(backend_wait(far.backend));
    memset(shared.memory, 0, SHARED_BYTES); // After a wait, the source is the owner's again.
    FAR_MUST(backend_read(far.backend, x, 0, found, SHARED_BYTES));
    FAR_MUST(backend_wait(far.backend));
    cr_assert_neq(found[SHARED_BYTES - 1], 0);
    backend_buffer_free(far.backend, x);
    unshare();
}

// What lies in a share only in part is copied as ever.
Test(far_memory, copies_what_is_not_shared)
{
    static unsigned char found[SHARED_BYTES], source[SHARED_BYTES] = {1, 2, 3};
    far_open(&far, "good:0000:02/b");
    share();
    tapml_object *x = NULL;
    FAR_MUST(backend_buffer_new(far.backend, SHARED_BYTES, &x));
    FAR_MUST(backend_write(far.backend, x, 0, source, SHARED_BYTES));
    memset(source, 9, SHARED_BYTES);
    FAR_MUST(backend_read(far.backend, x, 0, found, SHARED_BYTES));
    FAR_MUST(backend_wait(far.backend));
    cr_assert_eq(found[2], 3, "it was read at once");
    backend_buffer_free(far.backend, x);
    unshare();
}

Test(far_memory, wraps_memory_that_is_shared_to_be_read)
{
    float found[4];
    tapml_object *x = NULL;
    far_open(&far, "good:first");
    share();
    cr_assert_eq(backend_info(far.backend)->borrowing, BACKEND_BORROWS_BUFFERS);
    FAR_MUST(
        backend_buffer_wrap(far.backend, shared.memory + 16, sizeof(found), TAPML_ACCESS_READ, &x));
    tapml_object *y = far_buffer(&far, zeros, sizeof(zeros));
    FAR_MUST(far_trouble(&far, x, y, 0, "a"));
    FAR_MUST(backend_read(far.backend, y, 0, found, sizeof(found)));
    FAR_MUST(backend_wait(far.backend));
    cr_assert_eq(found[0], 4);
    cr_assert_eq(found[3], 7);
    cr_assert_eq(backend_write(far.backend, x, 0, found, sizeof(found)), TAPML_INVALID);
    cr_assert_eq(backend_fill(far.backend, x, 0, 16, 0), TAPML_INVALID);
    cr_assert_eq(far_trouble(&far, y, x, 0, "b"), TAPML_INVALID, "nor does a call write it");
    backend_buffer_free(far.backend, x);
    cr_assert_eq(backend_buffer_wrap(far.backend, shared.memory, 64,
                                     TAPML_ACCESS_READ | TAPML_ACCESS_WRITE, &x),
                 TAPML_UNIMPLEMENTED);
    cr_assert_eq(backend_buffer_wrap(far.backend, shared.memory + 64, shared_bytes(memory, 0),
                                     TAPML_ACCESS_READ, &x),
                 TAPML_UNIMPLEMENTED, "it ends behind the share");
    backend_buffer_free(far.backend, y);
    unshare();
}

Test(far_memory, shares_memory_more_than_once)
{
    far_open(&far, "good:first");
    share();
    const struct backend_share share = {shared.memory, shared_bytes(memory, 0),
                                        shared_descriptor(memory, 0)};
    const struct backend_share other = {shared.memory, SHARED_BYTES, shared_descriptor(memory, 0)};
    tapml_object *x = NULL;
    cr_assert_eq(backend_share(far.backend, &other), TAPML_INVALID, "of another size");
    FAR_MUST(backend_share(far.backend, &share));
    backend_unshare(far.backend, shared.memory);
    FAR_MUST(backend_buffer_wrap(far.backend, shared.memory, 64, TAPML_ACCESS_READ, &x));
    backend_buffer_free(far.backend, x);
    unshare();
    cr_assert_eq(backend_buffer_wrap(far.backend, shared.memory, 64, TAPML_ACCESS_READ, &x),
                 TAPML_UNIMPLEMENTED);
}
