// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/gateway.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "remote/address.h"
#include "remote/peers.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HANDSHAKE_MS = 10000, NAME_BYTES = 64 };

static const uint64_t SECOND_NS = UINT64_C(1000000000);

// A connection that has not greeted yet.
struct guest {
    int socket;      // A duplicate, of the place; -1: it is free.
    uint64_t number; // Of the connection, counted up.
};

// A session and the thread that works for it. What stands in the first part is guarded by the
// gateway's mutex.
struct host {
    struct host *next;
    struct tls *connection; // A new one, to be taken; or NULL.
    struct greeting greeting;
    int wake; // Can be read when there is a connection to be taken, or at the end.

    struct gateway *gateway; // Constant from here on.
    struct identity_hash key;
    struct greeting_session id;
    char name[NAME_BYTES]; // Of the peer.
    char *cache_folder;
    struct far_session_options options;
    struct far_session *session; // The thread's own.
};

struct gateway {
    struct gateway_options given;
    struct identity *identity;
    struct tls_context *context;
    pthread_mutex_t mutex;
    pthread_cond_t is_changed; // A thread has ended.
    struct host *hosts;
    size_t host_count, thread_count;
    struct guest guests[GATEWAY_GUESTS_MAX];
    uint64_t guest_count;     // Ever.
    pthread_mutex_t settling; // Around `settle`.
    int is_ending;
};

// What the thread of a connection is given.
struct incoming {
    struct gateway *gateway;
    int socket;
    uint64_t number; // As a guest.
};

// -- Who may come in ---------------------------------------------------------------------------

// Read anew for each connection, so that a pairing counts at once.
static int find_peer(const struct gateway *gateway, const struct identity_hash *key, char *out_name)
{
    struct peers peers = {.arena = NULL};

    if (peers_load(gateway->given.folder, &peers) != TAPML_OK) {
        log_line(LOG_ERROR, "%s", status_message());
        return 0;
    }
    const struct peer *peer = peers_find_key(&peers, key);

    if (peer != NULL && out_name != NULL) {
        (void)snprintf(out_name, NAME_BYTES, "%s", peer->name);
    }
    const int is_found = peer != NULL;

    peers_release(&peers);
    return is_found;
}

static int accepts(void *user, const struct identity_hash *key)
{
    return find_peer(user, key, NULL);
}

// -- Guests ------------------------------------------------------------------------------------

// Takes a place for a connection; the one that has waited longest gives way if there is none.
static uint64_t seat_guest(struct gateway *gateway, int socket)
{
    pthread_mutex_lock(&gateway->mutex);
    const uint64_t number = ++gateway->guest_count;
    struct guest *place = &gateway->guests[0];

    for (size_t i = 0; i < GATEWAY_GUESTS_MAX && place->socket >= 0; i++) {
        struct guest *guest = &gateway->guests[i];

        place = guest->socket < 0 || guest->number < place->number ? guest : place;
    }
    if (place->socket >= 0) {
        (void)shutdown(place->socket, SHUT_RDWR); // Its thread closes the connection.
        close(place->socket);
    }
    *place = (struct guest){fcntl(socket, F_DUPFD_CLOEXEC, 0), number};
    pthread_mutex_unlock(&gateway->mutex);
    return number;
}

static void leave_seat(struct gateway *gateway, uint64_t number)
{
    pthread_mutex_lock(&gateway->mutex);
    for (size_t i = 0; i < GATEWAY_GUESTS_MAX; i++) {
        struct guest *guest = &gateway->guests[i];

        if (guest->number == number && guest->socket >= 0) {
            close(guest->socket);
            guest->socket = -1;
        }
    }
    pthread_mutex_unlock(&gateway->mutex);
}

// -- Hosts -------------------------------------------------------------------------------------

static tapml_status settle(void *user,
                           const struct message_setting *asked,
                           size_t asked_count,
                           struct arena *arena,
                           struct message_setting **out_settings,
                           size_t *out_count)
{
    struct gateway *gateway = user;
    const struct far_session_options *given = &gateway->given.session;

    pthread_mutex_lock(&gateway->settling);
    const tapml_status status =
        given->settle(given->user, asked, asked_count, arena, out_settings, out_count);

    pthread_mutex_unlock(&gateway->settling);
    return status;
}

