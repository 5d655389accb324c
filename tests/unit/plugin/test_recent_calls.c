// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/recent_calls.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <stdio.h>

static struct recent_calls recent;
static char text[RECENT_CALLS_TEXT];

static void add(const char *instance)
{
    recent_calls_add(&recent, &(struct backend_call){.op = &tapml_silu, .instance = instance});
}

static const char *print(uint64_t number)
{
    recent_calls_print(&recent, number, text);
    return text;
}

Test(recent_calls, name_op_and_instance)
{
    add("layers.0/act");
    add(NULL);
    cr_expect_str_eq(print(1), "silu at 'layers.0/act'");
    cr_expect_str_eq(print(2), "silu, op call 2");
    cr_expect_str_eq(print(3), "op call 3", "that was never made");
    cr_expect_str_eq(print(0), "op call 0");
    recent_calls_clear(&recent);
    cr_expect_str_eq(print(1), "op call 1");
}

Test(recent_calls, cut_a_long_instance)
{
    char instance[3 * RECENT_CALLS_INSTANCE_BYTES], expected[RECENT_CALLS_TEXT];
    memset(instance, 'i', sizeof(instance) - 1);
    instance[sizeof(instance) - 1] = '\0';
    add(instance);
    (void)snprintf(expected, sizeof(expected), "silu at '%.*s'", RECENT_CALLS_INSTANCE_BYTES - 1,
                   instance);
    cr_expect_str_eq(print(1), expected);
}

Test(recent_calls, forget_the_oldest)
{
    char instance[32];
    for (int i = 1; i <= RECENT_CALLS_MAX + 1; i++) {
        (void)snprintf(instance, sizeof(instance), "layers.%d/act", i);
        add(instance);
    }
    cr_expect_str_eq(print(1), "op call 1");
    cr_expect_str_eq(print(2), "silu at 'layers.2/act'");
    cr_expect_str_eq(print(RECENT_CALLS_MAX + 1), "silu at 'layers.2049/act'");
}
