// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/host_session.h"

#include "base/clock.h"

#include <stdio.h>

tapml_status host_session_init(struct host_session *session, const struct host_session_kind *kind)
{
    *session = (struct host_session){.kind = kind, .detached_ns = clock_now_ns()};
    TAPML_TRY(greeting_session_make(&session->id));
    return stream_create(&session->stream);
}

void host_session_release(struct host_session *session)
{
    stream_destroy(session->stream);
    session->stream = NULL;
}

static struct greeting_answer answer_to(const struct host_session *session,
                                        const struct greeting *greeting)
{
    const struct host_session_kind *kind = session->kind;
    const int is_new = greeting_session_is_none(&greeting->session);
    struct greeting_answer answer = {.version = greeting_choose_version(greeting),
                                     .state = is_new ? GREETING_NEW : GREETING_RESUMED,
                                     .session = session->id,
                                     .received = stream_received(session->stream)};

    if (kind->feature != NULL && !greeting_names(greeting->features, kind->feature)) {
        answer.state = GREETING_REFUSED;
        (void)snprintf(answer.text, sizeof(answer.text), "%s", kind->who);
        return answer;
    }
    struct greeting own = greeting_of_build();

    if (kind->feature != NULL) {
        greeting_add(&own, kind->feature);
    }
    (void)snprintf(answer.text, sizeof(answer.text), "%s", own.features);
    return answer;
}

tapml_status host_session_attach(struct host_session *session,
                                 struct tls *connection,
                                 const struct greeting *greeting)
{
    const struct greeting_answer answer = answer_to(session, greeting);
    tapml_status status = greeting_send_answer(connection, &answer);

    if (status == TAPML_OK && answer.state == GREETING_REFUSED) {
        status = status_fail(TAPML_PRECONDITION, "it does not know '%s'", session->kind->feature);
    }
    if (status != TAPML_OK) {
        tls_close(connection);
        return status;
    }
    status = stream_attach(session->stream, connection, greeting->received);
    session->detached_ns = status == TAPML_OK ? 0 : clock_now_ns();
    return status;
}

tapml_status
host_session_exchange(struct host_session *session, struct pollfd *others, size_t count)
{
    const tapml_status status = stream_work(session->stream, others, count, HOST_SESSION_SLICE_MS);

    if (!stream_is_attached(session->stream) && session->detached_ns == 0) {
        session->detached_ns = clock_now_ns();
    }
    return status == TAPML_NO_MEMORY ? status : TAPML_OK;
}

uint64_t host_session_idle_ns(const struct host_session *session)
{
    return session->detached_ns == 0 ? 0 : clock_now_ns() - session->detached_ns;
}

tapml_status host_session_work(struct host_session *session, int wake)
{
    return session->kind->work(session, wake);
}

void host_session_destroy(struct host_session *session)
{
    if (session != NULL) {
        session->kind->destroy(session);
    }
}