static void host_free(struct host *host)
{
    far_session_destroy(host->session);
    tls_close(host->connection);
    if (host->wake >= 0) {
        close(host->wake);
    }
    alloc_free(host->cache_folder);
    alloc_free(host);
}

static tapml_status host_fill(struct gateway *gateway, const struct tls *tls, struct host *host)
{
    char digits[IDENTITY_HEX_TEXT];

    host->gateway = gateway;
    host->key = *tls_peer(tls);
    host->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (host->wake < 0) {
        return status_fail(TAPML_UNAVAILABLE, "no descriptor for a session: %s", strerror(errno));
    }
    if (!find_peer(gateway, &host->key, host->name)) {
        return status_fail(TAPML_PRECONDITION, "its key is not paired any more");
    }
    identity_hex(&host->key, digits);
    host->cache_folder = file_join(gateway->given.caches, digits);
    if (host->cache_folder == NULL) {
        return status_no_memory();
    }
    host->options = gateway->given.session;
    host->options.cache_folder = host->cache_folder;
    host->options.settle = settle;
    host->options.user = gateway;
    TAPML_TRY(far_session_create(&host->options, &host->session));
    host->id = *far_session_id(host->session);
    return TAPML_OK;
}

static tapml_status
host_create(struct gateway *gateway, const struct tls *tls, struct host **out_host)
{
    struct host *host = alloc_new(sizeof(*host));

    if (host == NULL) {
        return status_no_memory();
    }
    host->wake = -1;
    const tapml_status status = host_fill(gateway, tls, host);

    if (status != TAPML_OK) {
        host_free(host);
        return status;
    }
    *out_host = host;
    return TAPML_OK;
}

// Hands a connection to the session that it belongs to. Returns 0 if there is none.
static int hand_over(struct gateway *gateway, struct tls *tls, const struct greeting *greeting)
{
    struct host *host = NULL;

    pthread_mutex_lock(&gateway->mutex);
    for (host = gateway->hosts; host != NULL; host = host->next) {
        if (greeting_session_equal(&host->id, &greeting->session) &&
            identity_equal(&host->key, tls_peer(tls))) {
            break;
        }
    }
    if (host != NULL) {
        tls_close(host->connection);
        host->connection = tls;
        host->greeting = *greeting;
        (void)eventfd_write(host->wake, 1);
    }
    pthread_mutex_unlock(&gateway->mutex);
    return host != NULL;
}

// The connection that waits for a session, and whether all is to end.
static struct tls *
take_connection(struct host *host, struct greeting *out_greeting, int *out_is_ending)
{
    struct gateway *gateway = host->gateway;
    eventfd_t count = 0;

    pthread_mutex_lock(&gateway->mutex);
    struct tls *connection = host->connection;

    (void)eventfd_read(host->wake, &count);
    *out_greeting = host->greeting;
    *out_is_ending = gateway->is_ending;
    host->connection = NULL;
    pthread_mutex_unlock(&gateway->mutex);
    return connection;
}

static void serve(struct host *host)
{
    tapml_status status = TAPML_OK;
    int is_ending = 0;

    log_line(LOG_INFO, "%s: a session begins", host->name);
    while (status == TAPML_OK && !is_ending) {
        struct greeting greeting;
        struct tls *connection = take_connection(host, &greeting, &is_ending);

        if (connection != NULL &&
            far_session_attach(host->session, connection, &greeting) != TAPML_OK) {
            log_line(LOG_WARNING, "%s: %s", host->name, status_message());
        }
        status = far_session_work(host->session, host->wake);
        if (far_session_idle_ns(host->session) > GATEWAY_LINGER_S * SECOND_NS) {
            status = status_fail(TAPML_CANCELLED, "the host was away for %d s", GATEWAY_LINGER_S);
        }
    }
    log_line(status == TAPML_OK || status == TAPML_CANCELLED ? LOG_INFO : LOG_WARNING,
             "%s: a session ends: %s", host->name,
             is_ending ? "this program ends" : status_message());
}

