// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/output.h"

#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static tapml_status fail(int error)
{
    char why[FILE_WHY_TEXT];

    return status_fail(TAPML_UNAVAILABLE, "cannot write to the standard output: %s",
                       error == 0                                ? "some of it was lost before"
                       : file_is_full(error, "/dev/stdout", why) ? why
                                                                 : strerror(error));
}

void output_begin(void)
{
    struct stat output, errors;

    if (fstat(STDOUT_FILENO, &output) == 0 && fstat(STDERR_FILENO, &errors) == 0 &&
        output.st_dev == errors.st_dev && output.st_ino == errors.st_ino) {
        (void)setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    }
}

tapml_status output_try(void)
{
    return write(STDOUT_FILENO, "", 0) == 0 ? TAPML_OK : fail(errno);
}

tapml_status output_check(void)
{
    if (fflush(stdout) != 0) {
        return fail(errno);
    }
    if (!ferror(stdout)) {
        return TAPML_OK;
    }
    TAPML_TRY(output_try()); // It may still say why.
    return fail(0);
}
