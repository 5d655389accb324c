// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// tapml-worker: one plugin in a process of its own, so that a driver that crashes, hangs or eats
// memory costs one case. tapml-host starts it; `--probe` is for people, too.

#include "link/child.h"
#include "link/supervisor.h"
#include "run/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum outcome run(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--serve") == 0) {
        return worker_serve(CHILD_SOCKET);
    }
    if ((argc == 3 || argc == 4) && strcmp(argv[1], "--probe") == 0) {
        return worker_probe(argv[2], argc == 4 ? argv[3] : NULL);
    }
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        (void)puts("tapml-worker " TAPML_VERSION);
        return OUTCOME_OK;
    }
    (void)fputs("usage: tapml-worker --probe PLUGIN [COMPONENT]\n"
                "\n"
                "Opens a plugin's library, probes its components, and prints their states, devices "
                "and ops.\n"
                "tapml-host starts it with --under PROCESS --serve, to run a backend in a process "
                "of its own\n"
                "that ends with the host.\n",
                argc == 2 && strcmp(argv[1], "--help") == 0 ? stdout : stderr);
    return argc == 2 && strcmp(argv[1], "--help") == 0 ? OUTCOME_OK : OUTCOME_USAGE;
}

int main(int argc, char **argv)
{
    if (argc < 4 || strcmp(argv[1], "--under") != 0) {
        return (int)outcome_finish(run(argc, argv));
    }
    const tapml_status status = supervisor_begin(strtol(argv[2], NULL, 10));

    return (int)(status == TAPML_OK ? outcome_finish(run(argc - 2, argv + 2))
                                    : outcome_report(status));
}
