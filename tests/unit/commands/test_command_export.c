// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/file.h"
#include "harness/command.h"
#include "harness/short_run.h"

Test(command_export, a_case_of_a_run_is_written_with_its_weight)
{
    struct scratch scratch;

    scratch_make(&scratch);
    char *ini = (char *)(uintptr_t)short_run_write(&scratch, "");
    struct printed run = PRINTED(command_run_main, "--config", ini);

    cr_assert_eq(run.outcome, OUTCOME_OK, "%s%s", run.out, run.err);
    printed_release(&run);
    char *store = strdup(scratch_path(&scratch, "run/run.tapmlrun"));
    char *folder = strdup(scratch_path(&scratch, "case"));

    printed_expect(PRINTED(command_export_main, store, folder, "--case", "3", "--as", "pytest"),
                   OUTCOME_OK, "tapml.linear, prefill");
    cr_expect(file_exists(scratch_path(&scratch, "case/w.in.npy")));
    cr_expect(file_exists(scratch_path(&scratch, "case/y.out.npy")));
    cr_expect(file_exists(scratch_path(&scratch, "case/test_case.py")));
    printed_expect(PRINTED(command_export_main, store, folder, "--case", "3", "--as", "exe"),
                   OUTCOME_USAGE, "expected 'npy', 'pytest', 'c', 'onnx' or 'safetensors'");
    printed_expect(PRINTED(command_export_main, store, folder, "--case", "99999"), OUTCOME_USAGE,
                   "99999");
    printed_expect(PRINTED(command_export_main, store), OUTCOME_USAGE,
                   "a store, a folder and --case");
    printed_expect(PRINTED(command_export_main, store, folder, "--case", "3", "--case", "4"),
                   OUTCOME_USAGE, "--as safetensors alone takes several cases");
    printed_expect(PRINTED(command_export_main, store, folder, "--case", "3", "--case", "3", "--as",
                           "safetensors"),
                   OUTCOME_USAGE, "case 3 is named twice");
    free(store);
    free(folder);
    scratch_remove(&scratch);
}
