// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A machine that serves the folder of a run, in a thread of this process: what tests of both ends
// of run/case_session.h stand on. What fails here fails the test.
#pragma once

#include "harness/paired.h"
#include "harness/short_setup.h"
#include "remote/gateway.h"
#include "run/carved_copy.h"
#include "run/carving.h"
#include "run/case_session.h"
#include "run/run_metadata.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>

struct serving_machine {
    struct paired paired;
    struct short_setup run; // Its store is that of the folder.
    char key[HASH_TEXT];    // Of the run.
    char url[64];
    pthread_t thread;
    int stop;
    atomic_uint port;
};

static inline tapml_status serving_machine_session(void *user,
                                                   const char *name,
                                                   const char *cache_folder,
                                                   struct host_session **out_session)
{
    struct serving_machine *machine = user;

    (void)cache_folder;
    return case_session_create(
        &(struct case_session_options){.folder = machine->run.scratch.folder,
                                       .name = name,
                                       .scratch = machine->run.scratch.folder},
        out_session);
}

static inline void serving_machine_note_port(void *user, unsigned port)
{
    struct serving_machine *machine = user;

    atomic_store(&machine->port, port);
}

static inline void *serving_machine_run(void *user)
{
    struct serving_machine *machine = user;
    const struct gateway_options options = {.address = "127.0.0.1:0",
                                            .folder =
                                                machine->paired.sides[PAIRED_WORKER].scratch.folder,
                                            .caches = machine->run.scratch.folder,
                                            .create = serving_machine_session,
                                            .ready = serving_machine_note_port,
                                            .user = machine};

    return gateway_run(&options, machine->stop) == TAPML_OK ? machine : NULL;
}

// Both sides have each other's keys; nothing has been carved.
static inline void serving_machine_open(struct serving_machine *machine)
{
    *machine = (struct serving_machine){.stop = eventfd(0, EFD_CLOEXEC)};
    paired_open(&machine->paired);
    short_setup_open(&machine->run);
    SHORT_MUST(run_metadata_settle(machine->run.store, &machine->run.config, &machine->run.setup,
                                   &machine->run.prompts));
    SHORT_MUST(carved_copy_settle_key(machine->run.store, &machine->run.config, machine->key));
    cr_assert_eq(pthread_create(&machine->thread, NULL, serving_machine_run, machine), 0);
    while (atomic_load(&machine->port) == 0) {
        (void)poll(NULL, 0, 2);
    }
    (void)snprintf(machine->url, sizeof(machine->url), "tapml://127.0.0.1:%u",
                   atomic_load(&machine->port));
}

static inline void serving_machine_carve(struct serving_machine *machine)
{
    SHORT_MUST(carving_run(&machine->run.config, &machine->run.setup, machine->run.store,
                           &machine->run.prompts, NULL));
}

static inline void serving_machine_close(struct serving_machine *machine)
{
    void *is_fine = NULL;

    (void)eventfd_write(machine->stop, 1);
    cr_assert_eq(pthread_join(machine->thread, &is_fine), 0);
    cr_assert_not_null(is_fine);
    close(machine->stop);
    short_setup_close(&machine->run);
    paired_close(&machine->paired);
}
