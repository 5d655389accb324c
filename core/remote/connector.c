// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/connector.h"

#include "base/alloc.h"
#include "remote/address.h"
#include "remote/peers.h"

enum { CONNECT_MS = 5000 };

struct connector {
    char *url, *folder;
    const char *pairs;
    struct address address;
    struct identity *identity;
    struct tls_context *context;
    int saw_stranger; // The last key that was shown is no peer's.
};

static int accepts(void *user, const struct identity_hash *key)
{
    struct connector *connector = user;

    connector->saw_stranger = !peers_know(connector->folder, key, NULL);
    return !connector->saw_stranger;
}

static tapml_status open_keys(struct connector *connector)
{
    struct peers peers;

    TAPML_TRY(identity_open(connector->folder, &connector->identity));
    TAPML_TRY(peers_load(connector->folder, &peers)); // What is wrong with the file is said now.
    peers_release(&peers);
    return tls_context_create(connector->identity, accepts, connector, &connector->context);
}

tapml_status connector_create(const struct connector_options *options,
                              struct connector **out_connector)
{
    struct connector *connector = alloc_new(sizeof(*connector));

    if (connector == NULL) {
        return status_no_memory();
    }
    connector->pairs = options->pairs;
    connector->url = alloc_text(options->url);
    connector->folder = alloc_text(options->folder);
    tapml_status status = connector->url != NULL && connector->folder != NULL
                              ? address_parse_url(options->url, &connector->address)
                              : status_no_memory();

    status = status == TAPML_OK ? open_keys(connector) : status;
    if (status != TAPML_OK) {
        connector_destroy(connector);
        return status;
    }
    *out_connector = connector;
    return TAPML_OK;
}

void connector_destroy(struct connector *connector)
{
    if (connector != NULL) {
        tls_context_destroy(connector->context);
        identity_release(connector->identity);
        alloc_free(connector->url);
        alloc_free(connector->folder);
        alloc_free(connector);
    }
}

tapml_status connector_connect(struct connector *connector, struct tls **out_tls)
{
    int socket = -1;

    connector->saw_stranger = 0;
    TAPML_TRY(address_connect(&connector->address, CONNECT_MS, &socket));
    const tapml_status status =
        tls_open(connector->context, TLS_CLIENT, socket, CONNECT_MS, out_tls);

    if (status != TAPML_OK && connector->saw_stranger) {
        return status_fail(TAPML_PRECONDITION,
                           "%s shows a key that is not paired: '%s %s' does that", connector->url,
                           connector->pairs, connector->url);
    }
    return status;
}

const char *connector_url(const struct connector *connector)
{
    return connector->url;
}
