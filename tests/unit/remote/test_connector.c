// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/paired.h"
#include "remote/address.h"
#include "remote/connector.h"

static struct paired paired;
static struct connector *connector;
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
}

static void teardown(void)
{
    connector_destroy(connector);
    close(listening);
    paired_close(&paired);
}

TestSuite(connector, .init = setup, .fini = teardown);

static tapml_status create(const char *where)
{
    return connector_create(
        &(struct connector_options){.url = where,
                                    .folder = paired.sides[PAIRED_HOST].scratch.folder,
                                    .pairs = "tapml-host pair"},
        &connector);
}

static void *answer_one(void *user)
{
    struct paired_handshake *one = user;

    one->socket = accept(listening, NULL, NULL);
    return paired_shake(one);
}

// The other side's end is in `one`.
static tapml_status connect_to(struct paired_handshake *one, struct tls **out_tls)
{
    *one = (struct paired_handshake){.context = paired.sides[PAIRED_WORKER].context,
                                     .role = TLS_SERVER,
                                     .timeout_ms = PAIRED_MS};
    cr_assert_eq(pthread_create(&one->thread, NULL, answer_one, one), 0);
    const tapml_status status = connector_connect(connector, out_tls);

    cr_assert_eq(pthread_join(one->thread, NULL), 0);
    return status;
}

Test(connector, connects_to_a_paired_machine)
{
    struct paired_handshake one;
    struct tls *tls = NULL;

    PAIRED_MUST(create(url));
    cr_assert_str_eq(connector_url(connector), url);
    PAIRED_MUST(connect_to(&one, &tls));
    cr_assert(identity_equal(tls_peer(tls), identity_hash(paired.sides[PAIRED_WORKER].identity)));
    cr_assert(identity_equal(tls_peer(one.tls), identity_hash(paired.sides[PAIRED_HOST].identity)));
    tls_close(tls);
    tls_close(one.tls);
}

// The end of a pairing counts at once.
Test(connector, says_that_a_key_is_not_paired)
{
    struct paired_handshake one;
    struct tls *tls = NULL;

    PAIRED_MUST(create(url));
    PAIRED_MUST(peers_remove(paired.sides[PAIRED_HOST].scratch.folder, "worker"));
    cr_assert_eq(connect_to(&one, &tls), TAPML_PRECONDITION);
    cr_assert_not_null(strstr(status_message(), "shows a key that is not paired: 'tapml-host pair"),
                       "%s", status_message());
    cr_assert_eq(one.status, TAPML_UNAVAILABLE);
}

Test(connector, says_that_nothing_listens)
{
    struct tls *tls = NULL;

    PAIRED_MUST(create("tapml://127.0.0.1:1"));
    cr_assert_eq(connector_connect(connector, &tls), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "Connection refused"), "%s", status_message());
}

Test(connector, needs_an_address_and_keys)
{
    cr_assert_eq(create("there:7070"), TAPML_INVALID);
    (void)scratch_text(&paired.sides[PAIRED_HOST].scratch, "peers.ini", "[peer.x]\nkey = 1\n");
    cr_assert_eq(create(url), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "peers.ini:2"), "%s", status_message());
    cr_assert_null(connector);
    connector_destroy(NULL);
}

Test(connector, survives_a_lack_of_memory)
{
    SCRATCH_SWEEP(create(url));
}
