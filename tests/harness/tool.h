// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What tests of the build's tools share: a folder that goes with the test, files in it, and a
// command run there. `TOOL_SUITE(name)` makes a suite with such a folder.
#pragma once

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char tool_folder[] = "/tmp/tapml-tool-XXXXXX";

static inline void tool_make_folder(void)
{
    cr_assert_not_null(mkdtemp(tool_folder));
}

static inline void tool_remove_folder(void)
{
    char command[64];

    (void)snprintf(command, sizeof(command), "rm -r %s", tool_folder);
    cr_assert_eq(system(command), 0);
}

#define TOOL_SUITE(name) TestSuite(name, .init = tool_make_folder, .fini = tool_remove_folder)

static inline void write_file(const char *name, const char *text)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", tool_folder, name);
    FILE *file = fopen(path, "we");

    cr_assert_not_null(file);
    cr_assert_geq(fputs(text, file), 0);
    cr_assert_eq(fclose(file), 0);
}

static inline char *read_file(const char *name)
{
    static char text[16384];
    char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", tool_folder, name);
    FILE *file = fopen(path, "re");

    cr_assert_not_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    cr_assert_eq(fclose(file), 0);
    return text;
}

// The exit status of `tool arguments`, where `tool` lies below the folder that the environment
// `variable` names. It runs in the test's folder; what it says is in the file "said".
static inline int tool_run(const char *variable, const char *tool, const char *arguments)
{
    const char *root = getenv(variable);
    char command[1024];

    cr_assert_not_null(root);
    (void)snprintf(command, sizeof(command), "cd %s && '%s/%s' %s 2>said", tool_folder, root, tool,
                   arguments);
    const int status = system(command);

    cr_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}
