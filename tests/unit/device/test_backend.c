// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "device/backend.h"
#include "harness/plain.h"

#include <criterion/criterion.h>
#include <string.h>

enum { WORDS = 4, BYTES = WORDS * sizeof(uint32_t) };

// A backend over memory of its own, one buffer of it, and one that is only read.
static struct backend *backend;
static tapml_object *buffer, *constant;
static uint32_t memory[WORDS];

static void begin(void)
{
    backend = plain_create();
    cr_assert_eq(backend_buffer_new(backend, BYTES, &buffer), TAPML_OK);
    cr_assert_eq(backend_buffer_wrap(backend, memory, BYTES, TAPML_ACCESS_READ, &constant),
                 TAPML_OK);
}

static void end(void)
{
    backend_buffer_free(backend, buffer);
    backend_buffer_free(backend, constant);
    backend_release(backend);
}

TestSuite(backend, .init = begin, .fini = end);

static void expect_refused(tapml_status status, tapml_status expected, const char *message)
{
    cr_expect_eq(status, expected);
    cr_expect_str_eq(status_message(), message);
}

Test(backend, a_transfer_lies_inside_of_its_buffer)
{
    uint32_t words[WORDS] = {1, 2, 3, 4};
    cr_assert_eq(backend_write(backend, buffer, 0, words, BYTES), TAPML_OK);
    cr_assert_eq(backend_write(backend, buffer, BYTES, words, 0), TAPML_OK);
    expect_refused(backend_write(backend, buffer, 8, words, 12), TAPML_INVALID,
                   "plain:plain: a write of 12 bytes at 8 of buffer 1, which has 16 bytes");
    expect_refused(backend_read(backend, buffer, BYTES + 4, words, 0), TAPML_INVALID,
                   "plain:plain: a read of 0 bytes at 20 of buffer 1, which has 16 bytes");
    expect_refused(backend_fill(backend, buffer, 4, UINT64_MAX - 3, 0), TAPML_INVALID,
                   "plain:plain: a fill of 18446744073709551612 bytes at 4 of buffer 1, which has "
                   "16 bytes");
    const void *shown = NULL;
    expect_refused(backend_map(backend, buffer, 0, 17, &shown), TAPML_OK, status_message());
}

Test(backend, a_transfer_is_of_whole_grains)
{
    uint32_t words[WORDS] = {0};
    expect_refused(backend_write(backend, buffer, 2, words, 4), TAPML_INVALID,
                   "plain:plain: a write of 4 bytes at 2: expected multiples of 4");
    expect_refused(backend_read(backend, buffer, 0, words, 5), TAPML_INVALID,
                   "plain:plain: a read of 5 bytes at 0: expected multiples of 4");
}

Test(backend, what_is_only_read_is_not_written)
{
    uint32_t words[WORDS] = {0};
    cr_assert_eq(backend_read(backend, constant, 0, words, BYTES), TAPML_OK);
    expect_refused(backend_write(backend, constant, 4, words, 4), TAPML_INVALID,
                   "plain:plain: a write of 4 bytes at 4 of buffer 2, which is only read and has "
                   "16 bytes");
    expect_refused(backend_fill(backend, constant, 0, 16, 0), TAPML_INVALID,
                   "plain:plain: a fill of 16 bytes at 0 of buffer 2, which is only read and has "
                   "16 bytes");
}

Test(backend, a_freed_buffer_is_named)
{
    uint32_t words[WORDS] = {0};
    tapml_object *freed = NULL;
    cr_assert_eq(backend_buffer_new(backend, 64, &freed), TAPML_OK);
    backend_buffer_free(backend, freed);
    expect_refused(backend_write(backend, freed, 0, words, 4), TAPML_INVALID,
                   "plain:plain: a write of 4 bytes at 0 of buffer 3, which was freed; it had 64 "
                   "bytes");
}

Test(backend, a_buffer_of_another_backend_is_foreign)
{
    uint32_t words[WORDS] = {0};
    struct backend *other = plain_create();
    expect_refused(backend_read(other, buffer, 0, words, 4), TAPML_INVALID,
                   "plain:plain: a read of 4 bytes at 0 of a buffer that it has not made");
    expect_refused(backend_read(backend, NULL, 0, words, 4), TAPML_INVALID,
                   "plain:plain: a read of 4 bytes at 0 of a buffer that it has not made");
    backend_release(other);
}

// -- Maps --------------------------------------------------------------------------------------

static tapml_status
show(struct backend *self, tapml_object *shown, uint64_t offset, uint64_t size, const void **out)
{
    *out = (const unsigned char *)plain_bytes(shown) + offset;
    return TAPML_OK;
}

static void hide(struct backend *self, tapml_object *shown)
{
    // Nothing was made.
}

