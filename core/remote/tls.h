// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Connections of TLS 1.3 in which both sides show a key (remote/identity), over sockets that do not
// block.
//
// No authority is asked: the side that is shown a key decides by its hash. There are no tickets and
// no early data, so that nothing of an earlier connection can be replayed. A connection belongs to
// one thread at a time; a context may be used by several.
#pragma once

#include "remote/identity.h"

#include <stddef.h>
#include <stdint.h>

// Decides about the key that the other side has shown: 1 takes it. Called in the thread of the
// handshake.
typedef int (*tls_accepts_fn)(void *user, const struct identity_hash *key);

struct tls_context;

// The identity outlives the context, which the caller destroys after its connections.
tapml_status tls_context_create(const struct identity *identity,
                                tls_accepts_fn accepts,
                                void *user,
                                struct tls_context **out_context) STATUS_USED;
void tls_context_destroy(struct tls_context *context);

struct tls;

// Which side of the handshake this one is: the one that has connected is the client.
enum tls_role { TLS_CLIENT, TLS_SERVER };

// Shakes hands over a connected socket, which it sets to non-blocking and which is the
// connection's from now on, also after a failure. TAPML_DEADLINE if the handshake takes longer than
// `timeout_ms`; TAPML_UNAVAILABLE, with what went wrong, if it fails.
tapml_status tls_open(struct tls_context *context,
                      enum tls_role role,
                      int socket,
                      int timeout_ms,
                      struct tls **out_tls) STATUS_USED;

// Closes the connection and its socket. NULL is allowed.
void tls_close(struct tls *tls);

// The key of the other side.
const struct identity_hash *tls_peer(const struct tls *tls);
int tls_socket(const struct tls *tls);

// A secret of this connection that both of its ends can compute, and nobody else (RFC 9266).
tapml_status tls_binding(const struct tls *tls, struct identity_hash *out_binding) STATUS_USED;

// Sends or receives what is possible without waiting; the number of bytes may be 0. Then
// `tls_events` is what to poll the socket for. TAPML_UNAVAILABLE if the connection has ended.
tapml_status
tls_write(struct tls *tls, const void *bytes, size_t size, size_t *out_written) STATUS_USED;
tapml_status tls_read(struct tls *tls, void *bytes, size_t size, size_t *out_read) STATUS_USED;
short tls_events(const struct tls *tls);

// Whether the connection has ended by an alert of the other side, as for a key that it does not
// take.
int tls_was_refused(const struct tls *tls);
