// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "limits.h"

#include <criterion/internal/ordered-set.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char refuses[] = "refuses ";

static struct criterion_test *
find_test(const struct criterion_test_set *tests, const char *suite, const char *name)
{
    FOREACH_SET(struct criterion_suite_set * set, tests->suites)
    {
        if (set->tests == NULL || strcmp(set->suite.name, suite) != 0) {
            continue;
        }
        FOREACH_SET(struct criterion_test * test, set->tests)
        {
            if (strcmp(test->name, name) == 0) {
                return test;
            }
        }
    }
    return NULL;
}

static bool apply_line(const struct criterion_test_set *tests, char *line, const char *component)
{
    char *slash = strchr(line, '/'), *reason = strstr(line, ": ");
    struct criterion_test *test = NULL;

    if (strncmp(line, refuses, strlen(refuses)) == 0 && reason != NULL) {
        (void)printf("%s: %s", component, line);
        return true;
    }
    if (slash != NULL && reason != NULL && slash < reason) {
        *slash = *reason = '\0';
        test = find_test(tests, line, slash + 1);
        *slash = '/';
    }
    if (test == NULL) {
        (void)printf("limits/%s: no test, or no reason: %s\n", component, line);
        return false;
    }
    test->data->disabled = true;
    (void)printf("%s: without %s: %s", component, line, reason + 2);
    return true;
}

// NULL where there is none.
static FILE *open_limits(const char *component)
{
    char path[512];

    (void)snprintf(path, sizeof(path), "%s/tests/conformance/limits/%s",
                   getenv("TAPML_TEST_SOURCE"), component);
    return fopen(path, "re");
}

bool limits_apply(const struct criterion_test_set *tests, const char *component)
{
    FILE *file = open_limits(component);
    char line[512];
    bool is_good = true;

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        is_good = (line[0] == '#' || apply_line(tests, line, component)) && is_good;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return is_good;
}

bool limits_allow(const char *component, const char *reason)
{
    FILE *file = open_limits(component);
    char line[512];
    bool is_allowed = false;

    while (file != NULL && !is_allowed && fgets(line, sizeof(line), file) != NULL) {
        char *end = strstr(line, ": ");

        if (end != NULL && strncmp(line, refuses, strlen(refuses)) == 0) {
            *end = '\0';
            is_allowed = strstr(reason, line + strlen(refuses)) != NULL;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return is_allowed;
}
