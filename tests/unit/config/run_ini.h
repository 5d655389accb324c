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

static inline tapml_status load(const char *text, struct run_config *config)
{
    char path[] = "/tmp/tapml-run-file-XXXXXX";
    const int descriptor = mkstemp(path);

    cr_assert_geq(descriptor, 0);
    cr_assert_eq(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
    (void)close(descriptor);
    const tapml_status status = run_file_load(path, config);

    (void)unlink(path);
    return status;
}
