// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/paired.h"
#include "remote/address.h"
#include "remote/lobby.h"

#include <poll.h>

static struct paired paired;
static struct lobby *lobby;

static struct paired_side *worker(void)
{
    return &paired.sides[PAIRED_WORKER];
}

static tapml_status create(const char *address)
{
    return lobby_create(&(struct lobby_options){address, paired.sides[PAIRED_HOST].scratch.folder},
                        &lobby);
}

static void setup(void)
{
    paired_open(&paired);
}

static void teardown(void)
{
    lobby_destroy(lobby);
    paired_close(&paired);
}

TestSuite(lobby, .init = setup, .fini = teardown);

static void open_lobby(void)
{
    PAIRED_MUST(create("127.0.0.1:0"));
    PAIRED_MUST(lobby_open(lobby));
}

// As a worker that dials: it connects, and says nothing.
static struct tls *dial(struct paired_side *side)
{
    struct address address = {.host = "127.0.0.1"};
    struct tls *tls = NULL;
    int socket = -1;

    (void)snprintf(address.port, sizeof(address.port), "%u", lobby_port(lobby) % 65536u);
    PAIRED_MUST(address_connect(&address, PAIRED_MS, &socket));
    PAIRED_MUST(tls_open(side->context, TLS_CLIENT, socket, PAIRED_MS, &tls));
    return tls;
}

// Whoever has come, as late as it may be.
static struct tls *take(const struct identity_hash *key)
{
    struct tls *tls = NULL;

    PAIRED_MUST(lobby_take(lobby, key, PAIRED_MS, &tls));
    return tls;
}

static void await_end(struct tls *tls)
{
    char byte;
    size_t size = 0;
    tapml_status status = TAPML_OK;

    while (status == TAPML_OK) {
        (void)poll(&(struct pollfd){.fd = tls_socket(tls), .events = POLLIN}, 1, PAIRED_MS);
        status = tls_read(tls, &byte, 1, &size);
    }
    cr_assert_eq(status, TAPML_UNAVAILABLE);
}

Test(lobby, gives_a_worker_that_has_dialled)
{
    struct tls *near = NULL;

    open_lobby();
    cr_assert(lobby_is_open(lobby));
    cr_assert_eq(lobby_take(lobby, NULL, 0, &near), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "no worker has dialled 127.0.0.1:0"), "%s",
                       status_message());
    struct tls *far = dial(worker());

    near = take(NULL);
    cr_assert(identity_equal(tls_peer(near), identity_hash(worker()->identity)));
    tls_close(near);
    tls_close(far);
}

Test(lobby, tells_where_it_listens)
{
    char expected[64];

    PAIRED_MUST(create("127.0.0.1:0"));
    cr_assert_str_eq(lobby_address(lobby), "127.0.0.1:0");
    PAIRED_MUST(lobby_open(lobby));
    PAIRED_MUST(lobby_open(lobby));
    (void)snprintf(expected, sizeof(expected), "127.0.0.1:%u", lobby_port(lobby));
    cr_assert_str_eq(lobby_address(lobby), expected);
    cr_assert_neq(lobby_port(lobby), 0);
}

// The one that is wanted is given, the other one goes on waiting.
Test(lobby, keeps_several_that_wait)
{
    struct paired_side other = {.takes = *identity_hash(paired.sides[PAIRED_HOST].identity)};
    struct tls *ends[4];

    paired_open_side(&other);
    PAIRED_MUST(peers_add(paired.sides[PAIRED_HOST].scratch.folder, "other",
                          identity_hash(other.identity)));
    open_lobby();
    ends[0] = dial(&other);
    ends[1] = dial(worker());
    ends[2] = take(identity_hash(worker()->identity));
    cr_assert(identity_equal(tls_peer(ends[2]), identity_hash(worker()->identity)));
    cr_assert_eq(lobby_take(lobby, identity_hash(worker()->identity), 0, &ends[3]),
                 TAPML_UNAVAILABLE);
    ends[3] = take(NULL);
    cr_assert(identity_equal(tls_peer(ends[3]), identity_hash(other.identity)));
    for (int i = 0; i < 4; i++) {
        tls_close(ends[i]);
    }
    paired_close_side(&other);
}

