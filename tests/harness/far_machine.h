// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Another machine, in this process: a gateway (remote/gateway.h) in a thread, with the workers of
// the build, behind a machine in the middle that cuts connections. What fails here fails the test.
#pragma once

#include "harness/cutting_proxy.h"
#include "harness/paired.h"
#include "link/channel.h"
#include "plugin/registry.h"
#include "remote/far_session.h"
#include "remote/gateway.h"

struct far_machine {
    struct paired paired;
    struct scratch caches;
    struct cutting_proxy proxy;
    uint64_t cache_bytes, memory_bytes; // Of a session.
    char program[2 * SCRATCH_PATH];     // Its tapml-worker.

    struct registry *registry; // Of the gateway's thread.
    pthread_t thread;
    pthread_mutex_t settling; // Of its sessions.
    int stop;
    atomic_uint port; // At which it listens.
    atomic_int has_ended;
    tapml_status status; // Of `gateway_run`,
    char message[256];   // and its sentence.
    char url[64];        // By the machine in the middle.
    int lists;           // Devices; else it cannot.
    int dials;           // Set before the start: it dials that, in place of listening,
    char listen[64];     // and the host waits here.
};

// Both sides have each other's keys; nothing listens yet.
void far_machine_open(struct far_machine *machine);
void far_machine_close(struct far_machine *machine); // Also stops it.

// Has the gateway dial, and the host's end wait: connections go through the machine in the middle
// the other way.
void far_machine_turn(struct far_machine *machine);

// Starts the gateway, and lets connections through to it. `far_machine_stop` ends it and all of its
// sessions.
void far_machine_start(struct far_machine *machine);
void far_machine_stop(struct far_machine *machine);

// The host's end: a channel that waits `patience_ns` for the machine.
struct channel *far_machine_channel(struct far_machine *machine, uint64_t patience_ns);

// Kills the worker processes of all sessions; returns how many there were.
int far_machine_kill_workers(int signal);
