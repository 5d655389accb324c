// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Sends a stream into a file without a name, and back.
struct caught {
    FILE *stream;
    FILE *file;
    int before;
};

static struct caught caught_begin(FILE *stream)
{
    struct caught caught = {.stream = stream, .file = tmpfile()};

    cr_assert_not_null(caught.file);
    (void)fflush(stream);
    caught.before = dup(fileno(stream));
    cr_assert_geq(dup2(fileno(caught.file), fileno(stream)), 0);
    return caught;
}

static char *caught_end(struct caught *caught)
{
    (void)fflush(caught->stream);
    cr_assert_geq(dup2(caught->before, fileno(caught->stream)), 0);
    (void)close(caught->before);
    (void)fseek(caught->file, 0, SEEK_END);
    const long size = ftell(caught->file);
    char *text = calloc((size_t)size + 1, 1);

    cr_assert_not_null(text);
    rewind(caught->file);
    cr_assert_eq(fread(text, 1, (size_t)size, caught->file), (size_t)size);
    (void)fclose(caught->file);
    return text;
}

struct printed printed_run(enum outcome (*run)(const struct command *), char **words)
{
    char program[4096];
    struct command command = {.program = program, .argv = words};
    struct printed printed;

    (void)snprintf(program, sizeof(program), "%s/tapml-host", getenv("TAPML_TEST_BUILD"));
    while (words[command.argc] != NULL) {
        command.argc++;
    }
    struct caught out = caught_begin(stdout), err = caught_begin(stderr);

    printed.outcome = run(&command);
    printed.err = caught_end(&err);
    printed.out = caught_end(&out);
    return printed;
}

void printed_release(struct printed *printed)
{
    free(printed->out);
    free(printed->err);
}

void printed_expect(struct printed printed, enum outcome outcome, const char *piece)
{
    cr_expect_eq(printed.outcome, outcome, "%s%s", printed.out, printed.err);
    cr_expect(strstr(printed.out, piece) != NULL || strstr(printed.err, piece) != NULL,
              "'%s' is not in:\n%s%s", piece, printed.out, printed.err);
    printed_release(&printed);
}
