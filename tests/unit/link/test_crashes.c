// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/crashes.h"

#include <criterion/criterion.h>

Test(crashes, an_instance_is_refused_after_its_last_one)
{
    struct crashes crashes;
    const struct backlog_culprit sure = {.instance = "layers.0/act", .is_sure = 1};
    const struct backlog_culprit likely = {.instance = "layers.1/act"}, none = {.instance = ""};
    crashes_init(&crashes);
    cr_expect_eq(crashes_check(&crashes, "npu", "layers.0/act"), TAPML_OK);
    for (int i = 0; i < CRASHES_MAX; i++) {
        cr_expect_eq(crashes_check(&crashes, "npu", "layers.0/act"), TAPML_OK);
        crashes_note(&crashes, &sure);
        crashes_note(&crashes, &likely);
        crashes_note(&crashes, &none);
    }
    cr_expect_eq(crashes_check(&crashes, "npu", "layers.0/act"), TAPML_INTERNAL);
    cr_expect_str_eq(status_message(), "npu: 'layers.0/act' has crashed its worker 2 times and "
                                       "is not called again");
    cr_expect_eq(crashes_check(&crashes, "npu", "layers.1/act"), TAPML_OK, "it may not have been");
    cr_expect_eq(crashes_check(&crashes, "npu", NULL), TAPML_OK);
    crashes_release(&crashes);
}
