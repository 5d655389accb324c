// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "harness/paired.h"
#include "remote/address.h"
#include "remote/caller.h"
#include "remote/greeting.h"

#include <poll.h>
#include <stdatomic.h>

static struct paired paired;
static struct caller *caller;
static struct stream *stream;
static char url[64];
static int listening;

static void setup(void)
{
    struct address address;
    unsigned port = 0;

    paired_open(&paired);
    PAIRED_MUST(address_parse("127.0.0.1:0", &address));
    PAIRED_MUST(address_listen(&address, &listening, &port));
    (void)snprintf(url, sizeof(url), "tapml://127.0.0.1:%u", port);
    PAIRED_MUST(stream_create(&stream));
}

static void teardown(void)
{
    stream_destroy(stream);
    caller_destroy(caller);
    close(listening);
    paired_close(&paired);
}

TestSuite(caller, .init = setup, .fini = teardown);

static tapml_status create(const char *where)
{
    return caller_create(
        &(struct caller_options){.url = where, .folder = paired.sides[PAIRED_HOST].scratch.folder},
        &caller);
}

// The other side of one connection, in a thread.
struct callee {
    struct greeting_answer answer;
    int is_silent; // It closes the connection without an answer.
    struct greeting greeting;
    struct tls *tls;
    tapml_status status;
    atomic_int was_called;
    pthread_t thread;
};

static void *answer_one(void *user)
{
    struct callee *callee = user;
    const int socket = accept(listening, NULL, NULL);

    atomic_store(&callee->was_called, 1);
    callee->status =
        tls_open(paired.sides[PAIRED_WORKER].context, TLS_SERVER, socket, PAIRED_MS, &callee->tls);
    if (callee->status == TAPML_OK) {
        callee->status = greeting_receive(callee->tls, &callee->greeting);
    }
    if (callee->status == TAPML_OK && !callee->is_silent) {
        callee->status = greeting_send_answer(callee->tls, &callee->answer);
    }
    if (callee->is_silent) {
        tls_close(callee->tls);
        callee->tls = NULL;
    }
    return NULL;
}

static enum caller_result try_with(struct callee *callee)
{
    cr_assert_eq(pthread_create(&callee->thread, NULL, answer_one, callee), 0);
    const enum caller_result result = caller_try(caller, stream);

    cr_assert_eq(pthread_join(callee->thread, NULL), 0);
    return result;
}

Test(caller, needs_an_address_and_keys)
{
    cr_assert_eq(create("there:7070"), TAPML_INVALID);
    cr_assert_null(caller);
    (void)scratch_text(&paired.sides[PAIRED_HOST].scratch, "peers.ini", "[peer.x]\nkey = 1\n");
    cr_assert_eq(create(url), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "peers.ini:2"), "%s", status_message());
    cr_assert_null(caller);
    caller_destroy(NULL);
}

Test(caller, goes_on_with_its_session)
{
    struct callee first = {.answer = {.state = GREETING_NEW}};
    struct callee second = {.answer = {.state = GREETING_RESUMED}};

    PAIRED_MUST(create(url));
    cr_assert_str_eq(caller_where(caller), url);
    PAIRED_MUST(greeting_session_make(&first.answer.session));
    second.answer.session = first.answer.session;
    second.answer.received = 5;
    cr_assert_eq(try_with(&first), CALLER_CONNECTED, "%s", status_message());
    cr_assert(greeting_session_is_none(&first.greeting.session));
    cr_assert_eq(first.greeting.received, 0);
    cr_assert_neq(greeting_choose_version(&first.greeting), 0);
    cr_assert(stream_is_attached(stream));
    PAIRED_MUST(stream_put(stream, "some bytes", 10));
    tls_close(first.tls);
    stream_detach(stream);
    cr_assert_eq(try_with(&second), CALLER_CONNECTED, "%s", status_message());
    cr_assert(greeting_session_equal(&second.greeting.session, &first.answer.session));
    cr_assert_eq(stream_backlog(stream), 5, "the rest of what it has not received");
    tls_close(second.tls);
}

Test(caller, says_that_a_session_is_gone)
{
    struct callee first = {.answer = {.state = GREETING_NEW}}, second = first, third = first;

    PAIRED_MUST(create(url));
    PAIRED_MUST(greeting_session_make(&first.answer.session));
    cr_assert_eq(try_with(&first), CALLER_CONNECTED);
    stream_detach(stream);
    tls_close(first.tls);
    cr_assert_eq(try_with(&second), CALLER_BEGAN_ANEW);
    cr_assert_not(stream_is_attached(stream));
    tls_close(second.tls);
    caller_forget_session(caller);
    cr_assert_eq(try_with(&third), CALLER_CONNECTED);
    cr_assert(greeting_session_is_none(&third.greeting.session));
    tls_close(third.tls);
}