// Says why there is no session, and closes the connection.
static void turn_away(struct tls *tls, enum greeting_state state, const char *why)
{
    struct greeting_answer answer = {.state = state};

    (void)snprintf(answer.text, sizeof(answer.text), "%s", why);
    if (greeting_send_answer(tls, &answer) != TAPML_OK) {
        log_line(LOG_DEBUG, "%s", status_message());
    }
    tls_close(tls);
}

// The thread of a connection becomes that of its session.
static void begin_session(struct host *host)
{
    struct gateway *gateway = host->gateway;

    pthread_mutex_lock(&gateway->mutex);
    const int is_ending = gateway->is_ending;
    const int has_room = gateway->host_count < GATEWAY_SESSIONS_MAX && !is_ending;

    if (has_room) {
        host->next = gateway->hosts;
        gateway->hosts = host;
        gateway->host_count++;
    }
    pthread_mutex_unlock(&gateway->mutex);
    if (has_room) {
        serve(host);
        pthread_mutex_lock(&gateway->mutex);
        for (struct host **at = &gateway->hosts; *at != NULL; at = &(*at)->next) {
            if (*at == host) {
                *at = host->next;
                gateway->host_count--;
                break;
            }
        }
        pthread_mutex_unlock(&gateway->mutex);
    } else if (!is_ending) {
        char why[64];

        (void)snprintf(why, sizeof(why), "it has %d sessions already", GATEWAY_SESSIONS_MAX);
        log_line(LOG_WARNING, "%s: more than %d sessions", host->name, GATEWAY_SESSIONS_MAX);
        turn_away(host->connection, GREETING_REFUSED, why);
        host->connection = NULL;
    }
    host_free(host);
}

// -- Connections -------------------------------------------------------------------------------

static void receive_host(struct gateway *gateway, struct tls *tls, const struct greeting *greeting)
{
    struct host *host = NULL;
    char why[128];

    if (greeting_choose_version(greeting) == 0) {
        (void)snprintf(why, sizeof(why), "it speaks version %u of the wire, you speak %u to %u",
                       WIRE_VERSION, greeting->version_least, greeting->version_most);
        turn_away(tls, GREETING_REFUSED, why);
    } else if (!greeting_session_is_none(&greeting->session)) {
        if (!hand_over(gateway, tls, greeting)) {
            turn_away(tls, GREETING_NEW, "");
        }
    } else if (host_create(gateway, tls, &host) != TAPML_OK) {
        turn_away(tls, GREETING_REFUSED, status_message());
    } else {
        host->connection = tls;
        host->greeting = *greeting;
        begin_session(host);
    }
}

static void receive(const struct incoming *arrival)
{
    struct gateway *gateway = arrival->gateway;
    struct greeting greeting;
    struct tls *tls = NULL;
    const tapml_status opened =
        tls_open(gateway->context, TLS_SERVER, arrival->socket, HANDSHAKE_MS, &tls);
    const tapml_status status = opened == TAPML_OK ? greeting_receive(tls, &greeting) : opened;

    leave_seat(gateway, arrival->number);
    if (status == TAPML_OK) {
        receive_host(gateway, tls, &greeting);
    } else {
        log_line(LOG_INFO, "a connection was dropped: %s", status_message());
        tls_close(tls);
    }
}

static void *receive_in_thread(void *argument)
{
    struct incoming *arrival = argument;
    struct gateway *gateway = arrival->gateway;

    receive(arrival);
    alloc_free(arrival);
    pthread_mutex_lock(&gateway->mutex);
    gateway->thread_count--;
    pthread_cond_signal(&gateway->is_changed);
    pthread_mutex_unlock(&gateway->mutex);
    return NULL;
}

