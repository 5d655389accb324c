// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "far_backend.h"
#include "remote/address.h"
#include "remote/gateway.h"
#include "remote/reception.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

static struct far_machine machine;

static void setup(void)
{
    far_machine_open(&machine);
    far_machine_start(&machine);
}

static void teardown(void)
{
    far_machine_close(&machine);
}

TestSuite(gateway, .init = setup, .fini = teardown);

// A socket to the gateway itself.
static int reach(void)
{
    struct address address = {.host = "127.0.0.1"};
    int socket = -1;

    (void)snprintf(address.port, sizeof(address.port), "%u", atomic_load(&machine.port) % 65536u);
    PAIRED_MUST(address_connect(&address, PAIRED_MS, &socket));
    return socket;
}

static tapml_status greet(struct paired_side *side,
                          const struct greeting *greeting,
                          struct greeting_answer *out_answer,
                          struct tls **out_tls)
{
    struct tls *tls = NULL;
    tapml_status status = tls_open(side->context, TLS_CLIENT, reach(), PAIRED_MS, &tls);

    status = status == TAPML_OK ? greeting_send(tls, greeting) : status;
    status = status == TAPML_OK ? greeting_receive_answer(tls, out_answer) : status;
    if (status != TAPML_OK) {
        tls_close(tls);
        tls = NULL;
    }
    *out_tls = tls;
    return status;
}

static struct paired_side *host(void)
{
    return &machine.paired.sides[PAIRED_HOST];
}

static struct greeting_answer begin_session(struct tls **out_tls)
{
    const struct greeting greeting = greeting_of_build();
    struct greeting_answer answer;

    PAIRED_MUST(greet(host(), &greeting, &answer, out_tls));
    cr_assert_eq(answer.state, GREETING_NEW);
    cr_assert_not(greeting_session_is_none(&answer.session));
    return answer;
}

Test(gateway, begins_a_session_and_goes_on_with_it)
{
    struct greeting greeting = greeting_of_build();
    struct greeting_answer answer;
    struct tls *first = NULL, *second = NULL, *other = NULL;

    greeting.session = begin_session(&first).session;
    PAIRED_MUST(greet(host(), &greeting, &answer, &second));
    cr_assert_eq(answer.state, GREETING_RESUMED);
    cr_assert(greeting_session_equal(&answer.session, &greeting.session));
    answer = begin_session(&other);
    cr_assert_not(greeting_session_equal(&answer.session, &greeting.session));
    tls_close(first);
    tls_close(second);
    tls_close(other);
}

static void expect_nothing_known(struct paired_side *side, const struct greeting_session *session)
{
    struct greeting greeting = greeting_of_build();
    struct greeting_answer answer;
    struct tls *tls = NULL;

    greeting.session = *session;
    PAIRED_MUST(greet(side, &greeting, &answer, &tls));
    cr_assert_eq(answer.state, GREETING_NEW);
    cr_assert(greeting_session_is_none(&answer.session));
    tls_close(tls);
}

// A machine that is paired, too, has found out the number of a session.
Test(gateway, keeps_the_sessions_of_hosts_apart)
{
    struct paired_side stranger = {.takes = host()->takes};
    struct tls *tls = NULL;
    struct greeting_session guess = {{1, 2, 3}};
    const struct greeting_answer answer = begin_session(&tls);

    paired_open_side(&stranger);
    PAIRED_MUST(peers_add(machine.paired.sides[PAIRED_WORKER].scratch.folder, "stranger",
                          identity_hash(stranger.identity)));
    expect_nothing_known(host(), &guess);
    expect_nothing_known(&stranger, &answer.session);
    tls_close(tls);
    paired_close_side(&stranger);
}

Test(gateway, says_nothing_to_a_key_that_is_not_paired)
{
    const struct greeting greeting = greeting_of_build();
    struct paired_side stranger = {.takes = host()->takes};
    struct greeting_answer answer;
    struct tls *tls = NULL;

    paired_open_side(&stranger);
    cr_assert_eq(greet(&stranger, &greeting, &answer, &tls), TAPML_UNAVAILABLE);
    paired_close_side(&stranger);
    // Pairing counts at once, and so does its end.
    begin_session(&tls);
    tls_close(tls);
    PAIRED_MUST(peers_remove(machine.paired.sides[PAIRED_WORKER].scratch.folder, "host"));
    cr_assert_eq(greet(host(), &greeting, &answer, &tls), TAPML_UNAVAILABLE);
}

