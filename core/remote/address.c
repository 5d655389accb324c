// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/address.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char scheme[] = "tapml://";
enum { BACKLOG = 64, PORT_MAX = 65535 };

static tapml_status refuse(const char *text)
{
    return status_fail(TAPML_INVALID,
                       "'%.200s' is no address: expected HOST:PORT, a HOST of IPv6 in brackets, a "
                       "PORT from 0 to %d",
                       text, PORT_MAX);
}

tapml_status address_parse(const char *text, struct address *out_address)
{
    const char *colon = strrchr(text, ':');
    const char *host = text, *end = colon;

    if (colon == NULL) {
        return refuse(text);
    }
    if (text[0] == '[') {
        if (colon[-1] != ']') {
            return refuse(text);
        }
        host = text + 1;
        end = colon - 1;
    } else if (strchr(text, ':') != colon) {
        return refuse(text);
    }
    const size_t digits = strlen(colon + 1), length = (size_t)(end - host);

    if (digits == 0 || digits >= ADDRESS_PORT_BYTES || strspn(colon + 1, "0123456789") != digits ||
        strtol(colon + 1, NULL, 10) > PORT_MAX || length >= ADDRESS_HOST_BYTES ||
        strcspn(host, "[]") < length) {
        return refuse(text);
    }
    memcpy(out_address->host, host, length);
    out_address->host[length] = '\0';
    memcpy(out_address->port, colon + 1, digits + 1);
    return TAPML_OK;
}

static tapml_status refuse_url(const char *text)
{
    return status_fail(TAPML_INVALID, "'%.200s' is no address of a worker: expected %sHOST:PORT",
                       text, scheme);
}

tapml_status address_parse_url(const char *text, struct address *out_address)
{
    const size_t length = strlen(scheme);

    if (strncmp(text, scheme, length) != 0) {
        return refuse_url(text);
    }
    TAPML_TRY(address_parse(text + length, out_address));
    return out_address->host[0] != '\0' ? TAPML_OK : refuse_url(text);
}

static tapml_status look_up(const struct address *address, int flags, struct addrinfo **out_list)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
    const int failure = getaddrinfo(address->host[0] != '\0' ? address->host : NULL, address->port,
                                    &hints, out_list);

    return failure == 0 ? TAPML_OK
                        : status_fail(TAPML_UNAVAILABLE, "the host '%s' is not known: %s",
                                      address->host, gai_strerror(failure));
}

void address_set_up(int socket)
{
    const int one = 1;

    (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    (void)setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
}

// Returns an errno; 0 where it is connected.
static int connect_within(int socket, const struct addrinfo *at, int timeout_ms)
{
    struct pollfd wait = {.fd = socket, .events = POLLOUT};
    int error = 0;
    socklen_t size = sizeof(error);

    if (connect(socket, at->ai_addr, at->ai_addrlen) == 0) {
        return 0;
    }
    if (errno != EINPROGRESS) {
        return errno;
    }
    if (poll(&wait, 1, timeout_ms) != 1) {
        return ETIMEDOUT;
    }
    return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

tapml_status address_connect(const struct address *address, int timeout_ms, int *out_socket)
{
    struct addrinfo *list = NULL;
    int error = ENOENT;

    TAPML_TRY(look_up(address, 0, &list));
    for (const struct addrinfo *at = list; at != NULL && error != 0; at = at->ai_next) {
        const int made = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        error = made >= 0 ? connect_within(made, at, timeout_ms) : errno;
        if (error == 0) {
            address_set_up(made);
            *out_socket = made;
        } else if (made >= 0) {
            close(made);
        }
    }
    freeaddrinfo(list);
    return error == 0 ? TAPML_OK
                      : status_fail(TAPML_UNAVAILABLE, "%s:%s cannot be reached: %s", address->host,
                                    address->port, strerror(error));
}

static unsigned port_of(int socket)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } name = {.v6 = {0}};
    socklen_t size = sizeof(name);

    if (getsockname(socket, &name.any, &size) != 0) {
        return 0;
    }
    return ntohs(name.any.sa_family == AF_INET6 ? name.v6.sin6_port : name.v4.sin_port);
}

tapml_status address_listen(const struct address *address, int *out_socket, unsigned *out_port)
{
    struct addrinfo *list = NULL;
    const int one = 1;
    int error = ENOENT;

    TAPML_TRY(look_up(address, AI_PASSIVE, &list));
    for (const struct addrinfo *at = list; at != NULL && error != 0; at = at->ai_next) {
        const int made = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, 0);

        if (made >= 0 && setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
            bind(made, at->ai_addr, at->ai_addrlen) == 0 && listen(made, BACKLOG) == 0) {
            error = 0;
            *out_socket = made;
            *out_port = port_of(made);
        } else {
            error = errno;
            if (made >= 0) {
                close(made);
            }
        }
    }
    freeaddrinfo(list);
    return error == 0 ? TAPML_OK
                      : status_fail(TAPML_UNAVAILABLE, "cannot listen at %s:%s: %s", address->host,
                                    address->port, strerror(error));
}
