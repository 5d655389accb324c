// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "link/share.h"

#include <criterion/criterion.h>

static struct share_list list;
static unsigned char a[256], b[64];

static void teardown(void)
{
    share_list_release(&list);
}

TestSuite(share, .fini = teardown);

static tapml_status add(const void *memory, uint64_t bytes)
{
    return share_add(&list, &(struct backend_share){memory, bytes, 0});
}

Test(share, is_found_where_all_of_a_span_lies_in_it)
{
    cr_assert_eq(add(a + 64, 128), TAPML_OK);
    cr_assert_eq(add(b, sizeof(b)), TAPML_OK);
    cr_assert_eq(share_find(&list, a + 64, 128), &list.shares[0]);
    cr_assert_eq(share_find(&list, a + 191, 1), &list.shares[0]);
    cr_assert_eq(share_find(&list, b, sizeof(b)), &list.shares[1]);
    cr_assert_null(share_find(&list, a + 63, 2), "it begins before it");
    cr_assert_null(share_find(&list, a + 64, 129), "it ends behind it");
    cr_assert_null(share_find(&list, a + 192, 1));
    cr_assert_null(share_find(&list, a + 100, UINT64_MAX));
    cr_assert_null(share_find(&list, NULL, 1));
}

Test(share, stays_until_its_last_user_ends_it)
{
    cr_assert_eq(add(a, sizeof(a)), TAPML_OK);
    cr_assert_eq(add(a, sizeof(a)), TAPML_OK);
    cr_assert_null(share_remove(&list, a));
    cr_assert_not_null(share_find(&list, a, 1));
    struct share *share = share_remove(&list, a);
    cr_assert_not_null(share);
    *share = (struct share){0};
    cr_assert_null(share_find(&list, a, 1));
    cr_assert_null(share_remove(&list, a), "it was never shared");
    cr_assert_eq(add(b, sizeof(b)), TAPML_OK);
    cr_assert_eq(list.count, 1, "its number is used again");
}

Test(share, is_refused_where_it_cannot_be)
{
    cr_assert_eq(add(NULL, 64), TAPML_INVALID);
    cr_assert_eq(add(a, 0), TAPML_INVALID);
    cr_assert_eq(add(a, 64), TAPML_OK);
    cr_assert_eq(add(a, 128), TAPML_INVALID, "of another size");
}

Test(share, is_sent_again_to_who_was_started_again)
{
    cr_assert_eq(add(a, sizeof(a)), TAPML_OK);
    list.shares[0].is_sent = 1;
    share_forget_sent(&list);
    cr_assert_eq(list.shares[0].is_sent, 0);
    cr_assert_eq(list.shares[0].users, 1);
}

Test(share, survives_a_lack_of_memory)
{
    alloc_fail_at(1);
    cr_assert_eq(add(a, sizeof(a)), TAPML_NO_MEMORY);
    alloc_fail_at(0);
    cr_assert_null(share_find(&list, a, 1));
    cr_assert_eq(add(a, sizeof(a)), TAPML_OK);
}