Test(gateway, takes_nobody_where_the_peers_cannot_be_read)
{
    const struct greeting greeting = greeting_of_build();
    struct greeting_answer answer;
    struct tls *tls = NULL;

    (void)scratch_text(&machine.paired.sides[PAIRED_WORKER].scratch, "peers.ini", "[peer\n");
    cr_assert_eq(greet(host(), &greeting, &answer, &tls), TAPML_UNAVAILABLE);
}

Test(gateway, refuses_another_version_with_a_sentence)
{
    struct greeting greeting = {.version_least = 600, .version_most = 700};
    struct greeting_answer answer;
    struct tls *tls = NULL;
    char byte;
    size_t size = 0;

    PAIRED_MUST(greet(host(), &greeting, &answer, &tls));
    cr_assert_eq(answer.state, GREETING_REFUSED);
    cr_assert_not_null(strstr(answer.text, "of the wire, you speak 600 to 700"), "%s", answer.text);
    (void)poll(&(struct pollfd){.fd = tls_socket(tls), .events = POLLIN}, 1, 5000);
    cr_assert_eq(tls_read(tls, &byte, 1, &size), TAPML_UNAVAILABLE, "it is closed");
    tls_close(tls);
}

Test(gateway, drops_what_does_not_greet)
{
    struct tls *tls = NULL;
    char garbage[296] = "GET / HTTP/1.1";
    size_t size = 0;

    PAIRED_MUST(tls_open(host()->context, TLS_CLIENT, reach(), PAIRED_MS, &tls));
    PAIRED_MUST(tls_write(tls, garbage, sizeof(garbage), &size));
    (void)poll(&(struct pollfd){.fd = tls_socket(tls), .events = POLLIN}, 1, 5000);
    cr_assert_eq(tls_read(tls, garbage, sizeof(garbage), &size), TAPML_UNAVAILABLE);
    tls_close(tls);
    begin_session(&tls);
    tls_close(tls);
}

// Connections that say nothing do not keep a host out.
Test(gateway, has_room_for_a_host_among_many_that_are_silent)
{
    enum { COUNT = RECEPTION_GUESTS_MAX + 20 };
    int sockets[COUNT];
    struct tls *tls = NULL;
    char byte;

    for (int i = 0; i < COUNT; i++) {
        sockets[i] = reach();
    }
    begin_session(&tls);
    tls_close(tls);
    // The oldest ones gave way; the last ones may still greet.
    (void)poll(&(struct pollfd){.fd = sockets[0], .events = POLLIN}, 1, 5000);
    cr_assert_leq(recv(sockets[0], &byte, 1, MSG_DONTWAIT), 0);
    cr_assert_neq(errno, EAGAIN);
    cr_assert_eq(recv(sockets[COUNT - 1], &byte, 1, MSG_DONTWAIT), -1);
    cr_assert_eq(errno, EAGAIN);
    for (int i = 0; i < COUNT; i++) {
        close(sockets[i]);
    }
}

Test(gateway, says_that_it_has_as_many_sessions_as_it_may)
{
    const struct greeting greeting = greeting_of_build();
    struct greeting_answer answer;
    struct tls *tls[GATEWAY_SESSIONS_MAX], *more = NULL;

    for (int i = 0; i < GATEWAY_SESSIONS_MAX; i++) {
        begin_session(&tls[i]);
    }
    PAIRED_MUST(greet(host(), &greeting, &answer, &more));
    cr_assert_eq(answer.state, GREETING_REFUSED);
    cr_assert_not_null(strstr(answer.text, "sessions"), "%s", answer.text);
    tls_close(more);
    for (int i = 0; i < GATEWAY_SESSIONS_MAX; i++) {
        tls_close(tls[i]);
    }
}

