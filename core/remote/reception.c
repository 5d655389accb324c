// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/reception.h"

#include "base/alloc.h"
#include "base/log.h"
#include "remote/address.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// A connection that was not admitted yet.
struct guest {
    int socket;      // A duplicate, of the place; -1: it is free.
    uint64_t number; // Of the connection, counted up.
};

struct reception {
    struct reception_options given;
    int listening;
    unsigned port;
    pthread_mutex_t mutex;
    pthread_cond_t is_changed; // A thread has ended.
    size_t thread_count;
    struct guest guests[RECEPTION_GUESTS_MAX];
    uint64_t guest_count; // Ever.
};

// What the thread of a connection is given.
struct reception_arrival {
    struct reception *reception;
    int socket;
    uint64_t number; // As a guest.
};

// -- Guests ------------------------------------------------------------------------------------

// Takes a place for a connection; the one that has waited longest gives way if there is none.
static uint64_t seat_guest(struct reception *reception, int socket)
{
    pthread_mutex_lock(&reception->mutex);
    const uint64_t number = ++reception->guest_count;
    struct guest *place = &reception->guests[0];

    for (size_t i = 0; i < RECEPTION_GUESTS_MAX && place->socket >= 0; i++) {
        struct guest *guest = &reception->guests[i];

        place = guest->socket < 0 || guest->number < place->number ? guest : place;
    }
    if (place->socket >= 0) {
        (void)shutdown(place->socket, SHUT_RDWR); // Its thread closes the connection.
        close(place->socket);
    }
    *place = (struct guest){fcntl(socket, F_DUPFD_CLOEXEC, 0), number};
    pthread_mutex_unlock(&reception->mutex);
    return number;
}

void reception_admit(struct reception_arrival *arrival)
{
    struct reception *reception = arrival->reception;

    pthread_mutex_lock(&reception->mutex);
    for (size_t i = 0; i < RECEPTION_GUESTS_MAX; i++) {
        struct guest *guest = &reception->guests[i];

        if (guest->number == arrival->number && guest->socket >= 0) {
            close(guest->socket);
            guest->socket = -1;
        }
    }
    pthread_mutex_unlock(&reception->mutex);
}

// -- Connections -------------------------------------------------------------------------------

static void receive(struct reception_arrival *arrival)
{
    const struct reception_options *given = &arrival->reception->given;
    struct tls *tls = NULL;

    if (tls_open(given->context, TLS_SERVER, arrival->socket, RECEPTION_HANDSHAKE_MS, &tls) ==
        TAPML_OK) {
        given->arrive(given->user, arrival, tls);
    } else {
        log_line(LOG_INFO, "a connection was dropped: %s", status_message());
    }
    reception_admit(arrival);
}

static void *receive_in_thread(void *argument)
{
    struct reception_arrival *arrival = argument;
    struct reception *reception = arrival->reception;

    receive(arrival);
    alloc_free(arrival);
    pthread_mutex_lock(&reception->mutex);
    reception->thread_count--;
    pthread_cond_signal(&reception->is_changed);
    pthread_mutex_unlock(&reception->mutex);
    return NULL;
}

static void welcome(struct reception *reception, int socket)
{
    struct reception_arrival *arrival = alloc_new(sizeof(*arrival));
    pthread_t thread;

    if (arrival == NULL) {
        close(socket);
        return;
    }
    *arrival = (struct reception_arrival){reception, socket, seat_guest(reception, socket)};
    pthread_mutex_lock(&reception->mutex);
    reception->thread_count++;
    pthread_mutex_unlock(&reception->mutex);
    if (pthread_create(&thread, NULL, receive_in_thread, arrival) == 0) {
        (void)pthread_detach(thread);
        return;
    }
    log_line(LOG_WARNING, "no thread for a connection, which is dropped");
    reception_admit(arrival);
    pthread_mutex_lock(&reception->mutex);
    reception->thread_count--;
    pthread_mutex_unlock(&reception->mutex);
    close(socket);
    alloc_free(arrival);
}

static tapml_status accept_all(struct reception *reception, int stop)
{
    struct pollfd ends[] = {{.fd = reception->listening, .events = POLLIN},
                            {.fd = stop, .events = POLLIN}};

    for (;;) {
        if (poll(ends, 2, -1) < 0) {
            if (errno != EINTR) {
                return status_fail(TAPML_UNAVAILABLE, "waiting for connections: %s",
                                   strerror(errno));
            }
            continue;
        }
        if (ends[1].revents != 0) {
            return TAPML_OK;
        }
        const int socket = accept4(reception->listening, NULL, NULL, SOCK_CLOEXEC);

        if (socket >= 0) {
            address_set_up(socket);
            welcome(reception, socket);
        } else if (errno == EMFILE || errno == ENFILE) {
            (void)poll(NULL, 0, 100); // Until some connection has ended.
        }
    }
}

// -- The whole ---------------------------------------------------------------------------------

// Drops the guests, and waits for the threads.
static void end_all(struct reception *reception)
{
    if (reception->given.end != NULL) {
        reception->given.end(reception->given.user);
    }
    pthread_mutex_lock(&reception->mutex);
    for (size_t i = 0; i < RECEPTION_GUESTS_MAX; i++) {
        if (reception->guests[i].socket >= 0) {
            (void)shutdown(reception->guests[i].socket, SHUT_RDWR);
        }
    }
    while (reception->thread_count > 0) {
        pthread_cond_wait(&reception->is_changed, &reception->mutex);
    }
    pthread_mutex_unlock(&reception->mutex);
}

tapml_status reception_run(struct reception *reception, int stop)
{
    const tapml_status status = accept_all(reception, stop);

    close(reception->listening);
    reception->listening = -1;
    end_all(reception);
    return status;
}

tapml_status reception_open(const struct reception_options *options,
                            struct reception **out_reception)
{
    struct reception *reception = NULL;
    struct address address;
    unsigned port = 0;
    int listening = -1;

    TAPML_TRY(address_parse(options->address, &address));
    TAPML_TRY(address_listen(&address, &listening, &port));
    (void)fcntl(listening, F_SETFL, O_NONBLOCK); // One that gave up meanwhile is not waited for.
    reception = alloc_new(sizeof(*reception));
    if (reception == NULL) {
        close(listening);
        return status_no_memory();
    }
    reception->given = *options;
    reception->listening = listening;
    reception->port = port;
    (void)pthread_mutex_init(&reception->mutex, NULL);
    (void)pthread_cond_init(&reception->is_changed, NULL);
    for (size_t i = 0; i < RECEPTION_GUESTS_MAX; i++) {
        reception->guests[i].socket = -1;
    }
    *out_reception = reception;
    return TAPML_OK;
}

void reception_close(struct reception *reception)
{
    if (reception == NULL) {
        return;
    }
    if (reception->listening >= 0) {
        close(reception->listening);
    }
    (void)pthread_cond_destroy(&reception->is_changed);
    (void)pthread_mutex_destroy(&reception->mutex);
    alloc_free(reception);
}

unsigned reception_port(const struct reception *reception)
{
    return reception->port;
}
