// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "server.h"

#include <libwebsockets.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

enum { TOKEN_BYTES = 16, TOKEN_LENGTH = 2 * TOKEN_BYTES, STEP_NS = 100000000 };

static const uint64_t send_ns_max = UINT64_C(60000000000);

static const char protocol_name[] = "tapml";

struct server {
    const struct gpu_host *host;
    struct lws_context *context;
    struct lws *socket; // The page; NULL before it connects and after it has gone.
    int was_connected;
    char token[TOKEN_LENGTH + 1];
    char address[SERVER_ADDRESS_BYTES];
    size_t page_size;
    unsigned char *page; // With LWS_PRE bytes before it.
    void (*receive)(void *user, const void *message, size_t size);
    void *user;
    unsigned char *incoming, *outgoing;  // SERVER_MESSAGE_MAX; LWS_PRE bytes before what goes out.
    size_t incoming_size, outgoing_size; // The latter is 0 when the message has been written.
    lws_sorted_usec_list_t alarm;
};

// Whether a request has the token behind its path.
static int has_token(const struct server *server, struct lws *socket)
{
    char said[TOKEN_LENGTH + 2] = "";
    const int length = lws_hdr_copy(socket, said, sizeof(said), WSI_TOKEN_HTTP_URI_ARGS);

    return length == TOKEN_LENGTH && lws_timingsafe_bcmp(said, server->token, TOKEN_LENGTH) == 0;
}

// Whether a page of this server asks. A browser sends the origin, and no script can change it.
static int is_own_origin(struct lws *socket)
{
    char host[256] = "", origin[300] = "", own[300];

    (void)lws_hdr_copy(socket, host, sizeof(host), WSI_TOKEN_HOST); // Or they stay "".
    (void)lws_hdr_copy(socket, origin, sizeof(origin), WSI_TOKEN_ORIGIN);
    (void)snprintf(own, sizeof(own), "http://%s", host); // Always fits.
    return host[0] != '\0' && strcmp(origin, own) == 0;
}

// Whether a request for a WebSocket is the page's, which names the protocol, and is the first one.
static int is_from_page(const struct server *server, struct lws *socket)
{
    char said[sizeof(protocol_name) + 1] = "";
    const int length = lws_hdr_copy(socket, said, sizeof(said), WSI_TOKEN_PROTOCOL);

    return !server->was_connected && length == (int)sizeof(protocol_name) - 1 &&
           strcmp(said, protocol_name) == 0 && has_token(server, socket) && is_own_origin(socket);
}

// -- HTTP: one page ----------------------------------------------------------------------------

static int
add_header(struct lws *socket, const char *line[2], unsigned char **at, unsigned char *end)
{
    return lws_add_http_header_by_name(socket, (const unsigned char *)line[0],
                                       (const unsigned char *)line[1], (int)strlen(line[1]), at,
                                       end);
}

static int send_headers(const struct server *server, struct lws *socket)
{
    static const char *lines[][2] = {
        {"content-security-policy:",
         "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src "
         "data:; "
         "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
        {"cache-control:", "no-store"},
        {"referrer-policy:", "no-referrer"},
        {"x-content-type-options:", "nosniff"},
    };
    unsigned char room[LWS_PRE + 2048], *start = room + LWS_PRE, *at = start;
    unsigned char *end = room + sizeof(room) - 1;

    if (lws_add_http_common_headers(socket, HTTP_STATUS_OK, "text/html; charset=utf-8",
                                    server->page_size, &at, end) != 0) {
        return 1;
    }
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        if (add_header(socket, lines[i], &at, end) != 0) {
            return 1;
        }
    }
    return lws_finalize_write_http_header(socket, start, &at, end);
}

