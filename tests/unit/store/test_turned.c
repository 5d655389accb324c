// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/open_store.h"
#include "store/look.h"
#include "store/turned.h"

#include <criterion/criterion.h>
#include <math.h>

TestSuite(turned, .init = open_store_begin, .fini = open_store_end);

static int64_t write_look(void)
{
    int64_t id = 0;
    MUST(look_write(store, &(struct look_row){.cause = "", .fired = ""}, &id));
    return id;
}

static void write_one(int64_t look, const char *instance, int is_worse)
{
    MUST(turned_write(store, &(struct turned_row){.look = look,
                                                  .target = "gpu",
                                                  .key = "01",
                                                  .op = "x.op",
                                                  .instance = instance,
                                                  .phase = "decode",
                                                  .before = is_worse ? "pass" : "fail",
                                                  .after = is_worse ? "fail" : "pass",
                                                  .is_worse = is_worse,
                                                  .margin_before = NAN,
                                                  .margin = 3,
                                                  .param = "y",
                                                  .place = "0, 1",
                                                  .expected = 1,
                                                  .computed = 2,
                                                  .reason = "y[0, 1] is 2"}));
}

Test(turned, what_is_worse_comes_first)
{
    struct turned_row *rows = NULL;
    size_t count = 0;
    const int64_t look = write_look(), other = write_look();
    write_one(look, "a", 0);
    write_one(look, "b", 1);
    write_one(other, "c", 1);
    MUST(turned_list(store, look, arena, &rows, &count));
    cr_assert_eq(count, 2);
    cr_expect_str_eq(rows[0].instance, "b");
    cr_expect(rows[0].is_worse && rows[0].look == look);
    cr_expect_str_eq(rows[0].before, "pass");
    cr_expect_str_eq(rows[0].after, "fail");
    cr_expect(isnan(rows[0].margin_before) && rows[0].margin == 3);
    cr_expect_str_eq(rows[0].place, "0, 1");
    cr_expect(rows[0].expected == 1 && rows[0].computed == 2);
    cr_expect_str_eq(rows[0].reason, "y[0, 1] is 2");
    cr_expect_str_eq(rows[1].instance, "a");
}

Test(turned, a_row_needs_its_look_and_a_list_is_bounded)
{
    struct turned_row *rows = NULL;
    size_t count = 0;
    const int64_t look = write_look();
    for (int i = 0; i < TURNED_SHOWN + 5; i++) {
        write_one(look, "a", 1);
    }
    MUST(turned_list(store, look, arena, &rows, &count));
    cr_expect_eq(count, TURNED_SHOWN);
    cr_expect_neq(turned_write(store, &(struct turned_row){.look = 99,
                                                           .target = "",
                                                           .key = "",
                                                           .op = "",
                                                           .instance = "",
                                                           .phase = "",
                                                           .before = "",
                                                           .after = "",
                                                           .param = "",
                                                           .place = "",
                                                           .reason = ""}),
                  TAPML_OK);
}