Test(backend, is_mapped_while_no_work_is_pending_and_then_gets_none)
{
    uint32_t words[WORDS] = {7, 8, 9, 10};
    struct backend_vt vt = *backend->vt;
    const struct backend_vt *before = backend->vt;
    const void *shown = NULL;
    vt.map = show;
    vt.unmap = hide;
    backend->vt = &vt;
    cr_assert_eq(backend_write(backend, buffer, 0, words, BYTES), TAPML_OK);
    expect_refused(backend_map(backend, buffer, 4, 8, &shown), TAPML_PRECONDITION,
                   "plain:plain: a map of 8 bytes at 4 of buffer 1 while work is pending");
    cr_assert_eq(backend_wait(backend), TAPML_OK);
    expect_refused(backend_map(backend, buffer, 12, 5, &shown), TAPML_INVALID,
                   "plain:plain: a map of 5 bytes at 12 of buffer 1, which has 16 bytes");
    cr_assert_eq(backend_map(backend, buffer, 5, 3, &shown), TAPML_OK);
    cr_expect_eq(shown, (const unsigned char *)plain_bytes(buffer) + 5);
    expect_refused(backend_write(backend, constant, 0, words, 4), TAPML_INVALID, status_message());
    expect_refused(backend_read(backend, constant, 0, words, 4), TAPML_PRECONDITION,
                   "plain:plain: a read of 4 bytes at 0 while buffer 1 is mapped");
    expect_refused(backend_map(backend, constant, 0, 4, &shown), TAPML_PRECONDITION,
                   "plain:plain: a map of 4 bytes at 0 while buffer 1 is mapped");
    backend_unmap(backend, buffer);
    cr_assert_eq(backend_read(backend, constant, 0, words, 4), TAPML_OK);
    backend->vt = before;
}

// -- Calls -------------------------------------------------------------------------------------

static const tapml_param in = {
    .hdr = TAPML_HDR(tapml_param), .name = "x", .kind = TAPML_P_TENSOR_IN};
static const tapml_param out = {
    .hdr = TAPML_HDR(tapml_param), .name = "y", .kind = TAPML_P_TENSOR_OUT};
static const tapml_param *const params[] = {&in, &out};
static const tapml_op op = {
    .hdr = TAPML_HDR(tapml_op), .name = "org.example.op", .params = params, .n_params = 2};

static tapml_status call(const tapml_tensor *x, const tapml_tensor *y)
{
    const tapml_value args[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = x},
                                {.kind = TAPML_P_TENSOR_OUT, .u.p = y}};
    // The façade trusts what the caller inferred, and checks the buffers alone.
    const struct compiled_op schema = {.op = &op};
    const struct inferred inferred = {.schema = &schema};
    return backend_call(backend,
                        &(struct backend_call){.op = &op, .args = args, .inferred = &inferred});
}

Test(backend, tensors_of_a_call_lie_in_their_buffers)
{
    static const int64_t shape[] = {2}, long_shape[] = {5}, negative[] = {-1};
    const tapml_tensor right = {.hdr = TAPML_HDR(tapml_tensor),
                                .dtype = TAPML_F32,
                                .rank = 1,
                                .shape = shape,
                                .buffer = buffer};
    tapml_tensor wrong = right;
    wrong.shape = long_shape;
    expect_refused(call(&wrong, &right), TAPML_INVALID,
                   "parameter 'x': plain:plain: a tensor of 20 bytes at 0 of buffer 1, which has "
                   "16 bytes");
    wrong = right;
    wrong.offset = 12;
    expect_refused(call(&right, &wrong), TAPML_INVALID,
                   "parameter 'y': plain:plain: a tensor of 8 bytes at 12 of buffer 1, which has "
                   "16 bytes");
    wrong = right;
    wrong.offset = 2;
    expect_refused(call(&wrong, &right), TAPML_INVALID,
                   "parameter 'x': plain:plain: a tensor of 8 bytes at 2 of buffer 1, not on a "
                   "multiple of its element, has 16 bytes");
    wrong = right;
    wrong.buffer = constant;
    expect_refused(call(&right, &wrong), TAPML_INVALID,
                   "parameter 'y': plain:plain: a tensor of 8 bytes at 0 of buffer 2, which is "
                   "only read and has 16 bytes");
    wrong.buffer = NULL;
    expect_refused(call(&right, &wrong), TAPML_INVALID,
                   "parameter 'y': plain:plain: a tensor of 8 bytes at 0 of a buffer that it has "
                   "not made");
    wrong = right;
    wrong.shape = negative;
    expect_refused(call(&wrong, &right), TAPML_INVALID,
                   "parameter 'x': a tensor has an impossible shape");
    wrong = right;
    wrong.next = &(const tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                                       .dtype = TAPML_F32,
                                       .rank = 1,
                                       .shape = long_shape,
                                       .buffer = buffer};
    expect_refused(call(&wrong, &right), TAPML_INVALID,
                   "parameter 'x': plain:plain: a tensor of 20 bytes at 0 of buffer 1, which has "
                   "16 bytes");
}