// A host that was killed comes back: what it had is given back before it begins anew.
Test(gateway, replaces_a_session_that_has_no_connection)
{
    struct greeting greeting = greeting_of_build();
    struct tls *first = NULL, *second = NULL, *third = NULL;
    struct greeting_answer answer;

    greeting.session = begin_session(&first).session;
    tls_close(first);
    // Until its loss was noticed: a session that has a connection is another run's.
    for (answer.state = GREETING_RESUMED; answer.state == GREETING_RESUMED;) {
        begin_session(&second);
        tls_close(second);
        PAIRED_MUST(greet(host(), &greeting, &answer, &third));
        tls_close(third);
    }
    cr_assert_eq(answer.state, GREETING_NEW);
    cr_assert(greeting_session_is_none(&answer.session), "nothing is known of it");
}

// Those of another key stay, and so do those that have a connection.
Test(gateway, replaces_no_other_session)
{
    struct paired_side other = {.takes = host()->takes};
    struct greeting greeting = greeting_of_build(), others = greeting;
    struct tls *tls[4];
    struct greeting_answer answer;

    paired_open_side(&other);
    PAIRED_MUST(peers_add(machine.paired.sides[PAIRED_WORKER].scratch.folder, "other",
                          identity_hash(other.identity)));
    PAIRED_MUST(greet(&other, &others, &answer, &tls[0]));
    others.session = answer.session;
    tls_close(tls[0]);
    greeting.session = begin_session(&tls[0]).session;
    begin_session(&tls[1]);
    PAIRED_MUST(greet(host(), &greeting, &answer, &tls[2]));
    cr_assert_eq(answer.state, GREETING_RESUMED);
    PAIRED_MUST(greet(&other, &others, &answer, &tls[3]));
    cr_assert_eq(answer.state, GREETING_RESUMED);
    for (int i = 0; i < 4; i++) {
        tls_close(tls[i]);
    }
    paired_close_side(&other);
}

static void let_be(int signal)
{
    (void)signal;
}

// A signal that does nothing is no connection.
Test(gateway, stops_behind_a_signal, .timeout = 20)
{
    const struct sigaction action = {.sa_handler = let_be};
    const uint64_t begin_ns = clock_now_ns();

    cr_assert_eq(sigaction(SIGUSR1, &action, NULL), 0);
    (void)poll(NULL, 0, 50);
    cr_assert_eq(pthread_kill(machine.thread, SIGUSR1), 0);
    (void)poll(NULL, 0, 50);
    far_machine_stop(&machine);
    cr_assert_lt(clock_now_ns() - begin_ns, 5 * second_ns);
}

Test(gateway, stops_with_guests_and_sessions_at_once)
{
    struct tls *tls = NULL;
    const int silent = reach();
    const uint64_t begin_ns = clock_now_ns();
    char byte;
    size_t size = 0;

    begin_session(&tls);
    far_machine_stop(&machine);
    cr_assert_lt(clock_now_ns() - begin_ns, 5 * second_ns);
    cr_assert_leq(recv(silent, &byte, 1, 0), 0);
    tapml_status status = TAPML_OK;

    for (int i = 0; i < 10 && status == TAPML_OK; i++) {
        (void)poll(&(struct pollfd){.fd = tls_socket(tls), .events = POLLIN}, 1, 1000);
        status = tls_read(tls, &byte, 1, &size);
    }
    cr_assert_eq(status, TAPML_UNAVAILABLE);
    tls_close(tls);
    close(silent);
}

Test(gateway, says_where_it_cannot_listen)
{
    char address[64];

    (void)snprintf(address, sizeof(address), "127.0.0.1:%u", atomic_load(&machine.port));
    const struct gateway_options options = {
        .address = address, .folder = host()->scratch.folder, .caches = machine.caches.folder};

    cr_assert_eq(gateway_run(&options, -1), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "cannot listen at 127.0.0.1:"), "%s",
                       status_message());
    cr_assert_eq(
        gateway_run(&(struct gateway_options){.address = "box", .folder = options.folder}, -1),
        TAPML_INVALID);
    const char *const dials[] = {"box:7700"};

    cr_assert_eq(
        gateway_run(
            &(struct gateway_options){.dials = dials, .dial_count = 1, .folder = options.folder},
            -1),
        TAPML_INVALID);
}
