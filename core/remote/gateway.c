// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/gateway.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "remote/dialer.h"
#include "remote/peers.h"
#include "remote/reception.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static const uint64_t SECOND_NS = UINT64_C(1000000000);

// A session and the thread that works for it. What stands in the first part is guarded by the
// gateway's mutex.
struct host {
    struct host *next;
    struct tls *connection; // A new one, to be taken; or NULL.
    struct greeting greeting;
    int is_connected; // It has one, or will have taken it.
    int is_replaced;  // Its host has begun another one: it ends.
    int wake;         // Can be read when there is a connection to be taken, or at the end.

    struct gateway *gateway; // Constant from here on.
    struct identity_hash key;
    struct greeting_session id;
    char name[PEERS_NAME_BYTES]; // Of the peer.
    char *cache_folder;
    struct host_session *session; // The thread's own.
};

struct gateway {
    struct gateway_options given;
    struct identity *identity;
    struct tls_context *context;
    int ending; // Can be read once all is to end.
    struct dialer *dialers[GATEWAY_DIALS_MAX];
    pthread_t dialing[GATEWAY_DIALS_MAX];
    size_t dialer_count, dialing_count;
    pthread_mutex_t mutex;
    pthread_cond_t is_changed; // A thread or a session has ended.
    struct host *hosts;
    size_t host_count, thread_count; // Threads of connections that were dialled.
    int is_ending;
};

// What the thread of a connection is given that was dialled.
struct dialled {
    struct gateway *gateway;
    struct tls *connection;
    struct greeting greeting;
};

static int accepts(void *user, const struct identity_hash *key)
{
    const struct gateway *gateway = user;

    return peers_know(gateway->given.folder, key, NULL);
}

// -- Hosts -------------------------------------------------------------------------------------

static void host_free(struct host *host)
{
    host_session_destroy(host->session);
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
    if (!peers_know(gateway->given.folder, &host->key, host->name)) {
        return status_fail(TAPML_PRECONDITION, "its key is not paired any more");
    }
    identity_hex(&host->key, digits);
    host->cache_folder = file_join(gateway->given.caches, digits);
    if (host->cache_folder == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(
        gateway->given.create(gateway->given.user, host->name, host->cache_folder, &host->session));
    host->id = host->session->id;
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
        if (greeting_session_equal(&host->id, &greeting->session) && !host->is_replaced &&
            identity_equal(&host->key, tls_peer(tls))) {
            break;
        }
    }
    if (host != NULL) {
        tls_close(host->connection);
        host->connection = tls;
        host->greeting = *greeting;
        host->is_connected = 1;
        (void)eventfd_write(host->wake, 1);
    }
    pthread_mutex_unlock(&gateway->mutex);
    return host != NULL;
}

// A key that begins a session has most likely lost its earlier ones, where they have no connection:
// they end, and give back what they have, before the new one begins.
static void replace_sessions(struct gateway *gateway, const struct identity_hash *key)
{
    size_t left = 1;

    pthread_mutex_lock(&gateway->mutex);
    while (left > 0 && !gateway->is_ending) {
        left = 0;
        for (struct host *host = gateway->hosts; host != NULL; host = host->next) {
            if (!host->is_connected && identity_equal(&host->key, key)) {
                host->is_replaced = 1;
                (void)eventfd_write(host->wake, 1);
                left++;
            }
        }
        if (left > 0) {
            pthread_cond_wait(&gateway->is_changed, &gateway->mutex);
        }
    }
    pthread_mutex_unlock(&gateway->mutex);
}

// Notes whether a session has a connection by now; one that has lost it is dialled for.
static void note_connection(struct host *host)
{
    struct gateway *gateway = host->gateway;

    pthread_mutex_lock(&gateway->mutex);
    const int was_connected = host->is_connected;

    host->is_connected = host->connection != NULL || host_session_idle_ns(host->session) == 0;
    const int is_lost = was_connected && !host->is_connected;

    pthread_mutex_unlock(&gateway->mutex);
    for (size_t i = 0; i < gateway->dialer_count && is_lost; i++) {
        dialer_hurry(gateway->dialers[i]);
    }
}

