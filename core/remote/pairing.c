// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/pairing.h"

#include "base/log.h"
#include "remote/address.h"
#include "remote/peers.h"
#include "remote/tls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HANDSHAKE_MS = 10000 };

struct pairing_state {
    const struct pairing_options *given;
    struct identity *identity;
    struct tls_context *context;
};

// Any key will do: a person decides.
static int accepts(void *user, const struct identity_hash *key)
{
    (void)user;
    (void)key;
    return 1;
}

static tapml_status begin(const struct pairing_options *options, struct pairing_state *pairing)
{
    pairing->given = options;
    TAPML_TRY(identity_open(options->folder, &pairing->identity));
    return tls_context_create(pairing->identity, accepts, NULL, &pairing->context);
}

static void end(struct pairing_state *pairing)
{
    tls_context_destroy(pairing->context);
    identity_release(pairing->identity);
}

// Both sides have shown their keys.
static tapml_status decide(const struct pairing_state *pairing,
                           const struct tls *tls,
                           char out_name[PAIRING_NAME_BYTES])
{
    const struct pairing_options *given = pairing->given;
    const struct identity_hash *own = identity_hash(pairing->identity);
    struct identity_hash binding;
    char code[IDENTITY_CODE_TEXT], digits[IDENTITY_HEX_TEXT];

    if (identity_equal(own, tls_peer(tls))) {
        return status_fail(TAPML_INVALID, "the other side has this user's own key");
    }
    TAPML_TRY(tls_binding(tls, &binding));
    identity_code(own, tls_peer(tls), &binding, code);
    identity_hex(tls_peer(tls), digits);
    if (given->name != NULL) {
        (void)snprintf(out_name, PAIRING_NAME_BYTES, "%s", given->name);
    } else {
        (void)snprintf(out_name, PAIRING_NAME_BYTES, "peer-%.8s", digits);
    }
    return given->agrees(given->user, code)
               ? peers_add(given->folder, out_name, tls_peer(tls))
               : status_fail(TAPML_CANCELLED, "the codes were not confirmed: nothing is paired");
}

tapml_status pairing_call(const char *url,
                          const struct pairing_options *options,
                          char out_name[PAIRING_NAME_BYTES])
{
    struct pairing_state pairing = {.given = NULL};
    struct address address;
    struct tls *tls = NULL;
    int socket = -1;
    tapml_status status = address_parse_url(url, &address);

    status = status == TAPML_OK ? begin(options, &pairing) : status;
    status = status == TAPML_OK ? address_connect(&address, HANDSHAKE_MS, &socket) : status;
    if (status == TAPML_OK) {
        status = tls_open(pairing.context, TLS_CLIENT, socket, HANDSHAKE_MS, &tls);
    }
    status = status == TAPML_OK ? decide(&pairing, tls, out_name) : status;
    tls_close(tls);
    end(&pairing);
    return status;
}

// The first connection that gets so far; others are dropped.
static tapml_status
accept_one(const struct pairing_state *pairing, int listening, struct tls **out_tls)
{
    for (;;) {
        const int socket = accept4(listening, NULL, NULL, SOCK_CLOEXEC);

        if (socket < 0 && errno != EINTR && errno != ECONNABORTED) {
            return status_fail(TAPML_UNAVAILABLE, "waiting for a machine: %s", strerror(errno));
        }
        if (socket >= 0) {
            if (tls_open(pairing->context, TLS_SERVER, socket, HANDSHAKE_MS, out_tls) == TAPML_OK) {
                return TAPML_OK;
            }
            log_line(LOG_INFO, "a connection was dropped: %s", status_message());
        }
    }
}

tapml_status pairing_wait(const char *address,
                          const struct pairing_options *options,
                          char out_name[PAIRING_NAME_BYTES])
{
    struct pairing_state pairing = {.given = NULL};
    struct address parsed;
    struct tls *tls = NULL;
    unsigned port = 0;
    int listening = -1;
    tapml_status status = address_parse(address, &parsed);

    status = status == TAPML_OK ? begin(options, &pairing) : status;
    status = status == TAPML_OK ? address_listen(&parsed, &listening, &port) : status;
    if (status == TAPML_OK && options->ready != NULL) {
        options->ready(options->user, port);
    }
    status = status == TAPML_OK ? accept_one(&pairing, listening, &tls) : status;
    status = status == TAPML_OK ? decide(&pairing, tls, out_name) : status;
    tls_close(tls);
    if (listening >= 0) {
        close(listening);
    }
    end(&pairing);
    return status;
}
