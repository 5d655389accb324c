// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/paired.h"
#include "remote/address.h"
#include "remote/dialer.h"

#include <poll.h>
#include <stdatomic.h>
#include <sys/eventfd.h>

// A dialer in a thread, which closes the connections that are greeted, and the host that it dials:
// a socket that listens.
static struct paired paired;
static struct dialer *dialer;
static char url[64];
static int listening, stop;
static pthread_t thread;
static atomic_int received;

static void receive(void *user, struct tls *connection, const struct greeting *greeting)
{
    cr_assert_eq(user, &paired);
    cr_assert_neq(greeting_choose_version(greeting), 0);
    cr_assert(
        identity_equal(tls_peer(connection), identity_hash(paired.sides[PAIRED_HOST].identity)));
    atomic_fetch_add(&received, 1);
    tls_close(connection);
}

static tapml_status create(const char *where)
{
    return dialer_create(
        &(struct dialer_options){.url = where,
                                 .folder = paired.sides[PAIRED_WORKER].scratch.folder,
                                 .receive = receive,
                                 .user = &paired},
        &dialer);
}

static void *run(void *user)
{
    (void)user;
    dialer_run(dialer, stop);
    return NULL;
}

static void listen_at(const char *where, unsigned *out_port)
{
    struct address address;

    PAIRED_MUST(address_parse(where, &address));
    PAIRED_MUST(address_listen(&address, &listening, out_port));
}

static void setup(void)
{
    unsigned port = 0;

    paired_open(&paired);
    listen_at("127.0.0.1:0", &port);
    (void)snprintf(url, sizeof(url), "tapml://127.0.0.1:%u", port);
    stop = eventfd(0, EFD_CLOEXEC);
}

static void start(void)
{
    PAIRED_MUST(create(url));
    cr_assert_eq(pthread_create(&thread, NULL, run, NULL), 0);
}

static void end(void)
{
    (void)eventfd_write(stop, 1);
    cr_assert_eq(pthread_join(thread, NULL), 0);
}

static void teardown(void)
{
    dialer_destroy(dialer);
    close(listening);
    close(stop);
    paired_close(&paired);
}

// Longer take a connection that nobody greets, and pauses that nobody ends.
TestSuite(dialer, .init = setup, .fini = teardown, .timeout = 30);

// The next connection of the dialer, whenever it comes.
static tapml_status answer_as(struct paired_side *side, struct tls **out_tls)
{
    return tls_open(side->context, TLS_SERVER, accept(listening, NULL, NULL), PAIRED_MS, out_tls);
}

static struct tls *answer(void)
{
    struct tls *tls = NULL;

    PAIRED_MUST(answer_as(&paired.sides[PAIRED_HOST], &tls));
    return tls;
}

static void greet(struct tls *tls)
{
    const struct greeting greeting = greeting_of_build();

    PAIRED_MUST(greeting_send(tls, &greeting));
    (void)poll(&(struct pollfd){.fd = tls_socket(tls), .events = POLLIN}, 1, -1); // It is closed.
}

// Each is handed over once its host has greeted, and another one is made.
Test(dialer, has_always_one_more_connection)
{
    start();
    for (int i = 0; i < 3; i++) {
        struct tls *tls = answer();

        cr_assert_eq(atomic_load(&received), i, "nobody has greeted");
        greet(tls);
        tls_close(tls);
        cr_assert_eq(atomic_load(&received), i + 1);
    }
    end();
}

Test(dialer, dials_again_when_it_was_sent_away)
{
    start();
    for (int i = 0; i < 3; i++) {
        tls_close(answer());
    }
    struct tls *tls = answer();

    greet(tls);
    tls_close(tls);
    cr_assert_eq(atomic_load(&received), 1);
    end();
}

// What does not greet is dropped.
Test(dialer, hands_nothing_over_that_does_not_greet)
{
    char garbage[GREETING_BYTES] = "GET / HTTP/1.1";
    size_t size = 0;

    start();
    struct tls *tls = answer();

    PAIRED_MUST(tls_write(tls, garbage, sizeof(garbage), &size));
    (void)poll(&(struct pollfd){.fd = tls_socket(tls), .events = POLLIN}, 1, -1);
    tls_close(tls);
    tls = answer();
    cr_assert_eq(atomic_load(&received), 0);
    tls_close(tls);
    end();
}

Test(dialer, shows_nothing_to_a_host_that_is_not_paired)
{
    struct paired_side stranger = {.takes = paired.sides[PAIRED_HOST].takes};
    struct tls *tls = NULL;

    paired_open_side(&stranger);
    start();
    cr_assert_eq(answer_as(&stranger, &tls), TAPML_UNAVAILABLE);
    cr_assert_not(identity_equal(&stranger.seen, &stranger.takes), "not even its key");
    tls = answer(); // The right one is still found.
    greet(tls);
    tls_close(tls);
    cr_assert_eq(atomic_load(&received), 1);
    end();
    paired_close_side(&stranger);
}

// Also from a pause, which nobody has to wait for.
Test(dialer, hurries_when_it_is_told_to)
{
    struct tls *tls = NULL;

    start();
    for (int i = 0; i < 12; i++) { // The pauses would be half a minute.
        dialer_hurry(dialer);
        tls_close(answer());
    }
    dialer_hurry(dialer);
    tls = answer();
    tls_close(tls);
    end();
}

Test(dialer, stops_while_it_waits)
{
    start();
    struct tls *tls = answer();

    end();
    tls_close(tls);
    cr_assert_eq(atomic_load(&received), 0);
}

Test(dialer, does_not_begin_when_it_is_to_stop)
{
    (void)eventfd_write(stop, 1);
    start();
    end();
    cr_assert_eq(poll(&(struct pollfd){.fd = listening, .events = POLLIN}, 1, 0), 0);
}

Test(dialer, needs_an_address_and_keys)
{
    cr_assert_eq(create("127.0.0.1:7700"), TAPML_INVALID);
    (void)scratch_text(&paired.sides[PAIRED_WORKER].scratch, "peers.ini", "[peer\n");
    cr_assert_eq(create(url), TAPML_INVALID);
    cr_assert_null(dialer);
    dialer_destroy(NULL);
}

Test(dialer, survives_a_lack_of_memory)
{
    SCRATCH_SWEEP(create(url));
}
