// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

Test(command_help, a_command_is_explained_as_it_explains_itself)
{
    for (size_t i = 0; command_list_at(i) != NULL; i++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "%s", command_list_at(i)->name);
        struct printed by_help = PRINTED(command_help_main, name);
        struct printed by_itself = PRINTED(command_list_at(i)->main, "--help");

        cr_expect_eq(by_help.outcome, OUTCOME_OK, "%s", by_help.err);
        cr_expect_str_eq(by_help.out, by_itself.out);
        printed_release(&by_help);
        printed_release(&by_itself);
    }
}

Test(command_help, alone_it_lists_commands_options_and_exit_codes)
{
    struct printed all = PRINTED(command_help_main, NULL);

    cr_expect_eq(all.outcome, OUTCOME_OK);
    for (size_t i = 0; command_list_at(i) != NULL; i++) {
        cr_expect_not_null(strstr(all.out, command_list_at(i)->about));
    }
    cr_expect_not_null(strstr(all.out, "\n  -V, --version "), "%s", all.out);
    cr_expect_not_null(strstr(all.out, "Exit codes: 0 success, 1 a target is wrong"));
    printed_release(&all);
}

Test(command_help, an_unknown_command_is_refused)
{
    printed_expect(PRINTED(command_help_main, "genrate"), OUTCOME_USAGE,
                   "unknown command 'genrate', did you mean 'generate'?");
    printed_expect(PRINTED(command_help_main, "ops", "eval"), OUTCOME_USAGE,
                   "expected one command, also found 'eval'");
}
