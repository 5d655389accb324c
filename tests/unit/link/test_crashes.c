// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/crashes.h"

#include <criterion/criterion.h>
#include <string.h>

Test(crashes, an_instance_is_refused_after_its_last_one)
{
    struct crashes crashes;
    const struct backlog_culprit sure = {.instance = "layers.0/act", .is_sure = 1};
    const struct backlog_culprit likely = {.instance = "layers.1/act"}, none = {.instance = ""};
    crashes_init(&crashes);
    cr_expect_eq(crashes_check(&crashes, "npu", "layers.0/act"), TAPML_OK);
    for (int i = 0; i < CRASHES_MAX; i++) {
        cr_expect_eq(crashes_check(&crashes, "npu", "layers.0/act"), TAPML_OK);
        crashes_note(&crashes, &sure, i == 0 ? "npu: it fell" : "npu: it hung");
        crashes_note(&crashes, &likely, "npu: it fell");
        crashes_note(&crashes, &none, "npu: it fell");
    }
    cr_expect_eq(crashes_check(&crashes, "npu", "layers.0/act"), TAPML_INTERNAL);
    cr_expect_str_eq(status_message(), "npu: 'layers.0/act' has crashed its worker 2 times and "
                                       "is not called again; first: npu: it fell");
    cr_expect_eq(crashes_check(&crashes, "npu", "layers.1/act"), TAPML_OK, "it may not have been");
    cr_expect_eq(crashes_check(&crashes, "npu", NULL), TAPML_OK);
    crashes_forgive(&crashes);
    cr_expect_eq(crashes_check(&crashes, "npu", "layers.0/act"), TAPML_OK);
    crashes_release(&crashes);
}

Test(crashes, kills_by_others_count_one_after_the_other_alone)
{
    struct crashes crashes;
    const struct backlog_culprit culprit = {.instance = "layers.0/act", .is_sure = 1};
    crashes_init(&crashes);
    for (int i = 0; i < 2 * CRASHES_KILLS_MAX; i++) {
        crashes_note_call(&crashes, "layers.0/act");
        crashes_note_kill(&crashes, &culprit, "npu: it was killed");
        cr_expect_eq(crashes_check(&crashes, "npu", "layers.0/act"), TAPML_OK, "%d", i);
        crashes_note_call(&crashes, "layers.0/act");
        if (i % 2 == 1) {
            crashes_note_call(&crashes, "layers.1/act");
        }
    }
    for (int i = 0; i < CRASHES_KILLS_MAX; i++) {
        cr_expect_eq(crashes_check(&crashes, "npu", "layers.0/act"), TAPML_OK);
        crashes_note_kill(&crashes, &culprit, "npu: it was killed");
    }
    cr_expect_eq(crashes_check(&crashes, "npu", "layers.0/act"), TAPML_INTERNAL);
    cr_expect(strstr(status_message(), "; first: npu: it was killed"));
    crashes_release(&crashes);
}

Test(crashes, one_that_is_excused_counts_for_nothing)
{
    struct crashes crashes;
    const struct backlog_culprit culprit = {.instance = "layers.0/act", .is_sure = 1};
    crashes_init(&crashes);
    crashes_excuse(&crashes); // There was none.
    for (int i = 0; i < CRASHES_MAX; i++) {
        cr_expect_eq(crashes_check(&crashes, "npu", "layers.0/act"), TAPML_OK);
        crashes_note(&crashes, &culprit, "npu: it fell in a crowd");
        crashes_excuse(&crashes);
        crashes_excuse(&crashes); // Once for each end.
        crashes_note(&crashes, &culprit, i == 0 ? "npu: it fell alone" : "npu: it fell again");
    }
    cr_expect_eq(crashes_check(&crashes, "npu", "layers.0/act"), TAPML_INTERNAL);
    cr_expect(strstr(status_message(), "2 times"), "%s", status_message());
    cr_expect(strstr(status_message(), "; first: npu: it fell alone"), "%s", status_message());
    for (int i = 0; i < 2 * CRASHES_KILLS_MAX; i++) {
        crashes_note_kill(&crashes, &(struct backlog_culprit){.instance = "b", .is_sure = 1}, "");
        crashes_excuse(&crashes);
    }
    cr_expect_eq(crashes_check(&crashes, "npu", "b"), TAPML_OK);
    crashes_release(&crashes);
}
