// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/ini.h"
#include "offload/policy.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

// Policies of the zoo: one puts the last kind first, one has it twice.
static struct ini ini;
static struct registry *registry;

static void begin(void)
{
    static const char *const names[] = {"last", "double"};
    static const char text[] = "[plugins]\ntiers = 1\n[component.sin_last_policy]\nkey = value\n";
    static char paths[2][1024];
    const char *files[3] = {NULL};

    for (int i = 0; i < 2; i++) {
        (void)snprintf(paths[i], sizeof(paths[i]), "%s/tests/zoo/org.example.sin_%s_policy.tapml",
                       getenv("TAPML_TEST_BUILD"), names[i]);
        files[i] = paths[i];
    }
    MUST(ini_parse("run.ini", text, strlen(text), &ini));
    MUST(registry_create(&(struct registry_options){.files = files, .ini = &ini, .takes_all = 1},
                         &registry));
}

static void end(void)
{
    registry_destroy(registry);
    ini_release(&ini);
}

TestSuite(policy, .init = begin, .fini = end);

static const struct order_kind KINDS[] = {
    {&tapml_linear, 30, 3, 1}, {&tapml_silu, 20, 2, 1}, {&tapml_embed, 10, 1, 1}};

Test(policy, kinds_come_in_its_order)
{
    struct order_kind kinds[3];
    struct policy *policy = NULL;
    struct text text;

    memcpy(kinds, KINDS, sizeof(kinds));
    MUST(policy_create(registry, "sin_last_policy", &policy));
    MUST(policy_order(policy, kinds, 3));
    cr_expect_eq(kinds[0].op, &tapml_embed);
    cr_expect_eq(kinds[0].time_ns, 10u);
    cr_expect_eq(kinds[1].op, &tapml_silu);
    cr_expect_eq(kinds[2].op, &tapml_linear);
    text_init(&text);
    policy_print(policy, &text);
    cr_expect_not_null(strstr(text.data, "policy 'org.example.sin_last_policy/sin_last_policy'"));
    cr_expect_not_null(strstr(text.data, " key=value"), "%s", text.data);
    text_release(&text);
    policy_destroy(policy);
}

Test(policy, without_one_the_order_stays)
{
    struct order_kind kinds[3];
    struct text text;

    memcpy(kinds, KINDS, sizeof(kinds));
    MUST(policy_order(NULL, kinds, 3));
    cr_expect_arr_eq(kinds, KINDS, sizeof(kinds));
    text_init(&text);
    policy_print(NULL, &text);
    cr_expect_eq(text.length, 0u);
    text_release(&text);
}

Test(policy, an_order_that_is_none_changes_nothing_and_has_its_name)
{
    struct order_kind kinds[3];
    struct policy *policy = NULL;

    memcpy(kinds, KINDS, sizeof(kinds));
    MUST(policy_create(registry, "sin_double_policy", &policy));
    cr_expect_eq(policy_order(policy, kinds, 3), TAPML_INTERNAL);
    cr_expect_not_null(
        strstr(status_message(),
               "sin_double_policy': its order of 3 kinds has 'tapml.embed' twice, and not 'tapml."),
        "%s", status_message());
    cr_expect_arr_eq(kinds, KINDS, sizeof(kinds));
    policy_destroy(policy);
    cr_expect_eq(policy_create(registry, "sin_first_policy", &policy), TAPML_NOT_FOUND);
}
