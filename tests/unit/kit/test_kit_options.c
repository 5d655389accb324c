// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_options.h"

#include <criterion/criterion.h>
#include <string.h>

static struct manifest_component components[] = {
    {.id = "a", .section = "component.a", .options = "platform tile"},
    {.id = "b", .section = "component.b", .options = "tile"},
    {.id = "c", .section = "component.c", .options = ""}};
static const struct manifest manifest = {.components = components, .component_count = 3};
static struct ini ini;

static tapml_status read(const char *component, const char *first, const char *second)
{
    const char *const words[] = {first, second, NULL};

    return kit_options_read(&manifest, component, words, &ini);
}

Test(kit_options, each_component_that_declares_a_key_has_it)
{
    cr_assert_eq(read(NULL, "tile=8 x=9", "platform="), TAPML_OK, "%s", status_message());
    cr_expect_eq(ini.count, 3u);
    cr_expect_str_eq(ini_get(&ini, "component.a", "tile"), "8 x=9");
    cr_expect_str_eq(ini_get(&ini, "component.b", "tile"), "8 x=9");
    cr_expect_str_eq(ini_get(&ini, "component.a", "platform"), "");
    cr_expect_null(ini_get(&ini, "component.b", "platform"));
    ini_release(&ini);
    cr_assert_eq(read("b", "tile=1", "tile=2"), TAPML_OK);
    cr_expect_null(ini_get(&ini, "component.a", "tile"));
    cr_expect_str_eq(ini_get(&ini, "component.b", "tile"), "2");
    ini_release(&ini);
    cr_assert_eq(kit_options_read(&manifest, NULL, NULL, &ini), TAPML_OK);
    cr_expect_eq(ini.count, 0u);
    ini_release(&ini);
}

static void expect_refusal(const char *component, const char *word, const char *sentence)
{
    cr_expect_eq(read(component, word, NULL), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), sentence), "%s", status_message());
}

Test(kit_options, what_no_component_declares_is_refused)
{
    expect_refusal(NULL, "tile", "--option is 'tile', expected 'key=value'");
    expect_refusal(NULL, "=tile", "expected 'key=value'");
    expect_refusal(NULL, "platfrom=1",
                   "the plugin declares no option 'platfrom', known are: platform tile tile, did "
                   "you mean 'platform'?");
    expect_refusal("b", "platform=1", "component 'b' declares no option 'platform'");
    expect_refusal("c", "tile=1", "known are: none");
}
