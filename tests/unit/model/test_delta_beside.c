// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/pool.h"
#include "model/checkpoint.h"
#include "model/delta_beside.h"
#include "model/delta_make.h"

#include <criterion/criterion.h>

enum { ROWS = 4, COLUMNS = 64, VALUES = ROWS * COLUMNS };

static const int64_t matrix[] = {ROWS, COLUMNS}, row[] = {VALUES};

// A matrix and a row of the same values.
static struct checkpoint *make_checkpoint(const float *values)
{
    const struct checkpoint_tensor tensors[] = {
        {.name = "matrix", .tensor = {.dtype = TAPML_F32, .rank = 2, .shape = matrix}},
        {.name = "row", .tensor = {.dtype = TAPML_F32, .rank = 1, .shape = row}}};
    struct checkpoint *checkpoint = NULL;
    cr_assert_eq(checkpoint_create(&checkpoint), TAPML_OK);
    for (size_t i = 0; i < 2; ++i) {
        struct checkpoint_tensor tensor = tensors[i];
        tensor.data = values;
        tensor.bytes = VALUES * sizeof(*values);
        tensor.file = "f";
        cr_assert_eq(checkpoint_add_tensor(checkpoint, &tensor), TAPML_OK);
    }
    cr_assert_eq(checkpoint_finish(checkpoint), TAPML_OK);
    return checkpoint;
}

static void make_file(enum delta_kind kind, float step, float *base, float *fine, const char *path)
{
    struct delta_make_counts counts;
    struct pool *pool = NULL;
    cr_assert_eq(pool_create(1, &pool), TAPML_OK);
    for (int i = 0; i < VALUES; ++i) {
        base[i] = (float)(i % 7);
        fine[i] = base[i] + step * (float)(i % 5 - 2);
    }
    struct checkpoint *from = make_checkpoint(base), *to = make_checkpoint(fine);
    const struct delta_make_options options = {
        .base = from, .fine = to, .kind = kind, .density = 0.5, .calibration = {.pool = pool}};
    cr_assert_eq(delta_make(&options, path, &counts), TAPML_OK, "%s", status_message());
    checkpoint_close(from);
    checkpoint_close(to);
    pool_destroy(pool);
}

static void expect_beside(enum delta_kind kind, float step, const char *encoding)
{
    struct scratch scratch;
    float base[VALUES], fine[VALUES];
    scratch_make(&scratch);
    const char *path = scratch_path(&scratch, "d");
    make_file(kind, step, base, fine, path);
    struct checkpoint *checkpoint = make_checkpoint(base);
    const void *data = checkpoint_find(checkpoint, "matrix")->data;
    cr_assert_eq(delta_beside_join(path, checkpoint), TAPML_OK, "%s", status_message());
    const struct checkpoint_tensor *weight = checkpoint_find(checkpoint, "matrix");
    const struct checkpoint_tensor *change = checkpoint_find(checkpoint, "matrix.delta");
    cr_expect_eq(checkpoint_find(checkpoint, "row")->adapter, NULL);
    cr_expect_eq(((const float *)checkpoint_find(checkpoint, "row")->data)[3], fine[3]);
    cr_assert_eq(change != NULL, encoding != NULL);
    cr_expect_eq(weight->data == data, encoding != NULL, "a change that is not beside it is in it");
    if (encoding) {
        cr_expect_str_eq(change->tensor.encoding->id, encoding);
        cr_expect(change->is_of_adapter);
        cr_assert_not_null(weight->adapter);
        cr_expect_str_eq(weight->adapter->down, "matrix.delta");
        cr_expect_null(weight->adapter->up);
    }
    checkpoint_close(checkpoint);
    scratch_remove(&scratch);
}

Test(delta_beside, changes_of_two_of_four_are_beside_their_weight)
{
    expect_beside(DELTA_24Q4, 0.01F, "gguf.q5_0/1");
    expect_beside(DELTA_24Q2, 0.01F, "gguf.q4_0/1");
}

Test(delta_beside, others_are_made_whole)
{
    expect_beside(DELTA_XOR, 0.01F, NULL);
    expect_beside(DELTA_SPARSE, 0.01F, NULL);
    expect_beside(DELTA_24Q4, 1000, NULL); // No block has such a scale.
}

Test(delta_beside, another_base_is_refused)
{
    struct scratch scratch;
    float base[VALUES], fine[VALUES];
    scratch_make(&scratch);
    const char *path = scratch_path(&scratch, "d");
    make_file(DELTA_24Q4, 0.01F, base, fine, path);
    struct checkpoint *checkpoint = make_checkpoint(fine);
    cr_expect_eq(delta_beside_join(path, checkpoint), TAPML_INVALID);
    cr_expect(strstr(status_message(), "tensor 'matrix': expected 256 values"), "%s",
              status_message());
    checkpoint_close(checkpoint);
    scratch_remove(&scratch);
}