static void welcome(struct gateway *gateway, int socket)
{
    struct incoming *arrival = alloc_new(sizeof(*arrival));
    pthread_t thread;

    if (arrival == NULL) {
        close(socket);
        return;
    }
    *arrival = (struct incoming){gateway, socket, seat_guest(gateway, socket)};
    pthread_mutex_lock(&gateway->mutex);
    gateway->thread_count++;
    pthread_mutex_unlock(&gateway->mutex);
    if (pthread_create(&thread, NULL, receive_in_thread, arrival) == 0) {
        (void)pthread_detach(thread);
        return;
    }
    log_line(LOG_WARNING, "no thread for a connection, which is dropped");
    leave_seat(gateway, arrival->number);
    pthread_mutex_lock(&gateway->mutex);
    gateway->thread_count--;
    pthread_mutex_unlock(&gateway->mutex);
    close(socket);
    alloc_free(arrival);
}

static tapml_status accept_all(struct gateway *gateway, int listening, int stop)
{
    struct pollfd ends[] = {{.fd = listening, .events = POLLIN}, {.fd = stop, .events = POLLIN}};

    for (;;) {
        if (poll(ends, 2, -1) < 0) {
            if (errno != EINTR) {
                return status_fail(TAPML_UNAVAILABLE, "waiting for hosts: %s", strerror(errno));
            }
            continue;
        }
        if (ends[1].revents != 0) {
            return TAPML_OK;
        }
        const int socket = accept4(listening, NULL, NULL, SOCK_CLOEXEC);

        if (socket >= 0) {
            address_set_up(socket);
            welcome(gateway, socket);
        } else if (errno == EMFILE || errno == ENFILE) {
            (void)poll(NULL, 0, 100); // Until some connection has ended.
        }
    }
}

// -- The whole ---------------------------------------------------------------------------------

// Ends all sessions, and waits for the threads.
static void end_all(struct gateway *gateway)
{
    pthread_mutex_lock(&gateway->mutex);
    gateway->is_ending = 1;
    for (struct host *host = gateway->hosts; host != NULL; host = host->next) {
        (void)eventfd_write(host->wake, 1);
    }
    for (size_t i = 0; i < GATEWAY_GUESTS_MAX; i++) {
        if (gateway->guests[i].socket >= 0) {
            (void)shutdown(gateway->guests[i].socket, SHUT_RDWR);
        }
    }
    while (gateway->thread_count > 0) {
        pthread_cond_wait(&gateway->is_changed, &gateway->mutex);
    }
    pthread_mutex_unlock(&gateway->mutex);
}

static tapml_status listen_and_serve(struct gateway *gateway, int stop)
{
    const struct gateway_options *given = &gateway->given;
    struct address address;
    int listening = -1;
    unsigned port = 0;

    TAPML_TRY(address_parse(given->address, &address));
    TAPML_TRY(identity_open(given->folder, &gateway->identity));
    TAPML_TRY(tls_context_create(gateway->identity, accepts, gateway, &gateway->context));
    TAPML_TRY(address_listen(&address, &listening, &port));
    (void)fcntl(listening, F_SETFL, O_NONBLOCK); // One that gave up meanwhile is not waited for.
    if (given->ready != NULL) {
        given->ready(given->user, port);
    }
    const tapml_status status = accept_all(gateway, listening, stop);

    close(listening);
    end_all(gateway);
    return status;
}

tapml_status gateway_run(const struct gateway_options *options, int stop)
{
    struct gateway *gateway = alloc_new(sizeof(*gateway));

    if (gateway == NULL) {
        return status_no_memory();
    }
    gateway->given = *options;
    (void)pthread_mutex_init(&gateway->mutex, NULL);
    (void)pthread_mutex_init(&gateway->settling, NULL);
    (void)pthread_cond_init(&gateway->is_changed, NULL);
    for (size_t i = 0; i < GATEWAY_GUESTS_MAX; i++) {
        gateway->guests[i].socket = -1;
    }
    const tapml_status status = listen_and_serve(gateway, stop);

    tls_context_destroy(gateway->context);
    identity_release(gateway->identity);
    (void)pthread_cond_destroy(&gateway->is_changed);
    (void)pthread_mutex_destroy(&gateway->settling);
    (void)pthread_mutex_destroy(&gateway->mutex);
    alloc_free(gateway);
    return status;
}
