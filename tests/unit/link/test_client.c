// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "far.h"
#include "link/client.h"

static struct far far;
static const float values[] = {1, 2, 3, 4};
static const float zeros[4];

static void teardown(void)
{
    far_close(&far);
}

TestSuite(client, .fini = teardown);

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
    backend_buffer_free(far.backend, x);
    backend_buffer_free(far.backend, y);
}

Test(client, moves_bytes_of_host_memory)
{
    moves_bytes("good:first");
}

Test(client, moves_bytes_of_a_device)
{
    moves_bytes("good:0000:02/b");
}

Test(client, says_what_the_far_side_is)
{
    far_open(&far, "good:first");
    const struct backend_info *info = backend_info(far.backend);
    cr_assert_str_eq(info->component, "good");
    cr_assert_str_eq(info->plugin, "org.example.good");
    cr_assert_str_eq(info->device, "first");
    cr_assert_str_eq(info->build_id, backend_info(far.near)->build_id);
    cr_assert_eq(info->buffer_bytes_max, 1 << 20);
    cr_assert_not(info->is_host_memory, "its memory is not that of this process");
    cr_assert(backend_has_op(far.backend, far_op(&far, "org.example.scale")));
    cr_assert_not(backend_has_op(far.backend, far_op(&far, "tapml.silu")));
}

Test(client, gives_an_error_of_a_call_to_the_wait_with_its_instance)
{
    far_open(&far, "good:first");
    tapml_object *x = far_buffer(&far, values, sizeof(values));
    tapml_object *y = far_buffer(&far, zeros, sizeof(zeros));
    float found[4];
    FAR_MUST(far_trouble(&far, x, y, 0, "a"));
    FAR_MUST(far_trouble(&far, x, y, 1, "layers.0/b"));
    FAR_MUST(backend_fill(far.backend, y, 0, sizeof(zeros), 0));
    cr_assert_eq(backend_wait(far.backend), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "layers.0/b"), "%s", status_message());
    cr_assert_not_null(strstr(status_message(), "trouble at once"), "%s", status_message());
    FAR_MUST(backend_wait(far.backend));
    FAR_MUST(backend_read(far.backend, y, 0, found, sizeof(found)));
    cr_assert_arr_eq(found, values, sizeof(values), "what was queued behind it is left out");
    FAR_MUST(far_trouble(&far, x, y, 0, "c"));
    FAR_MUST(backend_wait(far.backend));
    cr_assert_eq(far_trouble(&far, x, y, 2, "layers.0/d"), TAPML_OK);
    cr_assert_eq(backend_wait(far.backend), TAPML_INTERNAL, "an error out of the queue");
    cr_assert_not_null(strstr(status_message(), "layers.0/d"), "%s", status_message());
    backend_buffer_free(far.backend, x);
    backend_buffer_free(far.backend, y);
}

Test(client, asks_for_support)
{
    static const int64_t four[] = {4};
    const tapml_tensor x = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 1, .shape = four};
    const tapml_value args[] = {
        {.kind = TAPML_P_TENSOR_IN, .u.p = &x},
        {.kind = TAPML_P_I64, .u.i = 0},
        {.kind = TAPML_P_TENSOR_OUT, .u.p = &x},
    };
    tapml_support answer;
    far_open(&far, "good:first");
    FAR_MUST(backend_supports(far.backend, far_op(&far, "org.example.trouble"), args, &answer));
    cr_assert_eq(answer.grade, TAPML_SUPPORT_NO);
    cr_assert_str_eq(answer.reason, "it is trouble");
    FAR_MUST(backend_supports(far.backend, far_op(&far, "tapml.silu"), args, &answer));
    cr_assert_str_eq(answer.reason, "it has no op 'tapml.silu'");
}

Test(client, refuses_what_leaves_a_buffer)
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

Test(client, counts_launches)
{
    far_open(&far, "good:first");
    tapml_object *x = far_buffer(&far, values, sizeof(values));
    tapml_object *y = far_buffer(&far, zeros, sizeof(zeros));
    cr_assert_eq(backend_launches(far.backend), 0);
    FAR_MUST(far_trouble(&far, x, y, 0, NULL));
    FAR_MUST(far_trouble(&far, x, y, 0, NULL));
    cr_assert_eq(backend_launches(far.backend), 6);
    cr_assert_eq(client_count(far.backend, 0), 0);
    cr_assert_eq(client_falls(far.backend), 0);
    cr_assert_eq(backend_generation(far.backend), 0);
    backend_buffer_free(far.backend, x);
    backend_buffer_free(far.backend, y);
}

Test(client, allocates_nothing_once_it_runs)
{
    far_open(&far, "good:first");
    tapml_object *x = far_buffer(&far, values, sizeof(values));
    tapml_object *y = far_buffer(&far, zeros, sizeof(zeros));
    float found[4];
    size_t before = 0;
    for (int turn = 0; turn < 20; turn++) {
        before = turn == 10 ? alloc_made() : before;
        FAR_MUST(far_trouble(&far, x, y, 0, "a"));
        FAR_MUST(backend_read(far.backend, y, 0, found, sizeof(found)));
        FAR_MUST(backend_wait(far.backend));
    }
    cr_assert_eq(alloc_made(), before);
    backend_buffer_free(far.backend, x);
    backend_buffer_free(far.backend, y);
}
