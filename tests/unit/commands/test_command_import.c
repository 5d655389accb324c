// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/file.h"
#include "harness/command.h"
#include "harness/scratch.h"
#include "run/npy.h"

static struct scratch scratch;

static void begin(void)
{
    scratch_make(&scratch);
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(command_import, .init = begin, .fini = end);

Test(command_import, arrays_become_a_store)
{
    static const int64_t shape[] = {1, 2};
    static const float x[] = {1, 2}, y[] = {0.73105858F, 1.76159416F};

    cr_assert_eq(npy_write(scratch_path(&scratch, "x.npy"), TAPML_F32, shape, 2, x), TAPML_OK);
    cr_assert_eq(npy_write(scratch_path(&scratch, "y.npy"), TAPML_F32, shape, 2, y), TAPML_OK);
    char *map = strdup(scratch_text(&scratch, "map", "act: tapml.silu x=x y=y\n"));
    char *out = strdup(scratch_path(&scratch, "x.tapmlrun"));

    printed_expect(PRINTED(command_import_main, scratch.folder, "--map", map, "--out", out),
                   OUTCOME_OK, "1 calls of 2 tensors");
    cr_assert(file_exists(out));
    free(map);
    free(out);
}

Test(command_import, what_is_missing_is_said)
{
    char *map = strdup(scratch_text(&scratch, "map", "act: tapml.silu x=x y=y\n"));

    printed_expect(PRINTED(command_import_main, scratch.folder), OUTCOME_USAGE,
                   "a dump, --map and --out expected");
    printed_expect(PRINTED(command_import_main, "/nonexistent", "--map", map, "--out", "x"),
                   OUTCOME_USAGE, "there is no '/nonexistent'");
    printed_expect(PRINTED(command_import_main, "--help"), OUTCOME_OK, "usage: tapml-host import");
    free(map);
}
