// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A machine in the middle: passes the bytes of one connection at a time on, both ways, and cuts it
// as it is told. What is on its way is lost.
#pragma once

#include "base/random.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct cutting_proxy {
    unsigned port;      // Of this machine, where it listens.
    atomic_uint target; // The port that connections go on to; 0: they are closed.
    atomic_uint
        cut_bytes;        // A connection ends after half of that to one and a half; 0: it does not.
    atomic_uint cuts;     // That were made,
    atomic_uint accepted; // and connections that came.
    atomic_int is_ending, is_to_cut;
    atomic_int keeps; // What comes beside a connection is closed; else it takes its place.
    int listening, wake;
    int pair[2];
    uint64_t left; // Bytes until the next cut.
    struct random random;
    pthread_t thread;
};

// What fails here fails the test. The target is 0 to begin with.
void cutting_proxy_open(struct cutting_proxy *proxy, uint64_t seed);
void cutting_proxy_close(struct cutting_proxy *proxy);

// Cuts the connection that there is, now.
void cutting_proxy_cut(struct cutting_proxy *proxy);
