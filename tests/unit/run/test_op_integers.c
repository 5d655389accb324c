// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/op_integers.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

TestSuite(op_integers);

static const tapml_op *find(const char *name)
{
    for (size_t i = 0; tapml_ops[i] != NULL; i++) {
        if (strcmp(tapml_ops[i]->name, name) == 0) {
            return tapml_ops[i];
        }
    }
    cr_assert(0, "no op '%s'", name);
    return NULL;
}

Test(op_integers, an_embedding_tells_its_tokens_and_passes_none_on)
{
    cr_assert(op_integers_tells(find("tapml.embed")));
    cr_assert_not(op_integers_passes_on(find("tapml.embed")));
}

Test(op_integers, a_copy_passes_them_on)
{
    cr_assert(op_integers_passes_on(find("tapml.copy")));
    cr_assert(op_integers_tells(find("tapml.copy")));
}

Test(op_integers, ops_with_other_numbers_too_tell_none)
{
    static const char *const names[] = {"tapml.silu",           "tapml.linear",
                                        "tapml.linear_experts", "tapml.gather_rows",
                                        "tapml.attention",      "tapml.route_softmax"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        cr_expect_not(op_integers_tells(find(names[i])), "%s", names[i]);
        cr_expect_not(op_integers_passes_on(find(names[i])), "%s", names[i]);
    }
}
