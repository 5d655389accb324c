// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "link/loan.h"

#include <criterion/criterion.h>

static struct loan_list list;
static unsigned char a[256], b[64];

static void teardown(void)
{
    loan_list_release(&list);
}

TestSuite(loan, .fini = teardown);

static tapml_status add(const void *memory, uint64_t bytes)
{
    return loan_add(&list, &(struct backend_loan){memory, bytes, 0});
}

Test(loan, is_found_where_all_of_a_span_lies_in_it)
{
    cr_assert_eq(add(a + 64, 128), TAPML_OK);
    cr_assert_eq(add(b, sizeof(b)), TAPML_OK);
    cr_assert_eq(loan_find(&list, a + 64, 128), &list.loans[0]);
    cr_assert_eq(loan_find(&list, a + 191, 1), &list.loans[0]);
    cr_assert_eq(loan_find(&list, b, sizeof(b)), &list.loans[1]);
    cr_assert_null(loan_find(&list, a + 63, 2), "it begins before it");
    cr_assert_null(loan_find(&list, a + 64, 129), "it ends behind it");
    cr_assert_null(loan_find(&list, a + 192, 1));
    cr_assert_null(loan_find(&list, a + 100, UINT64_MAX));
    cr_assert_null(loan_find(&list, NULL, 1));
}

Test(loan, stays_until_the_last_lender_takes_it_back)
{
    cr_assert_eq(add(a, sizeof(a)), TAPML_OK);
    cr_assert_eq(add(a, sizeof(a)), TAPML_OK);
    cr_assert_null(loan_remove(&list, a));
    cr_assert_not_null(loan_find(&list, a, 1));
    struct loan *loan = loan_remove(&list, a);
    cr_assert_not_null(loan);
    *loan = (struct loan){0};
    cr_assert_null(loan_find(&list, a, 1));
    cr_assert_null(loan_remove(&list, a), "it was never lent");
    cr_assert_eq(add(b, sizeof(b)), TAPML_OK);
    cr_assert_eq(list.count, 1, "its number is used again");
}

Test(loan, is_refused_where_it_cannot_be)
{
    cr_assert_eq(add(NULL, 64), TAPML_INVALID);
    cr_assert_eq(add(a, 0), TAPML_INVALID);
    cr_assert_eq(add(a, 64), TAPML_OK);
    cr_assert_eq(add(a, 128), TAPML_INVALID, "of another size");
}

Test(loan, is_sent_again_to_who_was_started_again)
{
    cr_assert_eq(add(a, sizeof(a)), TAPML_OK);
    list.loans[0].is_sent = 1;
    loan_forget_sent(&list);
    cr_assert_eq(list.loans[0].is_sent, 0);
    cr_assert_eq(list.loans[0].lenders, 1);
}

Test(loan, survives_a_lack_of_memory)
{
    alloc_fail_at(1);
    cr_assert_eq(add(a, sizeof(a)), TAPML_NO_MEMORY);
    alloc_fail_at(0);
    cr_assert_null(loan_find(&list, a, 1));
    cr_assert_eq(add(a, sizeof(a)), TAPML_OK);
}
