// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Serves one page over HTTP and speaks with it over a WebSocket. Both want the token that stands in
// the page's address; one connection is taken, from a page of this server, and none after it.
// Others that ask for a WebSocket are answered 403.
#pragma once

#include <tapml/gpu/support.h>

enum { SERVER_MESSAGE_MAX = 6 << 20, SERVER_ADDRESS_BYTES = 320 };

struct server;

struct server_options {
    const struct gpu_host *host;
    const char *listen; // An IPv4 address of this machine, or the name of an interface.
    uint16_t port;      // 0 is any that is free.
    const unsigned char *page;
    size_t page_size;

    // Takes a message that has arrived whole, from within server_serve and server_send.
    void (*receive)(void *user, const void *message, size_t size);
    void *user;
};

// TAPML_UNAVAILABLE where it cannot listen.
tapml_status
server_create(const struct server_options *options, tapml_call *call, struct server **out_server);
void server_destroy(struct server *server); // NULL is allowed.

// What a browser opens, with the token.
const char *server_address(const struct server *server);

// Whether the page was there, and is there no more.
int server_has_ended(const struct server *server);

// Lets things happen for at most `timeout_ns`; returns after the first.
void server_serve(struct server *server, uint64_t timeout_ns);

// Sends a message of at most SERVER_MESSAGE_MAX bytes and returns when it has left, or when the
// page has gone. Zero where the page is there and takes nothing for a minute.
int server_send(struct server *server, const void *message, size_t size);
