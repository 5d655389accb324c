// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../plugin/zoo_folder.h"
#include "exec/tuned.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct ini ini;
static struct registry *registry;
static struct backend *device;
static struct tuned_setting setting;

static void begin(void)
{
    static const char *const names[] = {"tunes", NULL};
    registry = zoo_registry(names, NULL, &ini);
    MUST(registry_open(registry, "tunes:first", &device));
    setting = (struct tuned_setting){.device = "first",
                                     .driver = backend_info(device)->driver,
                                     .digest = backend_identity(device, &tapml_silu),
                                     .op = "tapml.silu",
                                     .version = 1,
                                     .shape_class = "n=8",
                                     .values = "speed=2 nothing=1"};
}

static void end(void)
{
    backend_release(device);
    registry_destroy(registry);
    ini_release(&ini);
}

TestSuite(tuned, .init = begin, .fini = end);

static int fits(void)
{
    return tuned_fits(device, registry_catalogue(registry), &setting);
}

Test(tuned, a_setting_is_for_its_device_driver_and_code)
{
    cr_expect(fits());
    setting.device = "second";
    cr_expect(!fits());
    setting.device = "first";
    setting.driver = "another";
    cr_expect(!fits());
    setting.driver = backend_info(device)->driver;
    setting.digest = "0";
    cr_expect(!fits());
    setting.device = NULL; // Of any.
    cr_expect(fits());
    setting.op = "tapml.none";
    cr_expect(!fits());
}

Test(tuned, those_that_fit_are_given_and_still_fit)
{
    char digest[128];
    snprintf(digest, sizeof(digest), "%s", setting.digest);
    setting.digest = digest;
    MUST(tuned_apply(device, registry_catalogue(registry), (struct tuned_settings){&setting, 1}));
    cr_expect_not_null(strchr(backend_identity(device, &tapml_silu), '+'));
    cr_expect(fits());
}

Test(tuned, what_the_device_refuses_stays_out)
{
    char digest[128];
    snprintf(digest, sizeof(digest), "%s", setting.digest);
    setting.values = "height=2";
    MUST(tuned_apply(device, registry_catalogue(registry), (struct tuned_settings){&setting, 1}));
    cr_expect_str_eq(backend_identity(device, &tapml_silu), digest);
    setting.values = "no setting";
    MUST(tuned_apply(device, registry_catalogue(registry), (struct tuned_settings){&setting, 1}));
    cr_expect_str_eq(backend_identity(device, &tapml_silu), digest);
}
