// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/paired.h"
#include "remote/host_session.h"

static struct paired paired;
static struct host_session session;
static struct stream *host;

static void setup(void)
{
    paired_open(&paired);
    PAIRED_MUST(stream_create(&host));
}

static void teardown(void)
{
    host_session_release(&session);
    stream_destroy(host);
    paired_close(&paired);
}

TestSuite(host_session, .init = setup, .fini = teardown);

static const struct host_session_kind plain = {.feature = NULL};
static const struct host_session_kind special = {.feature = "cases",
                                                 .who = "it serves cases alone"};

// What the host is answered that has greeted with these features more.
static tapml_status greet(const char *feature, struct greeting_answer *out_answer)
{
    struct greeting greeting = greeting_of_build();
    struct tls *ends[2];

    if (*feature != '\0') {
        greeting_add(&greeting, feature);
    }
    greeting.session = session.detached_ns == 0 ? session.id : greeting.session;
    greeting.received = stream_received(host);
    paired_connect(&paired, ends);
    const tapml_status status = host_session_attach(&session, ends[1], &greeting);

    PAIRED_MUST(greeting_receive_answer(ends[0], out_answer));
    if (status == TAPML_OK) {
        PAIRED_MUST(stream_attach(host, ends[0], out_answer->received));
    } else {
        tls_close(ends[0]);
    }
    return status;
}

Test(host_session, begins_and_goes_on)
{
    struct greeting_answer answer;

    PAIRED_MUST(host_session_init(&session, &plain));
    cr_expect_gt(host_session_idle_ns(&session) + 1, 0u);
    PAIRED_MUST(greet("", &answer));
    cr_expect_eq(answer.state, GREETING_NEW);
    cr_expect(greeting_session_equal(&answer.session, &session.id));
    cr_expect_eq(host_session_idle_ns(&session), 0u);
    PAIRED_MUST(greet("", &answer));
    cr_expect_eq(answer.state, GREETING_RESUMED);
}

Test(host_session, sees_a_cut)
{
    struct greeting_answer answer;

    PAIRED_MUST(host_session_init(&session, &plain));
    PAIRED_MUST(greet("", &answer));
    stream_detach(host);
    for (int i = 0; i < 50 && host_session_idle_ns(&session) == 0; i++) {
        PAIRED_MUST(host_session_exchange(&session, NULL, 0));
    }
    cr_expect_gt(host_session_idle_ns(&session), 0u);
}

Test(host_session, a_kind_of_its_own_is_for_hosts_that_name_it)
{
    struct greeting_answer answer;

    PAIRED_MUST(host_session_init(&session, &special));
    cr_expect_eq(greet("", &answer), TAPML_PRECONDITION);
    cr_expect_eq(answer.state, GREETING_REFUSED);
    cr_expect_str_eq(answer.text, "it serves cases alone");
    cr_expect_eq(greet("casesofbeer", &answer), TAPML_PRECONDITION);
    PAIRED_MUST(greet("cases", &answer));
    cr_expect_eq(answer.state, GREETING_NEW);
    cr_expect(greeting_names(answer.text, "cases"));
    cr_expect(greeting_names(answer.text, "resume"));
}
