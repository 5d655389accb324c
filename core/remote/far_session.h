// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A session of a host on this machine: its stream at this end, a worker process that it has, and
// the bytes that both need.
//
// The messages of a link pass through to the worker. Memory that they name is made here, in the
// sizes that the host has, and filled with what comes over the stream; what the worker reads into
// it goes back in front of the answer. What plugin is opened is decided on this side, by what the
// host names. A host can do no more than use up what its session may have: it names no file, and
// its worker is a process of its own.
//
// One thread.
#pragma once

#include "base/arena.h"
#include "link/message.h"
#include "remote/host_session.h"

#include <pthread.h>

struct text;

struct far_session_options {
    const char *program;      // The path of tapml-worker.
    const char *cache_folder; // Of this host's pieces (remote/piece_cache.h).
    uint64_t cache_bytes;     // That it may take.
    uint64_t memory_bytes;    // That a worker may take at most; also of shared memory.

    // Makes the settings of a worker of what a host asks for; in `arena`. TAPML_INVALID where the
    // host asks for what it must not.
    tapml_status (*settle)(void *user,
                           const struct message_setting *asked,
                           size_t asked_count,
                           struct arena *arena,
                           struct message_setting **out_settings,
                           size_t *out_count);

    // Appends a line for each device that is here. The session does nothing else meanwhile.
    tapml_status (*list)(void *user, struct text *out_lines);
    void *user;

    pthread_mutex_t *settling; // Held around both, where several sessions have them; or NULL.
};

// What the options point to outlives the session, whose worker ends with it. The caller destroys
// it by host_session_destroy.
tapml_status far_session_create(const struct far_session_options *options,
                                struct host_session **out_session) STATUS_USED;
