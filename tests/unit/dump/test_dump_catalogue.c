// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "dump/dump_catalogue.h"
#include "harness/scratch.h"
#include "schema/catalogue.h"

Test(dump_catalogue, it_has_our_ops)
{
    struct catalogue *catalogue = NULL;

    cr_assert_eq(dump_catalogue_create(&catalogue), TAPML_OK);
    cr_assert_not_null(catalogue_find(catalogue, "tapml.rms_norm", 1));
    cr_assert_null(catalogue_find(catalogue, "tapml.nothing", 1));
    catalogue_destroy(catalogue);
}
