// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/random.h"
#include "harness/paired.h"
#include "remote/tls.h"

#include <fcntl.h>
#include <openssl/ssl.h>
#include <poll.h>

static struct paired paired;

static void setup(void)
{
    paired_open(&paired);
}

static void teardown(void)
{
    paired_close(&paired);
}

TestSuite(tls, .init = setup, .fini = teardown);

// Waits until there is something to be read, or the connection has ended.
static tapml_status read_some(struct tls *tls, void *bytes, size_t size, size_t *out_read)
{
    for (int i = 0; i < 100; i++) {
        TAPML_TRY(tls_read(tls, bytes, size, out_read));
        if (*out_read > 0) {
            return TAPML_OK;
        }
        (void)poll(&(struct pollfd){.fd = tls_socket(tls), .events = tls_events(tls)}, 1, 100);
    }
    return status_fail(TAPML_DEADLINE, "nothing came");
}

Test(tls, shows_both_keys)
{
    struct tls *ends[2];
    char bytes[16];
    size_t size = 0;

    paired_connect(&paired, ends);
    for (int i = 0; i < 2; i++) {
        cr_assert(identity_equal(tls_peer(ends[i]), identity_hash(paired.sides[1 - i].identity)));
        PAIRED_MUST(tls_read(ends[i], bytes, sizeof(bytes), &size));
        cr_assert_eq(size, 0, "nothing was sent");
        cr_assert_eq(tls_events(ends[i]), POLLIN);
    }
    PAIRED_MUST(tls_write(ends[0], "hello", 5, &size));
    cr_assert_eq(size, 5);
    PAIRED_MUST(read_some(ends[1], bytes, sizeof(bytes), &size));
    cr_assert_eq(size, 5);
    cr_assert_eq(memcmp(bytes, "hello", 5), 0);
    tls_close(ends[0]);
    cr_assert_eq(read_some(ends[1], bytes, sizeof(bytes), &size), TAPML_UNAVAILABLE);
    cr_assert_str_eq(status_message(), "the other side has closed the connection");
    // This process is not ended by a signal either.
    tapml_status status = TAPML_OK;

    for (int i = 0; i < 100 && status == TAPML_OK; i++) {
        status = tls_write(ends[1], bytes, sizeof(bytes), &size);
    }
    cr_assert_eq(status, TAPML_UNAVAILABLE);
    tls_close(ends[1]);
    tls_close(NULL);
}

Test(tls, has_a_binding_that_both_ends_and_no_other_connection_have)
{
    struct tls *first[2], *second[2];
    struct identity_hash a, b, c;

    paired_connect(&paired, first);
    paired_connect(&paired, second);
    PAIRED_MUST(tls_binding(first[0], &a));
    PAIRED_MUST(tls_binding(first[1], &b));
    PAIRED_MUST(tls_binding(second[0], &c));
    cr_assert(identity_equal(&a, &b));
    cr_assert_not(identity_equal(&a, &c));
    for (int i = 0; i < 2; i++) {
        tls_close(first[i]);
        tls_close(second[i]);
    }
}

// Both sides send more than the sockets hold, in pieces of their own.
Test(tls, carries_much_both_ways)
{
    enum { ALL = 3 << 20 };
    struct tls *ends[2];
    struct random random;
    unsigned char *bytes[2] = {malloc(ALL), malloc(ALL)}, *found[2] = {malloc(ALL), malloc(ALL)};
    size_t sent[2] = {0, 0}, received[2] = {0, 0};

    random_init(&random, 5);
    for (size_t i = 0; i < ALL; i++) {
        bytes[0][i] = (unsigned char)random_u64(&random);
        bytes[1][i] = (unsigned char)random_u64(&random);
    }
    paired_connect(&paired, ends);
    while (received[0] < ALL || received[1] < ALL) {
        for (int i = 0; i < 2; i++) {
            size_t size = 0;
            const size_t part = 1 + random_below(&random, 70000);

            if (sent[i] < ALL) {
                PAIRED_MUST(tls_write(ends[i], bytes[i] + sent[i],
                                      part < ALL - sent[i] ? part : ALL - sent[i], &size));
                sent[i] += size;
            }
            PAIRED_MUST(tls_read(ends[1 - i], found[i] + received[i],
                                 part < ALL - received[i] ? part : ALL - received[i], &size));
            received[i] += size;
        }
    }
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(memcmp(bytes[i], found[i], ALL), 0);
        free(bytes[i]);
        free(found[i]);
        tls_close(ends[i]);
    }
}

