// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/fused.h"
#include "judged_store.h"
#include "store/metadata.h"
#include "store/op_definition.h"
#include "verify/defined_ops.h"

static struct fused fused;

TestSuite(defined_ops, .init = judged_store_begin, .fini = judged_store_end, .timeout = 60);

static void add_case(const char *op)
{
    struct cases_silu made;
    cases_make_silu(&made, op, 0);
    made.item.op_name = op;
    MUST(stored_case_add(store, &made.item));
}

static const struct compiled_op *find(const char *name)
{
    return catalogue_find(registry_catalogue(plugins.registry), name, 1);
}

Test(defined_ops, groups_of_the_store_are_learnt)
{
    fused_init(&fused, FUSED_FORM);
    add_case(fused.op.name);
    MUST(op_definition_write(store, &fused.op));
    cr_assert_null(find(fused.op.name));
    MUST(defined_ops_learn(store, plugins.registry));
    cr_assert_not_null(find(fused.op.name));
    MUST(defined_ops_learn(store, plugins.registry));
}

Test(defined_ops, what_is_malformed_or_no_group_is_left_out)
{
    fused_init(&fused, FUSED_FORM);
    fused.op.name = "org.example.mine";
    add_case(fused.op.name);
    add_case("group.broken.1");
    MUST(op_definition_write(store, &fused.op));
    MUST(metadata_set(store, "op.group.broken.1/1", "{}"));
    MUST(defined_ops_learn(store, plugins.registry));
    cr_assert_null(find("org.example.mine"));
    cr_assert_null(find("group.broken.1"));
}
