// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "exec/weight.h"
#include "harness/late.h"
#include "harness/plain.h"
#include "harness/scratch.h"

#include <criterion/criterion.h>
#include <string.h>

static struct weight_set *make_set(struct backend *backend)
{
    struct weight_set *set = NULL;
    cr_assert_eq(weight_set_create(backend, &set), TAPML_OK);
    return set;
}

static const tapml_tensor *
get(struct weight_set *set, const void *data, uint32_t dtype, const int64_t *shape, uint32_t rank)
{
    const tapml_tensor *tensor = NULL;
    cr_assert_eq(weight_set_get(set, data, dtype, shape, rank, &tensor), TAPML_OK, "%s",
                 status_message());
    return tensor;
}

Test(weight, is_the_memory_itself_on_a_host_memory_backend)
{
    struct backend *backend = plain_create();
    struct weight_set *set = make_set(backend);
    const float data[6] = {1, 2, 3, 4, 5, 6};
    const int64_t shape[] = {2, 3};
    const tapml_tensor *tensor = get(set, data, TAPML_F32, shape, 2);
    cr_expect_eq(plain_bytes(tensor->buffer), (const void *)data);
    cr_expect_eq(tensor->offset, 0);
    cr_expect_eq(tensor->dtype, TAPML_F32);
    cr_expect_eq(tensor->rank, 2);
    cr_expect_arr_eq(tensor->shape, shape, sizeof(shape));
    cr_expect_null(tensor->stride);
    cr_expect_null(tensor->next);
    cr_expect_eq(weight_set_panels(set, TAPML_F32, shape, 2), 1);
    weight_set_destroy(set);
    backend_release(backend);
    weight_set_destroy(NULL);
}

Test(weight, is_uploaded_once_with_its_tail)
{
    struct backend *backend = late_create(&(struct late_options){0});
    struct weight_set *set = make_set(backend);
    unsigned char data[22];
    const unsigned char zeros[10] = {0};
    const int64_t shape[] = {11};
    memset(data, 7, sizeof(data));
    const tapml_tensor *tensor = get(set, data, TAPML_BF16, shape, 1);
    cr_expect_eq(get(set, data, TAPML_BF16, shape, 1), tensor);
    cr_expect_eq(late_counts(backend).buffers_alive, 1);
    cr_expect_eq(late_counts(backend).written_bytes, 32);
    cr_assert_eq(backend_wait(backend), TAPML_OK);
    cr_expect_eq(memcmp(late_bytes(tensor->buffer), data, sizeof(data)), 0);
    cr_expect_eq(memcmp((const char *)late_bytes(tensor->buffer) + 22, zeros, 10), 0);

    const int64_t other[] = {1, 11};
    cr_expect_neq(get(set, data, TAPML_BF16, other, 2), tensor, "another shape is another tensor");
    weight_set_destroy(set);
    cr_expect_eq(late_counts(backend).buffers_alive, 0);
    backend_release(backend);
}

Test(weight, comes_in_panels_where_it_is_larger_than_a_buffer)
{
    struct backend *backend = late_create(&(struct late_options){.buffer_bytes_max = 70});
    struct weight_set *set = make_set(backend);
    uint16_t data[7 * 9]; // Rows of 18 bytes: three in 64.
    const int64_t shape[] = {7, 9};
    for (uint16_t i = 0; i < 63; i++) {
        data[i] = i;
    }
    cr_expect_eq(weight_set_panels(set, TAPML_F16, shape, 2), 3);
    const tapml_tensor *panel = get(set, data, TAPML_F16, shape, 2);
    cr_assert_eq(backend_wait(backend), TAPML_OK);
    static const int64_t rows[] = {3, 3, 1};
    const uint16_t *expected = data;
    for (size_t i = 0; i < 3; i++) {
        cr_assert_not_null(panel);
        cr_expect_eq(panel->shape[0], rows[i]);
        cr_expect_eq(panel->shape[1], 9);
        cr_expect_eq(memcmp(late_bytes(panel->buffer), expected, (size_t)rows[i] * 18), 0);
        expected += rows[i] * 9;
        panel = panel->next;
    }
    cr_expect_null(panel);
    weight_set_destroy(set);
    cr_expect_eq(late_counts(backend).buffers_alive, 0);
    backend_release(backend);
}

Test(weight, is_refused_where_one_row_is_too_large)
{
    struct backend *backend = late_create(&(struct late_options){.buffer_bytes_max = 64});
    struct weight_set *set = make_set(backend);
    static const float data[40] = {0};
    const tapml_tensor *tensor = NULL;
    const int64_t wide[] = {2, 20}, line[] = {40}, fits[] = {16};
    cr_expect_eq(weight_set_get(set, data, TAPML_F32, wide, 2, &tensor), TAPML_UNIMPLEMENTED);
    cr_expect(strstr(status_message(), "80 bytes"), "%s", status_message());
    cr_expect_eq(weight_set_get(set, data, TAPML_F32, line, 1, &tensor), TAPML_UNIMPLEMENTED);
    cr_expect_null(tensor);
    cr_expect_eq(weight_set_panels(set, TAPML_F32, wide, 2), 0);
    cr_expect_eq(weight_set_panels(set, TAPML_F32, line, 1), 0);
    cr_expect_eq(weight_set_panels(set, TAPML_F32, fits, 1), 1);
    weight_set_destroy(set);
    backend_release(backend);
}

Test(weight, is_refused_where_it_is_empty_or_too_large_to_count)
{
    struct backend *backend = plain_create();
    struct weight_set *set = make_set(backend);
    const float data = 0;
    const tapml_tensor *tensor = NULL;
    const int64_t empty[] = {0, 4}, negative[] = {-1}, huge[] = {INT64_MAX, 3};
    cr_expect_eq(weight_set_get(set, &data, TAPML_F32, empty, 2, &tensor), TAPML_INVALID);
    cr_expect_eq(weight_set_get(set, &data, TAPML_F32, negative, 1, &tensor), TAPML_INVALID);
    cr_expect_eq(weight_set_get(set, &data, TAPML_F32, huge, 2, &tensor), TAPML_INVALID);
    cr_expect_eq(weight_set_get(set, &data, TAPML_F32, huge, 1, &tensor), TAPML_INVALID);
    cr_expect_null(tensor);
    cr_expect_eq(get(set, &data, TAPML_F32, NULL, 0)->rank, 0);
    weight_set_destroy(set);
    backend_release(backend);
}

static tapml_status make_and_get(struct backend *backend)
{
    static const float data[8] = {0};
    static const int64_t shape[] = {2, 4};
    const tapml_tensor *tensor = NULL;
    struct weight_set *set = NULL;
    TAPML_TRY(weight_set_create(backend, &set));
    const tapml_status status = weight_set_get(set, data, TAPML_F32, shape, 2, &tensor);
    weight_set_destroy(set);
    return status;
}

Test(weight, survives_a_lack_of_memory)
{
    struct backend *backend = plain_create();
    SCRATCH_SWEEP(make_and_get(backend));
    backend_release(backend);
}
