// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"
#include "kit/kit_hiding.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char TEXT[] = "[plugin]\ndlopen = libsome.so.1 libother.so.2\n"
                           "[component.a]\ndlopen = libthird.so.3 libc.so.6 /usr/lib/libfull.so\n";

static struct manifest manifest;
static struct kit_hiding hiding;

static void setup(void)
{
    cr_assert_eq(ini_parse("manifest", TEXT, sizeof(TEXT) - 1, &manifest.ini), TAPML_OK);
}

static void teardown(void)
{
    ini_release(&manifest.ini);
}

TestSuite(kit_hiding, .init = setup, .fini = teardown);

static int has(const char *name)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", hiding.folder, name);
    return file_exists(path);
}

Test(kit_hiding, each_name_has_a_file_but_those_of_this_program)
{
    setenv("LD_LIBRARY_PATH", "/before", 1);
    cr_assert_eq(kit_hiding_begin(&manifest, &hiding), TAPML_OK, "%s", status_message());
    cr_expect(has("libsome.so.1") && has("libother.so.2") && has("libthird.so.3"));
    cr_expect_not(has("libc.so.6"));
    cr_expect_eq(strncmp(getenv("LD_LIBRARY_PATH"), hiding.folder, strlen(hiding.folder)), 0);
    cr_expect_not_null(strstr(getenv("LD_LIBRARY_PATH"), ":/before"));
    char folder[sizeof(hiding.folder)];

    memcpy(folder, hiding.folder, sizeof(folder));
    kit_hiding_end(&hiding);
    cr_expect_not(file_exists(folder));
    cr_expect_str_eq(getenv("LD_LIBRARY_PATH"), "/before");
}

Test(kit_hiding, a_variable_that_was_not_there_goes_again)
{
    unsetenv("LD_LIBRARY_PATH");
    cr_assert_eq(kit_hiding_begin(&manifest, &hiding), TAPML_OK);
    cr_expect_str_eq(getenv("LD_LIBRARY_PATH"), hiding.folder);
    kit_hiding_end(&hiding);
    cr_expect_null(getenv("LD_LIBRARY_PATH"));
    kit_hiding_end(&hiding); // Nothing more to end.
}
