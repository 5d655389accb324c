// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/scratch.h"
#include "remote/pairing.h"
#include "remote/peers.h"

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

// The machine that waits, in a thread, and the one that calls.
struct person {
    struct scratch scratch;
    int agrees;
    atomic_uint port;
    char code[IDENTITY_CODE_TEXT];
    char peer[PAIRING_NAME_BYTES];
    const char *name;
    tapml_status status;
    char message[256];
    pthread_t thread;
};

static struct person waiting, calling;

static void setup(void)
{
    scratch_make(&waiting.scratch);
    scratch_make(&calling.scratch);
    waiting.agrees = calling.agrees = 1;
}

static void teardown(void)
{
    scratch_remove(&waiting.scratch);
    scratch_remove(&calling.scratch);
}

TestSuite(pairing, .init = setup, .fini = teardown);

static int agrees(void *user, const char *code)
{
    struct person *person = user;

    (void)snprintf(person->code, sizeof(person->code), "%s", code);
    return person->agrees;
}

static void note_port(void *user, unsigned port)
{
    atomic_store(&((struct person *)user)->port, port);
}

static struct pairing_options options_of(struct person *person)
{
    return (struct pairing_options){.folder = person->scratch.folder,
                                    .name = person->name,
                                    .agrees = agrees,
                                    .ready = note_port,
                                    .user = person};
}

static void *wait_for_one(void *user)
{
    struct person *person = user;
    const struct pairing_options options = options_of(person);

    person->status = pairing_wait("127.0.0.1:0", &options, person->peer);
    (void)snprintf(person->message, sizeof(person->message), "%s",
                   person->status != TAPML_OK ? status_message() : "");
    return NULL;
}

static unsigned begin_to_wait(void)
{
    cr_assert_eq(pthread_create(&waiting.thread, NULL, wait_for_one, &waiting), 0);
    while (atomic_load(&waiting.port) == 0) {
        (void)poll(NULL, 0, 1);
    }
    return atomic_load(&waiting.port);
}

static tapml_status call(unsigned port)
{
    const struct pairing_options options = options_of(&calling);
    char url[64];

    (void)snprintf(url, sizeof(url), "tapml://127.0.0.1:%u", port);
    const tapml_status status = pairing_call(url, &options, calling.peer);

    (void)snprintf(calling.message, sizeof(calling.message), "%s",
                   status != TAPML_OK ? status_message() : "");
    return status;
}

static void expect_peer(const struct person *person, const struct person *other, int is_there)
{
    struct identity *identity = NULL;
    struct peers peers = {.count = 0};

    MUST(identity_open(other->scratch.folder, &identity));
    MUST(peers_load(person->scratch.folder, &peers));
    cr_assert_eq(peers.count, (size_t)is_there);
    const struct peer *peer = peers_find_key(&peers, identity_hash(identity));

    cr_assert_eq(peer != NULL, is_there);
    cr_assert(peer == NULL || strcmp(peer->name, person->peer) == 0);
    peers_release(&peers);
    identity_release(identity);
}

Test(pairing, makes_each_the_peer_of_the_other)
{
    calling.name = "box";
    const unsigned port = begin_to_wait();

    MUST(call(port));
    cr_assert_eq(pthread_join(waiting.thread, NULL), 0);
    cr_assert_eq(waiting.status, TAPML_OK, "%s", waiting.message);
    cr_assert_str_eq(waiting.code, calling.code);
    cr_assert_eq(strlen(waiting.code), IDENTITY_CODE_TEXT - 1);
    cr_assert_str_eq(calling.peer, "box");
    cr_assert_eq(strncmp(waiting.peer, "peer-", 5), 0, "%s", waiting.peer);
    expect_peer(&calling, &waiting, 1);
    expect_peer(&waiting, &calling, 1);
}

// Each side keeps what its own person has agreed to.
Test(pairing, is_up_to_each_person)
{
    waiting.agrees = 0;
    const unsigned port = begin_to_wait();

    MUST(call(port));
    cr_assert_eq(pthread_join(waiting.thread, NULL), 0);
    cr_assert_eq(waiting.status, TAPML_CANCELLED);
    cr_assert_str_eq(waiting.message, "the codes were not confirmed: nothing is paired");
    expect_peer(&calling, &waiting, 1);
    expect_peer(&waiting, &calling, 0);
}

// Somebody who connects and says something else does not use the waiting up.
Test(pairing, waits_on_behind_what_is_no_machine)
{
    const unsigned port = begin_to_wait();
    const struct sockaddr_in name = {.sin_family = AF_INET,
                                     .sin_port = htons((uint16_t)port),
                                     .sin_addr = {htonl(INADDR_LOOPBACK)}};

    for (int i = 0; i < 3; i++) {
        const int socket_ = socket(AF_INET, SOCK_STREAM, 0);

        cr_assert_eq(connect(socket_, (const struct sockaddr *)&name, sizeof(name)), 0);
        cr_assert_eq(send(socket_, "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL), 18);
        close(socket_);
    }
    MUST(call(port));
    cr_assert_eq(pthread_join(waiting.thread, NULL), 0);
    cr_assert_eq(waiting.status, TAPML_OK, "%s", waiting.message);
}

Test(pairing, refuses_the_own_key)
{
    const struct scratch kept = calling.scratch;

    calling.scratch = waiting.scratch;
    const unsigned port = begin_to_wait();

    cr_assert_eq(call(port), TAPML_INVALID);
    cr_assert_str_eq(calling.message, "the other side has this user's own key");
    cr_assert_eq(pthread_join(waiting.thread, NULL), 0);
    cr_assert_eq(waiting.status, TAPML_INVALID);
    calling.scratch = kept;
}

Test(pairing, says_what_is_wrong)
{
    const struct pairing_options options = options_of(&calling);

    cr_assert_eq(call(1), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(calling.message, "Connection refused"), "%s", calling.message);
    cr_assert_eq(pairing_call("box:1", &options, calling.peer), TAPML_INVALID);
    cr_assert_eq(pairing_wait("box", &options, calling.peer), TAPML_INVALID);
    cr_assert_eq(pairing_wait("no-such-host.invalid:1", &options, calling.peer), TAPML_UNAVAILABLE);
    (void)scratch_text(&calling.scratch, "key.pem", "none");
    cr_assert_eq(call(1), TAPML_INVALID);
}