// Not zero closes the connection.
static int
http_event(struct lws *socket, enum lws_callback_reasons reason, void *user, void *in, size_t size)
{
    struct server *server = lws_context_user(lws_get_context(socket));

    switch ((int)reason) {
    case LWS_CALLBACK_HTTP:
        if (strcmp(in, "/") != 0 || !has_token(server, socket)) {
            (void)lws_return_http_status(socket, HTTP_STATUS_NOT_FOUND, NULL); // We close anyway.
            return -1;
        }
        if (send_headers(server, socket) != 0) {
            return 1;
        }
        (void)lws_callback_on_writable(socket); // Cannot fail for a socket that is open.
        return 0;
    case LWS_CALLBACK_HTTP_WRITEABLE:
        if (lws_write(socket, server->page + LWS_PRE, server->page_size, LWS_WRITE_HTTP_FINAL) <
            (int)server->page_size) {
            return 1;
        }
        return lws_http_transaction_completed(socket) != 0 ? -1 : 0;
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        if (is_from_page(server, socket)) {
            return 0;
        }
        (void)lws_return_http_status(socket, HTTP_STATUS_FORBIDDEN, NULL); // We close anyway.
        return 1;
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return 1; // Who names no protocol would have this one, which is none of messages.
    default:
        return lws_callback_http_dummy(socket, reason, user, in, size);
    }
}

// -- The WebSocket -----------------------------------------------------------------------------

// Not zero closes the connection.
static int take_fragment(struct server *server, struct lws *socket, const void *in, size_t size)
{
    if (lws_is_first_fragment(socket)) {
        server->incoming_size = 0;
    }
    if (size > SERVER_MESSAGE_MAX - server->incoming_size) {
        return -1;
    }
    memcpy(server->incoming + server->incoming_size, in, size);
    server->incoming_size += size;
    if (lws_is_final_fragment(socket) && lws_remaining_packet_payload(socket) == 0) {
        server->receive(server->user, server->incoming, server->incoming_size);
    }
    return 0;
}

static int write_message(struct server *server, struct lws *socket)
{
    const size_t size = server->outgoing_size;

    if (size == 0) {
        return 0;
    }
    server->outgoing_size = 0;
    return lws_write(socket, server->outgoing + LWS_PRE, size, LWS_WRITE_BINARY) < (int)size ? -1
                                                                                             : 0;
}

// Not zero refuses or closes the connection.
static int
page_event(struct lws *socket, enum lws_callback_reasons reason, void *user, void *in, size_t size)
{
    struct server *server = lws_context_user(lws_get_context(socket));

    switch ((int)reason) {
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return !is_from_page(server, socket);
    case LWS_CALLBACK_ESTABLISHED:
        if (server->was_connected) { // Two asked at the same time.
            return -1;
        }
        server->socket = socket;
        server->was_connected = 1;
        return 0;
    case LWS_CALLBACK_CLOSED:
        server->socket = socket == server->socket ? NULL : server->socket;
        return 0;
    case LWS_CALLBACK_RECEIVE:
        return take_fragment(server, socket, in, size);
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return write_message(server, socket);
    default:
        return 0;
    }
}

static const struct lws_protocols protocols[] = {
    {.name = "http", .callback = http_event},
    {.name = protocol_name,
     .callback = page_event,
     .rx_buffer_size = 1 << 20,
     .tx_packet_size = 1 << 20},
    {.name = NULL},
};

// -- Life --------------------------------------------------------------------------------------

void server_destroy(struct server *server)
{
    if (server == NULL) {
        return;
    }
    if (server->context != NULL) {
        lws_context_destroy(server->context);
    }
    gpu_free(server->host, server->page, LWS_PRE + server->page_size);
    gpu_free(server->host, server->incoming, SERVER_MESSAGE_MAX);
    gpu_free(server->host, server->outgoing, LWS_PRE + SERVER_MESSAGE_MAX);
    gpu_free(server->host, server, sizeof(*server));
}

static int make_token(struct server *server)
{
    unsigned char bytes[TOKEN_BYTES];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes)) {
        return -1;
    }
    for (size_t i = 0; i < sizeof(bytes); i++) {
        (void)snprintf(server->token + 2 * i, 3, "%02x", bytes[i]); // Always fits.
    }
    return 0;
}

