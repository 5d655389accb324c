// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Texts of run.ini, and reading one.
#pragma once

#include "config/run_file.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD   "[run]\ndir = d\nprompts = p.txt\n"
#define MODEL  "[model]\npath = m\n"
#define SOURCE "[source]\nbackend = a:b\n"
#define WHOLE  HEAD MODEL SOURCE "[target.gpu]\nbackend = x\n"

// Writes a file under a new name, which is put into `path`. The caller removes it.
#define RUN_INI_PATH "/tmp/tapml-run-file-XXXXXX"
static inline void write_ini(const char *text, char path[sizeof(RUN_INI_PATH)])
{
    memcpy(path, RUN_INI_PATH, sizeof(RUN_INI_PATH));
    const int descriptor = mkstemp(path);

    cr_assert_geq(descriptor, 0);
    cr_assert_eq(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
    (void)close(descriptor);
}

static inline tapml_status load(const char *text, struct run_config *config)
{
    char path[sizeof(RUN_INI_PATH)];

    write_ini(text, path);
    const tapml_status status = run_file_load(path, config);

    (void)unlink(path);
    return status;
}
