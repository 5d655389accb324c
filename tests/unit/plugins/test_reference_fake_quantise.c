// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/fake_quants.h"
#include "plugins/reference.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <stdlib.h>

// Exact: the devices of the reference give the same bits, and so does the test's own formula.
static void check(const struct fake_quants *op, size_t rows, size_t width)
{
    double *x = calloc(rows * width, sizeof(*x)), *y = calloc(rows * width, sizeof(*y));
    const struct op_fixture fixture = {
        .op = &tapml_fake_quantise,
        .output = TAPML_FAKE_QUANTISE_Y,
        .arguments = {{.tensor = op_fixture_rows(TAPML_F32, (int64_t)rows, (int64_t)width, x)},
                      {.i64 = (int64_t)op->block},
                      {.i64 = op->format},
                      {.i64 = op->scaling},
                      {.f64 = op->low},
                      {.f64 = op->high},
                      {.f64 = op->factor},
                      {.tensor = op_fixture_rows(TAPML_F32, (int64_t)rows, (int64_t)width, NULL)}}};

    cr_assert(x != NULL && y != NULL);
    fake_quants_fill(op, rows, width, x);
    fake_quants_expect(op, rows, width, x, y);
    reference_check(&fixture, rows, y, 0);
    free(x);
    free(y);
}

Test(reference_fake_quantise, every_kind)
{
    for (int i = 0; i < FAKE_QUANTS_KINDS; i++) {
        check(&fake_quants_kinds[i].op, 11, 139);
    }
}