// Whether its host has begun another one.
static int is_replaced(struct host *host)
{
    pthread_mutex_lock(&host->gateway->mutex);
    const int is_so = host->is_replaced;

    pthread_mutex_unlock(&host->gateway->mutex);
    return is_so;
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
            host_session_attach(host->session, connection, &greeting) != TAPML_OK) {
            log_line(LOG_WARNING, "%s: %s", host->name, status_message());
        }
        status = host_session_work(host->session, host->wake);
        note_connection(host);
        if (status == TAPML_OK && is_replaced(host)) {
            status = status_fail(TAPML_CANCELLED, "the host has begun another one");
        } else if (host_session_idle_ns(host->session) > GATEWAY_LINGER_S * SECOND_NS) {
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
        host->is_connected = 1;
        host->next = gateway->hosts;
        gateway->hosts = host;
        gateway->host_count++;
    }
    pthread_mutex_unlock(&gateway->mutex);
    if (has_room) {
        serve(host);
        host_session_destroy(host->session); // With its worker, before anybody counts on that.
        host->session = NULL;
        pthread_mutex_lock(&gateway->mutex);
        for (struct host **at = &gateway->hosts; *at != NULL; at = &(*at)->next) {
            if (*at == host) {
                *at = host->next;
                gateway->host_count--;
                break;
            }
        }
        pthread_cond_broadcast(&gateway->is_changed);
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
    } else {
        replace_sessions(gateway, tls_peer(tls));
        if (host_create(gateway, tls, &host) != TAPML_OK) {
            turn_away(tls, GREETING_REFUSED, status_message());
            return;
        }
        host->connection = tls;
        host->greeting = *greeting;
        begin_session(host);
    }
}

// Somebody has connected.
static void arrive(void *user, struct reception_arrival *arrival, struct tls *tls)
{
    struct gateway *gateway = user;
    struct greeting greeting;
    const tapml_status status = greeting_receive(tls, &greeting);

    reception_admit(arrival);
    if (status == TAPML_OK) {
        receive_host(gateway, tls, &greeting);
    } else {
        log_line(LOG_INFO, "a connection was dropped: %s", status_message());
        tls_close(tls);
    }
}

static void *receive_in_thread(void *argument)
{
    struct dialled *dialled = argument;
    struct gateway *gateway = dialled->gateway;

    receive_host(gateway, dialled->connection, &dialled->greeting);
    alloc_free(dialled);
    pthread_mutex_lock(&gateway->mutex);
    gateway->thread_count--;
    pthread_cond_broadcast(&gateway->is_changed);
    pthread_mutex_unlock(&gateway->mutex);
    return NULL;
}

static void count_thread(struct gateway *gateway, int more)
{
    pthread_mutex_lock(&gateway->mutex);
    gateway->thread_count = more ? gateway->thread_count + 1 : gateway->thread_count - 1;
    pthread_mutex_unlock(&gateway->mutex);
}

// A host that was dialled has greeted.
static void receive_dialled(void *user, struct tls *tls, const struct greeting *greeting)
{
    struct gateway *gateway = user;
    struct dialled *dialled = alloc_new(sizeof(*dialled));
    pthread_t thread;

    if (dialled == NULL) {
        tls_close(tls);
        return;
    }
    *dialled = (struct dialled){gateway, tls, *greeting};
    count_thread(gateway, 1);
    if (pthread_create(&thread, NULL, receive_in_thread, dialled) == 0) {
        (void)pthread_detach(thread);
        return;
    }
    log_line(LOG_WARNING, "no thread for a connection, which is dropped");
    count_thread(gateway, 0);
    tls_close(tls);
    alloc_free(dialled);
}

// -- The whole ---------------------------------------------------------------------------------

// Ends all sessions.
static void end_sessions(void *user)
{
    struct gateway *gateway = user;

    pthread_mutex_lock(&gateway->mutex);
    gateway->is_ending = 1;
    for (struct host *host = gateway->hosts; host != NULL; host = host->next) {
        (void)eventfd_write(host->wake, 1);
    }
    pthread_cond_broadcast(&gateway->is_changed);
    pthread_mutex_unlock(&gateway->mutex);
}

// One of the threads that dial.
struct dialing {
    struct dialer *dialer;
    int ending;
};

static void *dial(void *argument)
{
    const struct dialing dialing = *(struct dialing *)argument;

    alloc_free(argument);
    dialer_run(dialing.dialer, dialing.ending);
    return NULL;
}