Test(lobby, says_that_another_one_has_dialled)
{
    struct tls *far = NULL, *near = NULL;

    open_lobby();
    far = dial(worker());
    near = take(NULL); // It is there for certain; another one follows it.
    tls_close(near);
    tls_close(far);
    far = dial(worker());
    while (lobby_take(lobby, identity_hash(paired.sides[PAIRED_HOST].identity), 1, &near) !=
               TAPML_OK &&
           strstr(status_message(), "another machine has dialled") == NULL) {
        (void)poll(NULL, 0, 1);
    }
    cr_assert_null(near);
    tls_close(far);
}

Test(lobby, forgets_who_has_gone)
{
    struct tls *far = NULL, *near = NULL;

    open_lobby();
    far = dial(worker());
    tls_close(far);
    far = dial(worker());
    near = take(NULL);
    cr_assert_eq(poll(&(struct pollfd){.fd = tls_socket(near), .events = POLLIN}, 1, 0), 0,
                 "it is the one that is there");
    tls_close(near);
    tls_close(far);
}

// It is not answered; whoever waits for it learns why nobody comes.
Test(lobby, takes_no_key_that_is_not_paired)
{
    struct tls *far = NULL, *near = NULL;

    open_lobby();
    PAIRED_MUST(peers_remove(paired.sides[PAIRED_HOST].scratch.folder, "worker"));
    far = dial(worker());
    await_end(far);
    cr_assert(tls_was_refused(far));
    tls_close(far);
    cr_assert_eq(lobby_take(lobby, NULL, 0, &near), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "nobody but keys that are not paired has dialled"),
                       "%s", status_message());
    // A pairing counts at once.
    PAIRED_MUST(peers_add(paired.sides[PAIRED_HOST].scratch.folder, "worker",
                          identity_hash(worker()->identity)));
    far = dial(worker());
    near = take(NULL);
    tls_close(near);
    tls_close(far);
}

Test(lobby, sends_those_away_who_are_too_many_and_all_when_it_closes)
{
    struct tls *far[LOBBY_WAITING_MAX + 1];

    open_lobby();
    for (int i = 0; i <= LOBBY_WAITING_MAX; i++) {
        far[i] = dial(worker());
    }
    // Whichever of them came last.
    struct pollfd ends[LOBBY_WAITING_MAX + 1];

    for (int i = 0; i <= LOBBY_WAITING_MAX; i++) {
        ends[i] = (struct pollfd){.fd = tls_socket(far[i]), .events = POLLIN};
    }
    cr_assert_eq(poll(ends, LOBBY_WAITING_MAX + 1, PAIRED_MS), 1);
    lobby_close(lobby);
    cr_assert_not(lobby_is_open(lobby));
    for (int i = 0; i <= LOBBY_WAITING_MAX; i++) {
        await_end(far[i]);
        tls_close(far[i]);
    }
    lobby_close(lobby);
    PAIRED_MUST(lobby_open(lobby));
}

Test(lobby, needs_an_address_that_is_free_and_keys)
{
    char address[64];

    open_lobby();
    struct lobby *first = lobby;

    (void)snprintf(address, sizeof(address), "127.0.0.1:%u", lobby_port(first));
    PAIRED_MUST(create(address));
    cr_assert_eq(lobby_open(lobby), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "cannot listen at"), "%s", status_message());
    lobby_close(first);
    PAIRED_MUST(lobby_open(lobby));
    lobby_destroy(first);
    lobby_destroy(lobby);
    lobby = NULL;
    cr_assert_eq(create("box"), TAPML_INVALID);
    (void)scratch_text(&paired.sides[PAIRED_HOST].scratch, "peers.ini", "[peer\n");
    cr_assert_eq(create("127.0.0.1:0"), TAPML_INVALID);
    cr_assert_null(lobby);
}

Test(lobby, survives_a_lack_of_memory)
{
    SCRATCH_SWEEP(create("127.0.0.1:0"));
}