// The port that it listens on, or 0.
static int listen_here(struct server *server, const struct server_options *options)
{
    const struct lws_context_creation_info info = {
        .port = options->port,
        .iface = options->listen,
        .protocols = protocols,
        .gid = (gid_t)-1,
        .uid = (uid_t)-1,
        .options = LWS_SERVER_OPTION_DISABLE_IPV6 | LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND,
        .user = server,
    };
    struct sigaction before;

    lws_set_log_level(0, NULL);              // The plugin reports failures.
    (void)sigaction(SIGPIPE, NULL, &before); // It sets this one, which is the host's.
    server->context = lws_create_context(&info);
    (void)sigaction(SIGPIPE, &before, NULL);
    return server->context != NULL
               ? lws_get_vhost_listen_port(lws_get_vhost_by_name(server->context, "default"))
               : 0;
}

static tapml_status
make(struct server *server, tapml_call *call, const struct server_options *options)
{
    server->page_size = options->page_size;
    server->page = gpu_alloc(server->host, LWS_PRE + options->page_size);
    server->incoming = gpu_alloc(server->host, SERVER_MESSAGE_MAX);
    server->outgoing = gpu_alloc(server->host, LWS_PRE + SERVER_MESSAGE_MAX);
    if (server->page == NULL || server->incoming == NULL || server->outgoing == NULL) {
        return gpu_fail(server->host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    memcpy(server->page + LWS_PRE, options->page, options->page_size);
    if (make_token(server) != 0) {
        return gpu_fail(server->host, call, TAPML_UNAVAILABLE, 0,
                        "the system gives no random bytes");
    }
    const int port = listen_here(server, options);

    if (port <= 0) {
        return gpu_fail(server->host, call, TAPML_UNAVAILABLE, 0,
                        "cannot listen on '%s', port %u: is the address of this machine, and the "
                        "port free?",
                        options->listen, options->port);
    }
    (void)snprintf(server->address, sizeof(server->address), "http://%.200s:%d/?%s",
                   options->listen, port, server->token);
    return TAPML_OK;
}

tapml_status
server_create(const struct server_options *options, tapml_call *call, struct server **out_server)
{
    struct server *server = gpu_alloc(options->host, sizeof(*server));

    if (server == NULL) {
        return gpu_fail(options->host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    server->host = options->host;
    server->receive = options->receive;
    server->user = options->user;
    const tapml_status status = make(server, call, options);

    if (status != TAPML_OK) {
        server_destroy(server);
        return status;
    }
    *out_server = server;
    return TAPML_OK;
}

const char *server_address(const struct server *server)
{
    return server->address;
}

int server_has_ended(const struct server *server)
{
    return server->was_connected && server->socket == NULL;
}

// -- Messages ----------------------------------------------------------------------------------

static void wake(lws_sorted_usec_list_t *alarm)
{
    (void)alarm; // To return from lws_service is all that is wanted.
}

void server_serve(struct server *server, uint64_t timeout_ns)
{
    if (timeout_ns > 0) {
        lws_sul_schedule(server->context, 0, &server->alarm, wake,
                         (lws_usec_t)(timeout_ns / 1000 + 1));
    }
    // A failure of a connection closes it, which its events report.
    (void)lws_service(server->context, timeout_ns > 0 ? 0 : -1);
}

int server_send(struct server *server, const void *message, size_t size)
{
    const uint64_t begin = gpu_clock_ns();

    if (server->socket == NULL || size == 0) {
        return 1;
    }
    memcpy(server->outgoing + LWS_PRE, message, size);
    server->outgoing_size = size;
    (void)lws_callback_on_writable(server->socket); // Cannot fail for a socket that is open.
    while (server->socket != NULL &&
           (server->outgoing_size > 0 || lws_partial_buffered(server->socket) != 0)) {
        if (gpu_clock_ns() - begin > send_ns_max) {
            return 0;
        }
        server_serve(server, STEP_NS);
    }
    return 1;
}