// -- Who is refused ----------------------------------------------------------------------------

Test(tls, refuses_a_host_whose_key_is_not_known)
{
    struct paired_handshake both[2];
    char byte;
    size_t size = 0;

    memset(&paired.sides[PAIRED_WORKER].takes, 0, sizeof(struct identity_hash));
    paired_shake_both(&paired, both);
    cr_assert_eq(both[1].status, TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(both[1].message, "the handshake failed"), "%s", both[1].message);
    cr_assert(identity_equal(&paired.sides[PAIRED_WORKER].seen,
                             identity_hash(paired.sides[PAIRED_HOST].identity)));
    // The host may have been done when it was refused; it hears of it with the first bytes.
    if (both[0].status == TAPML_OK) {
        cr_assert_eq(read_some(both[0].tls, &byte, 1, &size), TAPML_UNAVAILABLE);
        tls_close(both[0].tls);
    }
}

Test(tls, refuses_a_worker_whose_key_is_not_known)
{
    struct paired_handshake both[2];

    paired.sides[PAIRED_HOST].takes.bytes[5] ^= 1;
    paired_shake_both(&paired, both);
    cr_assert_eq(both[0].status, TAPML_UNAVAILABLE);
    cr_assert_eq(both[1].status, TAPML_UNAVAILABLE);
    cr_assert_eq(paired.sides[PAIRED_WORKER].seen.bytes[0], 0, "the host has shown no key to it");
}

// A client or server of OpenSSL's own in a thread.
struct stranger {
    int socket, is_server;
    int version_most;
    const struct identity *identity; // NULL: it has no certificate.
    int result;
};

static void *run_stranger(void *user)
{
    struct stranger *one = user;
    SSL_CTX *context = SSL_CTX_new(one->is_server ? TLS_server_method() : TLS_client_method());
    SSL *ssl = NULL;
    char byte;

    (void)SSL_CTX_set_max_proto_version(context, one->version_most);
    if (one->identity != NULL) {
        (void)SSL_CTX_use_certificate(context, identity_certificate(one->identity));
        (void)SSL_CTX_use_PrivateKey(context, identity_key(one->identity));
    }
    ssl = SSL_new(context);
    (void)SSL_set_fd(ssl, one->socket);
    one->result = one->is_server ? SSL_accept(ssl) : SSL_connect(ssl);
    if (one->result == 1) {
        one->result = SSL_read(ssl, &byte, 1); // What was refused says nothing.
    }
    SSL_free(ssl);
    SSL_CTX_free(context);
    close(one->socket);
    return NULL;
}

static void expect_refusal(struct stranger stranger, const char *piece)
{
    struct tls *tls = NULL;
    struct paired_side *side = &paired.sides[stranger.is_server ? PAIRED_HOST : PAIRED_WORKER];
    pthread_t thread;
    int sockets[2];

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    stranger.socket = sockets[0];
    cr_assert_eq(pthread_create(&thread, NULL, run_stranger, &stranger), 0);
    const tapml_status status = tls_open(
        side->context, stranger.is_server ? TLS_CLIENT : TLS_SERVER, sockets[1], PAIRED_MS, &tls);

    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_assert_eq(status, TAPML_UNAVAILABLE, "%d", status);
    cr_assert_null(tls);
    cr_assert_not_null(strstr(status_message(), piece), "%s", status_message());
    cr_assert_neq(stranger.result, 1);
}

Test(tls, refuses_who_shows_no_key)
{
    expect_refusal((struct stranger){.version_most = TLS1_3_VERSION},
                   "peer did not return a certificate");
}

Test(tls, refuses_older_versions)
{
    const struct identity *host = paired.sides[PAIRED_HOST].identity;
    const struct identity *worker = paired.sides[PAIRED_WORKER].identity;

    expect_refusal((struct stranger){.version_most = TLS1_2_VERSION, .identity = host},
                   "unsupported protocol");
    expect_refusal(
        (struct stranger){.version_most = TLS1_2_VERSION, .identity = worker, .is_server = 1},
        "the handshake failed");
}

// Another key of the same kind, and the right key in a certificate of another name, whose hash is
// the same: only keys count.
Test(tls, goes_by_keys_alone)
{
    const struct identity *host = paired.sides[PAIRED_HOST].identity;
    X509 *other = X509_dup(identity_certificate(host));
    struct identity_hash hash;

    cr_assert_eq(X509_NAME_add_entry_by_txt(X509_get_subject_name(other), "CN", MBSTRING_ASC,
                                            (const unsigned char *)"else", -1, -1, 0),
                 1);
    cr_assert_gt(X509_sign(other, identity_key(host), NULL), 0);
    PAIRED_MUST(identity_hash_of(other, &hash));
    cr_assert(identity_equal(&hash, identity_hash(host)));
    X509_free(other);
    const struct identity *worker = paired.sides[PAIRED_WORKER].identity;

    expect_refusal((struct stranger){.version_most = TLS1_3_VERSION, .identity = worker},
                   "certificate verify failed");
}

