// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Two users that know each other's keys, and connections between them over a pair of sockets. The
// first one is the host, the client of a connection; the other one is the worker's machine.
#pragma once

#include "base/alloc.h"
#include "harness/scratch.h"
#include "remote/peers.h"
#include "remote/tls.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <sys/socket.h>

#define PAIRED_MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

enum { PAIRED_HOST, PAIRED_WORKER, PAIRED_MS = 10000 };

struct paired_side {
    struct scratch scratch; // Its folder of keys.
    struct identity *identity;
    struct tls_context *context;
    struct identity_hash takes; // The only key that it takes.
    struct identity_hash seen;  // The last one that it was shown.
};

struct paired {
    struct paired_side sides[2];
};

static inline int paired_accepts(void *user, const struct identity_hash *key)
{
    struct paired_side *side = user;

    side->seen = *key;
    return identity_equal(&side->takes, key);
}

static inline void paired_open_side(struct paired_side *side)
{
    scratch_make(&side->scratch);
    PAIRED_MUST(identity_open(side->scratch.folder, &side->identity));
    PAIRED_MUST(tls_context_create(side->identity, paired_accepts, side, &side->context));
}

static inline void paired_close_side(struct paired_side *side)
{
    tls_context_destroy(side->context);
    identity_release(side->identity);
    scratch_remove(&side->scratch);
}

static inline void paired_open(struct paired *paired)
{
    for (int i = 0; i < 2; i++) {
        paired_open_side(&paired->sides[i]);
    }
    for (int i = 0; i < 2; i++) {
        paired->sides[i].takes = *identity_hash(paired->sides[1 - i].identity);
        PAIRED_MUST(peers_add(paired->sides[i].scratch.folder, i == 0 ? "worker" : "host",
                              &paired->sides[i].takes));
    }
}

static inline void paired_close(struct paired *paired)
{
    for (int i = 0; i < 2; i++) {
        paired_close_side(&paired->sides[i]);
    }
}

// One side of a handshake in a thread.
struct paired_handshake {
    struct tls_context *context;
    enum tls_role role;
    int socket, timeout_ms;
    struct tls *tls;
    tapml_status status;
    char message[256];
    pthread_t thread;
};

static inline void *paired_shake(void *user)
{
    struct paired_handshake *one = user;

    one->status = tls_open(one->context, one->role, one->socket, one->timeout_ms, &one->tls);
    (void)snprintf(one->message, sizeof(one->message), "%s",
                   one->status != TAPML_OK ? status_message() : "");
    return NULL;
}

static inline void paired_shake_both(struct paired *paired, struct paired_handshake both[2])
{
    int sockets[2];

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    for (int i = 0; i < 2; i++) {
        both[i] = (struct paired_handshake){.context = paired->sides[i].context,
                                            .role = i == 0 ? TLS_CLIENT : TLS_SERVER,
                                            .socket = sockets[i],
                                            .timeout_ms = PAIRED_MS};
    }
    cr_assert_eq(pthread_create(&both[1].thread, NULL, paired_shake, &both[1]), 0);
    (void)paired_shake(&both[0]);
    cr_assert_eq(pthread_join(both[1].thread, NULL), 0);
}

// A connection; both ends are the caller's.
static inline void paired_connect(struct paired *paired, struct tls *out_ends[2])
{
    struct paired_handshake both[2];

    paired_shake_both(paired, both);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(both[i].status, TAPML_OK, "%s", both[i].message);
        out_ends[i] = both[i].tls;
    }
}
