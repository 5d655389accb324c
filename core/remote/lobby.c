// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/lobby.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "remote/address.h"
#include "remote/peers.h"
#include "remote/reception.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { CAME, STOP }; // Descriptors of events.
enum { MILLISECOND_NS = 1000000 };

struct lobby {
    char *address, *folder;
    char own[ADDRESS_HOST_BYTES + ADDRESS_PORT_BYTES + 4]; // Where it listens.
    struct identity *identity;
    struct tls_context *context;
    int events[2];               // CAME can be read when a worker has come.
    struct reception *reception; // NULL: it is closed.
    pthread_t thread;

    pthread_mutex_t mutex; // Of what follows.
    struct tls *waiting[LOBBY_WAITING_MAX];
    size_t count;
    int saw_stranger, has_warned; // Somebody has come whose key is not paired.
    int saw_another;              // A worker has come that is not the one that is wanted.
};

// -- Who comes ---------------------------------------------------------------------------------

static int accepts(void *user, const struct identity_hash *key)
{
    struct lobby *lobby = user;

    if (peers_know(lobby->folder, key, NULL)) {
        return 1;
    }
    pthread_mutex_lock(&lobby->mutex);
    const int is_first = !lobby->has_warned;

    lobby->saw_stranger = lobby->has_warned = 1;
    pthread_mutex_unlock(&lobby->mutex);
    if (is_first) {
        log_line(LOG_WARNING,
                 "what has dialled %s shows a key that is not paired: 'tapml-host pair --listen "
                 "%s' does that",
                 lobby->own, lobby->own);
    }
    return 0;
}

// Whoever waits says nothing: one that can be read has gone.
static int has_gone(const struct tls *tls)
{
    return poll(&(struct pollfd){.fd = tls_socket(tls), .events = POLLIN}, 1, 0) != 0;
}

static void remove_at(struct lobby *lobby, size_t index)
{
    lobby->count--;
    memmove(lobby->waiting + index, lobby->waiting + index + 1,
            (lobby->count - index) * sizeof(*lobby->waiting));
}

static void drop_gone(struct lobby *lobby)
{
    for (size_t i = lobby->count; i > 0; i--) {
        if (has_gone(lobby->waiting[i - 1])) {
            tls_close(lobby->waiting[i - 1]);
            remove_at(lobby, i - 1);
        }
    }
}

static void arrive(void *user, struct reception_arrival *arrival, struct tls *connection)
{
    struct lobby *lobby = user;

    reception_admit(arrival);
    pthread_mutex_lock(&lobby->mutex);
    drop_gone(lobby);
    const int has_room = lobby->count < LOBBY_WAITING_MAX;

    if (has_room) {
        lobby->waiting[lobby->count++] = connection;
        (void)eventfd_write(lobby->events[CAME], 1);
    }
    pthread_mutex_unlock(&lobby->mutex);
    if (!has_room) {
        tls_close(connection);
    }
}

// -- Opening and closing -----------------------------------------------------------------------