// -- What is no handshake ----------------------------------------------------------------------

static void refuse_bytes(const void *bytes, size_t size, tapml_status expected)
{
    struct tls *tls = NULL;
    int sockets[2];

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    cr_assert_eq(send(sockets[0], bytes, size, 0), (ssize_t)size);
    if (expected != TAPML_DEADLINE) {
        cr_assert_eq(shutdown(sockets[0], SHUT_WR), 0);
    }
    const uint64_t begin_ns = clock_now_ns();

    cr_assert_eq(tls_open(paired.sides[PAIRED_WORKER].context, TLS_SERVER, sockets[1], 200, &tls),
                 expected, "%s", status_message());
    cr_assert_lt(clock_now_ns() - begin_ns, 3000000000u);
    cr_assert_eq(fcntl(sockets[1], F_GETFD), -1, "the socket is closed");
    close(sockets[0]);
}

Test(tls, refuses_plain_bytes)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: here\r\n\r\n";
    unsigned char zeros[2000] = {0};

    refuse_bytes(request, sizeof(request) - 1, TAPML_UNAVAILABLE);
    refuse_bytes("TAPL", 4, TAPML_UNAVAILABLE);
    refuse_bytes(zeros, sizeof(zeros), TAPML_UNAVAILABLE);
    refuse_bytes("", 0, TAPML_UNAVAILABLE);
}

Test(tls, gives_up_a_handshake_that_takes_too_long)
{
    refuse_bytes("", 0, TAPML_DEADLINE);
    refuse_bytes("\x16\x03\x01\x02\x00\x01", 6, TAPML_DEADLINE);
    cr_assert_not_null(strstr(status_message(), "the handshake took longer than 200 ms"), "%s",
                       status_message());
}

// A byte now and then for six seconds, or until nobody takes it.
static void *drip(void *user)
{
    static const unsigned char begin[200] = {0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc};
    const int socket = *(const int *)user;

    for (size_t i = 0; i < sizeof(begin); i++) {
        if (send(socket, &begin[i], 1, MSG_NOSIGNAL) != 1) {
            break;
        }
        (void)poll(NULL, 0, 30);
    }
    return NULL;
}

// A sign of life now and then does not make it longer.
Test(tls, gives_up_a_handshake_that_drips)
{
    struct tls *tls = NULL;
    pthread_t thread;
    int sockets[2];

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    cr_assert_eq(pthread_create(&thread, NULL, drip, &sockets[0]), 0);
    const uint64_t begin_ns = clock_now_ns();

    cr_assert_eq(tls_open(paired.sides[PAIRED_WORKER].context, TLS_SERVER, sockets[1], 200, &tls),
                 TAPML_DEADLINE);
    cr_assert_lt(clock_now_ns() - begin_ns, 3000000000u);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    close(sockets[0]);
}

// Records in which a byte was changed on their way.
Test(tls, notices_bytes_that_were_changed)
{
    struct tls *ends[2];
    unsigned char record[256], bytes[16];
    size_t size = 0;

    paired_connect(&paired, ends);
    PAIRED_MUST(tls_write(ends[0], "secret bytes", 12, &size));
    const ssize_t length = recv(tls_socket(ends[1]), record, sizeof(record), 0);

    cr_assert_gt(length, 12);
    for (ssize_t i = 0; i + 12 <= length; i++) {
        cr_assert_neq(memcmp(record + i, "secret bytes", 12), 0, "nothing goes as it is");
    }
    record[length - 1] ^= 1;
    cr_assert_eq(send(tls_socket(ends[0]), record, (size_t)length, 0), length);
    cr_assert_eq(read_some(ends[1], bytes, sizeof(bytes), &size), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "TLS says"), "%s", status_message());
    tls_close(ends[0]);
    tls_close(ends[1]);
}

Test(tls, survives_a_lack_of_memory)
{
    struct paired_side *side = &paired.sides[0];
    struct tls_context *context = NULL;

    SCRATCH_SWEEP(tls_context_create(side->identity, paired_accepts, side, &context));
    tls_context_destroy(context);
}