Test(caller, is_refused_with_the_reason)
{
    struct callee refusing = {.answer = {.state = GREETING_REFUSED, .text = "it is full"}};

    PAIRED_MUST(create(url));
    cr_assert_eq(try_with(&refusing), CALLER_REFUSED);
    cr_assert_not_null(strstr(status_message(), "refuses: it is full"), "%s", status_message());
    cr_assert_not(stream_is_attached(stream));
    tls_close(refusing.tls);
}

Test(caller, refuses_a_count_that_cannot_be)
{
    struct callee lying = {.answer = {.state = GREETING_NEW, .received = 1}};

    PAIRED_MUST(create(url));
    cr_assert_eq(try_with(&lying), CALLER_REFUSED);
    cr_assert_not_null(strstr(status_message(), "are possible"), "%s", status_message());
    tls_close(lying.tls);
}

Test(caller, says_that_a_key_is_not_paired)
{
    struct callee callee = {.is_silent = 1};

    PAIRED_MUST(peers_remove(paired.sides[PAIRED_HOST].scratch.folder, "worker"));
    PAIRED_MUST(create(url));
    cr_assert_eq(try_with(&callee), CALLER_REFUSED);
    cr_assert_not_null(strstr(status_message(), "shows a key that is not paired: 'tapml-host pair"),
                       "%s", status_message());
    cr_assert_eq(callee.status, TAPML_UNAVAILABLE);
}

// Tries again and again, until the other side has been called, which may be `least_ms` after the
// beginning at the earliest.
static enum caller_result
try_until_called(struct callee *callee, uint64_t begin_ns, unsigned least_ms)
{
    enum caller_result result = CALLER_NOT_YET;

    cr_assert_eq(pthread_create(&callee->thread, NULL, answer_one, callee), 0);
    while (result == CALLER_NOT_YET && !atomic_load(&callee->was_called)) {
        (void)poll(NULL, 0, 1);
        result = caller_try(caller, stream);
    }
    cr_assert_geq(clock_now_ns() - begin_ns, least_ms * 1000000u, "it is too early");
    cr_assert_eq(pthread_join(callee->thread, NULL), 0);
    return result;
}

// Pauses that grow: 100 ms behind the first failure, 200 ms behind the second. A busy machine may
// take longer, never less.
Test(caller, tries_again_after_a_pause)
{
    struct callee silent = {.is_silent = 1}, second = silent;
    struct callee third = {.answer = {.state = GREETING_NEW}};

    PAIRED_MUST(create(url));
    const uint64_t begin_ns = clock_now_ns();

    cr_assert_eq(try_with(&silent), CALLER_NOT_YET);
    cr_assert_not_null(strstr(status_message(), "does not answer; is this user paired there?"),
                       "%s", status_message());
    cr_assert_eq(try_until_called(&second, begin_ns, 100), CALLER_NOT_YET);
    cr_assert_eq(try_until_called(&third, begin_ns, 100 + 200), CALLER_CONNECTED, "%s",
                 status_message());
    tls_close(third.tls);
}

Test(caller, does_not_wait_where_nothing_listens)
{
    const uint64_t begin_ns = clock_now_ns();

    PAIRED_MUST(create("tapml://127.0.0.1:1"));
    cr_assert_eq(caller_try(caller, stream), CALLER_NOT_YET);
    cr_assert_not_null(strstr(status_message(), "Connection refused"), "%s", status_message());
    cr_assert_lt(clock_now_ns() - begin_ns, 2000000000u);
}

// -- A worker that dials -----------------------------------------------------------------------

static tapml_status create_to_wait(void)
{
    return caller_create(
        &(struct caller_options){.listen = "127.0.0.1:0",
                                 .folder = paired.sides[PAIRED_HOST].scratch.folder},
        &caller);
}

// A worker's side of one connection, in a thread: it connects, and answers who greets.
struct dialling {
    struct callee callee;
    struct paired_side *side;
    struct address address;
};

static void *dial_one(void *user)
{
    struct dialling *dialling = user;
    struct callee *callee = &dialling->callee;
    int socket = -1;

    callee->status = address_connect(&dialling->address, PAIRED_MS, &socket);
    if (callee->status == TAPML_OK) {
        callee->status =
            tls_open(dialling->side->context, TLS_CLIENT, socket, PAIRED_MS, &callee->tls);
    }
    while (callee->status == TAPML_OK &&
           poll(&(struct pollfd){.fd = tls_socket(callee->tls), .events = POLLIN}, 1, -1) != 1) {
    }
    if (callee->status == TAPML_OK) {
        callee->status = greeting_receive(callee->tls, &callee->greeting);
    }
    if (callee->status == TAPML_OK) {
        callee->status = greeting_send_answer(callee->tls, &callee->answer);
    }
    return NULL;
}

static void begin_to_dial(struct dialling *dialling, struct paired_side *side)
{
    while (caller_listens_at(caller) == NULL) {
        cr_assert_eq(caller_try(caller, stream), CALLER_NOT_YET);
    }
    dialling->side = side;
    PAIRED_MUST(address_parse(caller_listens_at(caller), &dialling->address));
    cr_assert_eq(pthread_create(&dialling->callee.thread, NULL, dial_one, dialling), 0);
}

