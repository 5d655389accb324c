// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/paired.h"
#include "remote/address.h"
#include "remote/reception.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/eventfd.h>

// A reception in a thread; what it admits says a byte and is closed.
static struct paired paired;
static struct reception *reception;
static int stop;
static pthread_t thread;
static tapml_status ended_with;
static atomic_int arrived, is_to_hold, has_ended;

static void arrive(void *user, struct reception_arrival *arrival, struct tls *tls)
{
    size_t size = 0;

    cr_assert_eq(user, &paired);
    atomic_fetch_add(&arrived, 1);
    if (atomic_load(&is_to_hold)) { // A guest to its end: the reception cuts it.
        (void)poll(&(struct pollfd){.fd = tls_socket(tls), .events = POLLIN}, 1, -1);
    } else {
        reception_admit(arrival);
        (void)tls_write(tls, "!", 1, &size);
    }
    tls_close(tls);
}

static void end(void *user)
{
    cr_assert_eq(user, &paired);
    atomic_store(&has_ended, 1);
}

static void *run(void *user)
{
    (void)user;
    ended_with = reception_run(reception, stop);
    return NULL;
}

static tapml_status open_at(const char *address)
{
    return reception_open(
        &(struct reception_options){.address = address,
                                    .context = paired.sides[PAIRED_WORKER].context,
                                    .arrive = arrive,
                                    .end = end,
                                    .user = &paired},
        &reception);
}

static void setup(void)
{
    paired_open(&paired);
    PAIRED_MUST(open_at("127.0.0.1:0"));
    stop = eventfd(0, EFD_CLOEXEC);
    cr_assert_eq(pthread_create(&thread, NULL, run, NULL), 0);
}

static void teardown(void)
{
    if (stop >= 0) {
        (void)eventfd_write(stop, 1);
        cr_assert_eq(pthread_join(thread, NULL), 0);
        close(stop);
    }
    reception_close(reception);
    paired_close(&paired);
}

TestSuite(reception, .init = setup, .fini = teardown);

static int reach(void)
{
    struct address address = {.host = "127.0.0.1"};
    int socket = -1;

    (void)snprintf(address.port, sizeof(address.port), "%u", reception_port(reception) % 65536u);
    PAIRED_MUST(address_connect(&address, PAIRED_MS, &socket));
    return socket;
}

static struct tls *connect_as(struct paired_side *side)
{
    struct tls *tls = NULL;

    PAIRED_MUST(tls_open(side->context, TLS_CLIENT, reach(), PAIRED_MS, &tls));
    return tls;
}

// A byte, or the end of the connection.
static tapml_status hear(struct tls *tls, char *out_byte)
{
    tapml_status status = TAPML_OK;
    size_t size = 0;

    for (*out_byte = '\0'; status == TAPML_OK && size == 0;) {
        (void)poll(&(struct pollfd){.fd = tls_socket(tls), .events = POLLIN}, 1, PAIRED_MS);
        status = tls_read(tls, out_byte, 1, &size);
    }
    return status;
}

static void expect_service(void)
{
    struct tls *tls = connect_as(&paired.sides[PAIRED_HOST]);
    char byte;

    PAIRED_MUST(hear(tls, &byte));
    cr_assert_eq(byte, '!');
    tls_close(tls);
}

Test(reception, hands_on_whose_key_is_taken)
{
    expect_service();
    expect_service();
    cr_assert_eq(atomic_load(&arrived), 2);
}

Test(reception, says_nothing_to_others)
{
    struct paired_side stranger = {.takes = paired.sides[PAIRED_HOST].takes};
    struct tls *tls = NULL;
    char byte;

    paired_open_side(&stranger);
    tls = connect_as(&stranger);
    cr_assert_eq(hear(tls, &byte), TAPML_UNAVAILABLE);
    cr_assert(tls_was_refused(tls));
    cr_assert_eq(atomic_load(&arrived), 0);
    tls_close(tls);
    paired_close_side(&stranger);
    expect_service();
}

// Also where all of them have shown their keys.
Test(reception, lets_the_oldest_guest_give_way)
{
    struct tls *guests[RECEPTION_GUESTS_MAX];
    char byte;

    atomic_store(&is_to_hold, 1);
    for (int i = 0; i < RECEPTION_GUESTS_MAX; i++) {
        guests[i] = connect_as(&paired.sides[PAIRED_HOST]);
    }
    const int silent = reach();

    cr_assert_eq(hear(guests[0], &byte), TAPML_UNAVAILABLE, "it has given way");
    cr_assert_eq(recv(silent, &byte, 1, MSG_DONTWAIT), -1);
    cr_assert_eq(errno, EAGAIN, "it may still greet");
    close(silent);
    for (int i = 0; i < RECEPTION_GUESTS_MAX; i++) {
        tls_close(guests[i]);
    }
}

Test(reception, ends_with_guests_at_once)
{
    const int silent = reach();
    char byte;

    expect_service(); // Behind it, in the order of the kernel: the silent one is a guest.
    (void)eventfd_write(stop, 1);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    close(stop);
    stop = -1;
    cr_assert_eq(ended_with, TAPML_OK);
    cr_assert(atomic_load(&has_ended));
    cr_assert_leq(recv(silent, &byte, 1, 0), 0);
    close(silent);
}

Test(reception, says_where_it_cannot_listen)
{
    struct reception *first = reception;
    char address[64];

    (void)snprintf(address, sizeof(address), "127.0.0.1:%u", reception_port(first));
    cr_assert_eq(open_at(address), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "cannot listen at"), "%s", status_message());
    cr_assert_eq(open_at("box"), TAPML_INVALID);
    cr_assert_eq(reception, first);
    reception_close(NULL);
}
