// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/open_store.h"
#include "store/declaration.h"
#include "store/metadata.h"

#include <criterion/criterion.h>

TestSuite(declaration, .init = open_store_begin, .fini = open_store_end);

static struct declaration made(const char *form, double cost)
{
    return (struct declaration){"gpu", "tapml.linear", 1, form, cost};
}

Test(declaration, the_largest_cost_of_a_form_stays)
{
    struct declaration item = made("inputs q8", 0.25), found = made(NULL, 0);
    cr_assert_not(declaration_find(store, &found));
    MUST(declaration_note(store, &item));
    item.cost = 0.125;
    MUST(declaration_note(store, &item));
    cr_assert(declaration_find(store, &found));
    cr_assert_eq(found.cost, 0.25);
    cr_assert_str_eq(found.form, "inputs q8");
    item = made("inputs bf16, results bf16", 0.0625);
    MUST(declaration_note(store, &item));
    cr_assert(declaration_find(store, &found));
    cr_assert_eq(found.cost, 0.0625, "another form begins anew");
    cr_assert_str_eq(found.form, "inputs bf16, results bf16");
    found.version = 2;
    cr_assert_not(declaration_find(store, &found));
}

Test(declaration, what_is_no_declaration_is_none)
{
    struct declaration found = made(NULL, 0);
    const char *const values[] = {"", "0.5", "x inputs q8", "nan inputs q8", "0.5 "};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        MUST(metadata_set(store, "declaration.gpu.tapml.linear/1", values[i]));
        cr_assert_not(declaration_find(store, &found), "'%s'", values[i]);
    }
}