static enum caller_result wait_for(struct dialling *dialling)
{
    enum caller_result result = CALLER_NOT_YET;

    while (result == CALLER_NOT_YET) {
        result = caller_try(caller, stream);
    }
    cr_assert_eq(pthread_join(dialling->callee.thread, NULL), 0);
    cr_assert_eq(dialling->callee.status, TAPML_OK);
    return result;
}

Test(caller, waits_for_a_worker_and_greets_it)
{
    struct dialling first = {.callee = {.answer = {.state = GREETING_NEW}}};
    struct dialling second = {.callee = {.answer = {.state = GREETING_RESUMED}}};

    PAIRED_MUST(create_to_wait());
    cr_assert(caller_waits(caller));
    cr_assert_str_eq(caller_where(caller), "the worker that dials 127.0.0.1:0");
    cr_assert_null(caller_listens_at(caller));
    cr_assert_eq(caller_try(caller, stream), CALLER_NOT_YET);
    cr_assert_not_null(strstr(status_message(), "no worker has dialled 127.0.0.1:0"), "%s",
                       status_message());
    PAIRED_MUST(greeting_session_make(&first.callee.answer.session));
    second.callee.answer.session = first.callee.answer.session;
    begin_to_dial(&first, &paired.sides[PAIRED_WORKER]);
    cr_assert_eq(wait_for(&first), CALLER_CONNECTED, "%s", status_message());
    cr_assert(greeting_session_is_none(&first.callee.greeting.session));
    cr_assert(stream_is_attached(stream));
    cr_assert_null(caller_listens_at(caller), "it has whom it wants");
    stream_detach(stream);
    begin_to_dial(&second, &paired.sides[PAIRED_WORKER]);
    cr_assert_eq(wait_for(&second), CALLER_CONNECTED, "%s", status_message());
    cr_assert(
        greeting_session_equal(&second.callee.greeting.session, &first.callee.answer.session));
    tls_close(first.callee.tls);
    tls_close(second.callee.tls);
}

// Another worker that is paired, too, does not take the place of the first one.
Test(caller, goes_on_with_the_same_worker)
{
    struct paired_side other = {.takes = *identity_hash(paired.sides[PAIRED_HOST].identity)};
    struct dialling first = {.callee = {.answer = {.state = GREETING_NEW}}}, third = first;
    struct dialling second = first;

    paired_open_side(&other);
    PAIRED_MUST(peers_add(paired.sides[PAIRED_HOST].scratch.folder, "other",
                          identity_hash(other.identity)));
    PAIRED_MUST(create_to_wait());
    begin_to_dial(&first, &paired.sides[PAIRED_WORKER]);
    cr_assert_eq(wait_for(&first), CALLER_CONNECTED, "%s", status_message());
    stream_detach(stream);
    caller_forget_session(caller);
    begin_to_dial(&second, &other);
    while (strstr(status_message(), "another machine has dialled") == NULL) {
        cr_assert_eq(caller_try(caller, stream), CALLER_NOT_YET);
    }
    begin_to_dial(&third, &paired.sides[PAIRED_WORKER]);
    cr_assert_eq(wait_for(&third), CALLER_CONNECTED, "%s", status_message());
    cr_assert_eq(pthread_join(second.callee.thread, NULL), 0);
    cr_assert_eq(second.callee.status, TAPML_UNAVAILABLE, "it is sent away");
    tls_close(first.callee.tls);
    tls_close(second.callee.tls);
    tls_close(third.callee.tls);
    paired_close_side(&other);
}

Test(caller, tries_again_where_it_cannot_listen)
{
    struct address address;
    char where[64];
    unsigned port = 0;
    int other = -1;

    PAIRED_MUST(address_parse("127.0.0.1:0", &address));
    PAIRED_MUST(address_listen(&address, &other, &port));
    (void)snprintf(where, sizeof(where), "127.0.0.1:%u", port);
    PAIRED_MUST(
        caller_create(&(struct caller_options){.listen = where,
                                               .folder = paired.sides[PAIRED_HOST].scratch.folder},
                      &caller));
    cr_assert_eq(caller_try(caller, stream), CALLER_NOT_YET);
    cr_assert_not_null(strstr(status_message(), "cannot listen at"), "%s", status_message());
    close(other);
    while (caller_listens_at(caller) == NULL) {
        cr_assert_eq(caller_try(caller, stream), CALLER_NOT_YET);
    }
}

Test(caller, needs_an_address_to_wait_at)
{
    cr_assert_eq(
        caller_create(&(struct caller_options){.listen = "box",
                                               .folder = paired.sides[PAIRED_HOST].scratch.folder},
                      &caller),
        TAPML_INVALID);
    cr_assert_null(caller);
    SCRATCH_SWEEP(create_to_wait());
}

Test(caller, survives_a_lack_of_memory)
{
    SCRATCH_SWEEP(create(url));
}