static tapml_status fill(const struct lobby_options *options, struct lobby *lobby)
{
    struct address address;
    struct peers peers;

    lobby->address = alloc_text(options->address);
    lobby->folder = alloc_text(options->folder);
    if (lobby->address == NULL || lobby->folder == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(address_parse(options->address, &address));
    TAPML_TRY(identity_open(lobby->folder, &lobby->identity));
    TAPML_TRY(peers_load(lobby->folder, &peers)); // What is wrong with the file is said now.
    peers_release(&peers);
    TAPML_TRY(tls_context_create(lobby->identity, accepts, lobby, &lobby->context));
    for (int i = 0; i < 2; i++) {
        lobby->events[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    }
    return lobby->events[CAME] >= 0 && lobby->events[STOP] >= 0
               ? TAPML_OK
               : status_fail(TAPML_UNAVAILABLE, "no descriptor to listen with: %s",
                             strerror(errno));
}

tapml_status lobby_create(const struct lobby_options *options, struct lobby **out_lobby)
{
    struct lobby *lobby = alloc_new(sizeof(*lobby));

    if (lobby == NULL) {
        return status_no_memory();
    }
    lobby->events[CAME] = lobby->events[STOP] = -1;
    (void)pthread_mutex_init(&lobby->mutex, NULL);
    const tapml_status status = fill(options, lobby);

    if (status != TAPML_OK) {
        lobby_destroy(lobby);
        return status;
    }
    *out_lobby = lobby;
    return TAPML_OK;
}

void lobby_destroy(struct lobby *lobby)
{
    if (lobby == NULL) {
        return;
    }
    lobby_close(lobby);
    for (int i = 0; i < 2; i++) {
        if (lobby->events[i] >= 0) {
            close(lobby->events[i]);
        }
    }
    tls_context_destroy(lobby->context);
    identity_release(lobby->identity);
    (void)pthread_mutex_destroy(&lobby->mutex);
    alloc_free(lobby->address);
    alloc_free(lobby->folder);
    alloc_free(lobby);
}

static void *receive_all(void *user)
{
    struct lobby *lobby = user;

    if (reception_run(lobby->reception, lobby->events[STOP]) != TAPML_OK) {
        log_line(LOG_WARNING, "%s", status_message());
    }
    return NULL;
}

tapml_status lobby_open(struct lobby *lobby)
{
    const struct reception_options options = {
        .address = lobby->address, .context = lobby->context, .arrive = arrive, .user = lobby};
    struct reception *reception = NULL;
    eventfd_t count = 0;

    if (lobby_is_open(lobby)) {
        return TAPML_OK;
    }
    TAPML_TRY(reception_open(&options, &reception));
    (void)eventfd_read(lobby->events[STOP], &count);
    lobby->saw_stranger = lobby->saw_another = 0;
    lobby->reception = reception;
    (void)snprintf(lobby->own, sizeof(lobby->own), "%.*s:%u",
                   (int)(strrchr(lobby->address, ':') - lobby->address), lobby->address,
                   lobby_port(lobby));
    if (pthread_create(&lobby->thread, NULL, receive_all, lobby) != 0) {
        lobby->reception = NULL;
        reception_close(reception);
        return status_fail(TAPML_UNAVAILABLE, "no thread to listen at %s", lobby->address);
    }
    return TAPML_OK;
}

void lobby_close(struct lobby *lobby)
{
    if (!lobby_is_open(lobby)) {
        return;
    }
    (void)eventfd_write(lobby->events[STOP], 1);
    (void)pthread_join(lobby->thread, NULL);
    reception_close(lobby->reception);
    lobby->reception = NULL;
    while (lobby->count > 0) { // No other thread is left.
        tls_close(lobby->waiting[--lobby->count]);
    }
}

int lobby_is_open(const struct lobby *lobby)
{
    return lobby->reception != NULL;
}

unsigned lobby_port(const struct lobby *lobby)
{
    return reception_port(lobby->reception);
}

const char *lobby_address(const struct lobby *lobby)
{
    return lobby_is_open(lobby) ? lobby->own : lobby->address;
}

// -- Taking ------------------------------------------------------------------------------------

static struct tls *take(struct lobby *lobby, const struct identity_hash *key)
{
    struct tls *taken = NULL;
    eventfd_t count = 0;

    pthread_mutex_lock(&lobby->mutex);
    (void)eventfd_read(lobby->events[CAME], &count);
    drop_gone(lobby);
    lobby->saw_another = lobby->saw_another || lobby->count > 0;
    for (size_t i = 0; i < lobby->count && taken == NULL; i++) {
        if (key == NULL || identity_equal(key, tls_peer(lobby->waiting[i]))) {
            taken = lobby->waiting[i];
            remove_at(lobby, i);
        }
    }
    pthread_mutex_unlock(&lobby->mutex);
    return taken;
}

static tapml_status explain(struct lobby *lobby)
{
    pthread_mutex_lock(&lobby->mutex);
    const char *who = lobby->saw_another    ? "another machine has dialled"
                      : lobby->saw_stranger ? "nobody but keys that are not paired has dialled"
                                            : "no worker has dialled";

    pthread_mutex_unlock(&lobby->mutex);
    return status_fail(TAPML_UNAVAILABLE, "%s %s", who, lobby->address);
}

tapml_status lobby_take(struct lobby *lobby,
                        const struct identity_hash *key,
                        int timeout_ms,
                        struct tls **out_tls)
{
    const uint64_t end_ns = clock_now_ns() + (uint64_t)timeout_ms * MILLISECOND_NS;

    for (;;) {
        const uint64_t now_ns = clock_now_ns();

        *out_tls = take(lobby, key);
        if (*out_tls != NULL) {
            return TAPML_OK;
        }
        if (now_ns >= end_ns) {
            return explain(lobby);
        }
        (void)poll(&(struct pollfd){.fd = lobby->events[CAME], .events = POLLIN}, 1,
                   (int)((end_ns - now_ns) / MILLISECOND_NS) + 1);
    }
}
