// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../plugin/zoo_folder.h"
#include "run/worker.h"

#include <criterion/redirect.h>
#include <sys/socket.h>
#include <unistd.h>

Test(worker, serves_until_the_other_end_is_closed)
{
    int ends[2];

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    close(ends[1]);
    cr_assert_eq(worker_serve(ends[0]), OUTCOME_OK);
    close(ends[0]);
}

static void redirect(void)
{
    cr_redirect_stdout();
}

Test(worker, prints_states_devices_and_ops, .init = redirect)
{
    char path[2 * SCRATCH_PATH];

    cr_assert_eq(worker_probe(zoo_library("good", path, sizeof(path)), NULL), OUTCOME_OK);
    (void)fflush(stdout);
    cr_assert_stdout_eq_str("component\tgood\tusable\t\n"
                            "device\tgood\tfirst\tordinary memory\n"
                            "device\tgood\t0000:02/b\tthe same, with a name of colons and a slash\n"
                            "op\tgood\torg.example.scale\t1\n"
                            "op\tgood\torg.example.sum\t1\n"
                            "op\tgood\torg.example.trouble\t1\n");
}
