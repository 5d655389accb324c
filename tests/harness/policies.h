// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A registry of the policies of the zoo (tests/zoo/kind_sinner.c), with an option for one.
#pragma once

#include "base/ini.h"
#include "plugin/registry.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef MUST
#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())
#endif

static struct ini policies_ini;

static inline struct registry *policies_of_the_zoo(void)
{
    static const char *const names[] = {"last",   "double", "wise", "empty",
                                        "lavish", "vague",  "far",  "lost"};
    enum { COUNT = sizeof(names) / sizeof(*names), PATH_TEXT = 1024 };
    static const char text[] = "[plugins]\ntiers = 1\n[component.sin_last_policy]\nkey = value\n";
    static char paths[COUNT][PATH_TEXT];
    const char *files[COUNT + 1] = {NULL};
    struct registry *registry = NULL;

    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(paths[i], sizeof(paths[i]), "%s/tests/zoo/org.example.sin_%s_policy.tapml",
                       getenv("TAPML_TEST_BUILD"), names[i]);
        files[i] = paths[i];
    }
    MUST(ini_parse("run.ini", text, strlen(text), &policies_ini));
    MUST(registry_create(
        &(struct registry_options){.files = files, .ini = &policies_ini, .takes_all = 1},
        &registry));
    return registry;
}

static inline void policies_close(struct registry *registry)
{
    registry_destroy(registry);
    ini_release(&policies_ini);
}