static tapml_status make_dialers(struct gateway *gateway)
{
    const struct gateway_options *given = &gateway->given;

    ASSERT(given->dial_count <= GATEWAY_DIALS_MAX);
    for (size_t i = 0; i < given->dial_count; i++) {
        TAPML_TRY(dialer_create(&(struct dialer_options){.url = given->dials[i],
                                                         .folder = given->folder,
                                                         .receive = receive_dialled,
                                                         .user = gateway},
                                &gateway->dialers[gateway->dialer_count]));
        gateway->dialer_count++;
    }
    return TAPML_OK;
}

// Once all dialers are there: each session may hurry each of them.
static tapml_status start_dialers(struct gateway *gateway)
{
    for (size_t i = 0; i < gateway->dialer_count; i++) {
        struct dialing *dialing = alloc_new(sizeof(*dialing));

        if (dialing == NULL) {
            return status_no_memory();
        }
        *dialing = (struct dialing){gateway->dialers[i], gateway->ending};
        if (pthread_create(&gateway->dialing[gateway->dialing_count], NULL, dial, dialing) != 0) {
            alloc_free(dialing);
            return status_fail(TAPML_UNAVAILABLE, "no thread to dial with");
        }
        gateway->dialing_count++;
    }
    return TAPML_OK;
}

static void await_stop(int stop)
{
    while (poll(&(struct pollfd){.fd = stop, .events = POLLIN}, 1, -1) < 0 && errno == EINTR) {
    }
}

static tapml_status serve_all(struct gateway *gateway, struct reception *reception, int stop)
{
    TAPML_TRY(start_dialers(gateway));
    if (gateway->given.ready != NULL) {
        gateway->given.ready(gateway->given.user,
                             reception != NULL ? reception_port(reception) : 0);
    }
    if (reception != NULL) {
        return reception_run(reception, stop);
    }
    await_stop(stop);
    return TAPML_OK;
}

// Ends what there is, and waits for all threads.
static void join_all(struct gateway *gateway)
{
    (void)eventfd_write(gateway->ending, 1);
    for (size_t i = 0; i < gateway->dialing_count; i++) {
        (void)pthread_join(gateway->dialing[i], NULL);
    }
    end_sessions(gateway);
    pthread_mutex_lock(&gateway->mutex);
    while (gateway->thread_count > 0) {
        pthread_cond_wait(&gateway->is_changed, &gateway->mutex);
    }
    pthread_mutex_unlock(&gateway->mutex);
}

static tapml_status run(struct gateway *gateway, int stop)
{
    const struct gateway_options *given = &gateway->given;
    struct reception *reception = NULL;

    gateway->ending = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (gateway->ending < 0) {
        return status_fail(TAPML_UNAVAILABLE, "no descriptor to end by: %s", strerror(errno));
    }
    TAPML_TRY(identity_open(given->folder, &gateway->identity));
    TAPML_TRY(tls_context_create(gateway->identity, accepts, gateway, &gateway->context));
    TAPML_TRY(make_dialers(gateway));
    if (given->address != NULL) {
        TAPML_TRY(reception_open(&(struct reception_options){.address = given->address,
                                                             .context = gateway->context,
                                                             .arrive = arrive,
                                                             .end = end_sessions,
                                                             .user = gateway},
                                 &reception));
    }
    const tapml_status status = serve_all(gateway, reception, stop);

    join_all(gateway);
    reception_close(reception);
    return status;
}

tapml_status gateway_run(const struct gateway_options *options, int stop)
{
    struct gateway *gateway = alloc_new(sizeof(*gateway));

    if (gateway == NULL) {
        return status_no_memory();
    }
    gateway->given = *options;
    gateway->ending = -1;
    (void)pthread_mutex_init(&gateway->mutex, NULL);
    (void)pthread_cond_init(&gateway->is_changed, NULL);
    const tapml_status status = run(gateway, stop);

    for (size_t i = 0; i < gateway->dialer_count; i++) {
        dialer_destroy(gateway->dialers[i]);
    }
    if (gateway->ending >= 0) {
        close(gateway->ending);
    }
    tls_context_destroy(gateway->context);
    identity_release(gateway->identity);
    (void)pthread_cond_destroy(&gateway->is_changed);
    (void)pthread_mutex_destroy(&gateway->mutex);
    alloc_free(gateway);
    return status;
}