Test(backend, a_copy_is_between_two_buffers)
{
    uint32_t words[WORDS] = {1, 2, 3, 4};
    struct backend_copy copy = {buffer, buffer, 0, 8, 8};
    tapml_object *other = NULL;
    cr_assert_eq(backend_buffer_new(backend, BYTES, &other), TAPML_OK);
    cr_assert_eq(backend_write(backend, buffer, 0, words, BYTES), TAPML_OK);
    cr_assert_eq(backend_fill(backend, other, 0, BYTES, 9), TAPML_OK);
    expect_refused(backend_copy(backend, &copy), TAPML_INVALID,
                   "plain:plain: a copy's write of 8 bytes at 8: its source is the same buffer");
    copy.target = other;
    cr_assert_eq(backend_copy(backend, &copy), TAPML_OK);
    cr_assert_eq(backend_read(backend, other, 0, words, BYTES), TAPML_OK);
    cr_expect(words[1] == 9 && words[2] == 1 && words[3] == 2);
    copy.source_offset = 12;
    expect_refused(backend_copy(backend, &copy), TAPML_INVALID,
                   "plain:plain: a copy's read of 8 bytes at 12 of buffer 1, which has 16 bytes");
    copy = (struct backend_copy){buffer, constant, 0, 0, 8};
    expect_refused(backend_copy(backend, &copy), TAPML_INVALID,
                   "plain:plain: a copy's write of 8 bytes at 0 of buffer 2, which is only read "
                   "and has 16 bytes");
    backend_buffer_free(backend, other);
}

Test(backend, a_table_may_have_no_copy)
{
    struct backend_vt vt = *backend->vt;
    struct backend without = {.vt = &vt};
    vt.copy = NULL;
    cr_expect_eq(backend_copy(&without, &(struct backend_copy){buffer, constant, 0, 0, 8}),
                 TAPML_UNIMPLEMENTED);
    cr_expect_str_eq(status_message(), "plain: it copies between no buffers");
}

// -- Wrappers ----------------------------------------------------------------------------------

// A wrapper that watches one function of a backend and forwards the rest.
struct counting {
    struct backend_wrapper wrapper;
    int fills;
};

static tapml_status count_fill(
    struct backend *self, tapml_object *filled, uint64_t offset, uint64_t size, uint32_t pattern)
{
    struct counting *counting = (struct counting *)self;
    ++counting->fills;
    return backend_fill(counting->wrapper.inner, filled, offset, size, pattern);
}

static void refuse_note(void *user, tapml_status status)
{
    cr_assert_fail("a backend without notifications has notified");
}

Test(backend, a_wrapper_forwards_what_it_does_not_watch)
{
    struct backend_vt vt = backend_forward_vt;
    vt.fill = count_fill;
    struct counting counting = {.wrapper = {.backend = {.vt = &vt}, .inner = backend}};
    struct backend *wrapper = &counting.wrapper.backend;
    uint32_t words[WORDS] = {0};
    tapml_object *own = NULL;
    cr_assert_eq(backend_info(wrapper), backend_info(backend));
    cr_assert_eq(backend_buffer_new(wrapper, BYTES, &own), TAPML_OK);
    cr_assert_eq(backend_fill(wrapper, own, 0, BYTES, 0x01020304), TAPML_OK);
    cr_assert_eq(backend_write(wrapper, own, 4, "abcd", 4), TAPML_OK);
    cr_assert_eq(backend_read(wrapper, own, 0, words, BYTES), TAPML_OK);
    cr_assert_eq(backend_flush(wrapper), TAPML_OK);
    cr_assert_eq(backend_wait(wrapper), TAPML_OK);
    struct backend_point point;
    cr_assert_eq(backend_signal(wrapper, &point), TAPML_OK);
    cr_expect_eq(point.owner, backend);
    cr_assert_eq(backend_wait_for(wrapper, point), TAPML_OK);
    cr_expect_eq(backend_queue_wait(wrapper, point), TAPML_UNIMPLEMENTED);
    cr_expect_eq(backend_notify(wrapper, point, refuse_note, NULL), TAPML_UNIMPLEMENTED);
    cr_expect_str_eq(status_message(), "plain: it notifies of no point");
    cr_expect_eq(counting.fills, 1);
    cr_expect_eq(words[0], 0x01020304);
    cr_expect_eq(memcmp(&words[1], "abcd", 4), 0);
    const void *shown = words;
    cr_assert_eq(backend_map(wrapper, own, 4, 8, &shown), TAPML_OK);
    cr_expect_null(shown, "plain memory is not mapped");
    cr_expect_eq(backend_launches(wrapper), backend_launches(backend));
    expect_refused(backend_read(wrapper, own, BYTES, words, 4), TAPML_INVALID,
                   "plain:plain: a read of 4 bytes at 16 of buffer 3, which has 16 bytes");
    backend_buffer_free(wrapper, own);
    backend_buffer_free(wrapper, NULL);

    // A wrapper borrows: letting it go leaves the inner one open.
    backend_release(wrapper);
    backend_release(NULL);
    cr_assert_eq(backend_wait(backend), TAPML_OK);
}
