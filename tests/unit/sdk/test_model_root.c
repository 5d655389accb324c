// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "stand.h"

#include <tapml/model/root.h>

#include <criterion/criterion.h>

static const tapml_model table = {.hdr = TAPML_HDR(tapml_model)};
static const char description[] = "any";

Test(model_root, keeps_what_it_was_made_with)
{
    struct stand *stand = stand_open(NULL, "{}");
    const size_t live = alloc_live();
    tapml_object *root = NULL;

    stand_ok(model_root_create(&table, description, stand_host(stand), NULL, &root));
    cr_assert_eq(root->vt->interface_of(root, TAPML_KIND_MODEL), &table);
    cr_assert_null(root->vt->interface_of(root, "tapml.backend/1"));
    cr_assert_eq(model_root_description(root), description);
    cr_assert_eq(model_root_host(root), stand_host(stand));
    root->vt->release(root);
    cr_assert_eq(alloc_live(), live);
    stand_close(stand);
}

Test(model_root, memory_may_run_out)
{
    struct stand *stand = stand_open(NULL, "{}");
    tapml_object *root = NULL;

    alloc_fail_at(1);
    const tapml_status status =
        model_root_create(&table, description, stand_host(stand), NULL, &root);
    alloc_fail_at(0);
    stand_expect(status, TAPML_NO_MEMORY, "no memory for the root");
    cr_assert_null(root);
    stand_close(stand);
}
