// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/caller.h"

#include "base/alloc.h"
#include "base/text.h"
#include "remote/connector.h"
#include "remote/greeting.h"
#include "remote/lobby.h"
#include "remote/pause.h"

#include <stdio.h>
#include <string.h>

enum { WAIT_MS = 50 }; // For a worker, in one try.

struct caller {
    char *where;
    const char *feature, *lack;      // As of the options.
    struct connector *connector;     // To a worker that listens; or NULL:
    struct lobby *lobby;             // for one that dials. Open while it is waited for.
    struct identity_hash worker;     // The key of the one that has come first,
    int has_worker;                  // if one has: no other one takes its place.
    struct greeting_session session; // Zeros: none yet.
    char features[GREETING_TEXT_BYTES];
    struct pause pause;
};

static tapml_status open_lobby(const struct caller_options *options, struct caller *caller)
{
    struct text where;

    text_init(&where);
    text_format(&where, "the worker that dials %s", options->listen);
    caller->where = where.failed ? NULL : alloc_text(where.data);
    text_release(&where);
    return caller->where == NULL
               ? status_no_memory()
               : lobby_create(&(struct lobby_options){options->listen, options->folder},
                              &caller->lobby);
}

static tapml_status open_connector(const struct caller_options *options, struct caller *caller)
{
    caller->where = alloc_text(options->url);
    return caller->where == NULL
               ? status_no_memory()
               : connector_create(&(struct connector_options){.url = options->url,
                                                              .folder = options->folder,
                                                              .pairs = "tapml-host pair"},
                                  &caller->connector);
}

tapml_status caller_create(const struct caller_options *options, struct caller **out_caller)
{
    struct caller *caller = alloc_new(sizeof(*caller));

    if (caller == NULL) {
        return status_no_memory();
    }
    caller->feature = options->feature;
    caller->lack = options->lack;
    const tapml_status status =
        options->url != NULL ? open_connector(options, caller) : open_lobby(options, caller);

    if (status != TAPML_OK) {
        caller_destroy(caller);
        return status;
    }
    *out_caller = caller;
    return TAPML_OK;
}

void caller_destroy(struct caller *caller)
{
    if (caller != NULL) {
        connector_destroy(caller->connector);
        lobby_destroy(caller->lobby);
        alloc_free(caller->where);
        alloc_free(caller);
    }
}

void caller_forget_session(struct caller *caller)
{
    caller->session = (struct greeting_session){{0}};
    if (caller->lobby != NULL) {
        lobby_close(caller->lobby);
    }
}

int caller_knows(const struct caller *caller, const char *feature)
{
    return greeting_names(caller->features, feature);
}

const char *caller_where(const struct caller *caller)
{
    return caller->where;
}

int caller_waits(const struct caller *caller)
{
    return caller->lobby != NULL;
}

const char *caller_listens_at(const struct caller *caller)
{
    return caller->lobby != NULL && lobby_is_open(caller->lobby) ? lobby_address(caller->lobby)
                                                                 : NULL;
}

static tapml_status
greet(struct caller *caller, struct tls *tls, uint64_t received, struct greeting_answer *out_answer)
{
    struct greeting greeting = greeting_of_build();

    greeting.session = caller->session;
    greeting.received = received;
    if (caller->feature != NULL) {
        greeting_add(&greeting, caller->feature);
    }
    TAPML_TRY(greeting_send(tls, &greeting));
    TAPML_TRY(greeting_receive_answer(tls, out_answer));
    if (out_answer->state == GREETING_REFUSED) {
        return status_fail(TAPML_PRECONDITION, "%s refuses: %s", caller->where, out_answer->text);
    }
    // A side that knows nothing of the session says nothing of itself.
    return caller->feature == NULL || greeting_session_is_none(&out_answer->session) ||
                   greeting_names(out_answer->text, caller->feature)
               ? TAPML_OK
               : status_fail(TAPML_PRECONDITION, "%s is %s", caller->where, caller->lack);
}

// It has closed the connection where it expected a greeting, as with keys that it does not know.
static tapml_status explain_silence(const struct caller *caller)
{
    char why[512];

    (void)snprintf(why, sizeof(why), "%s", status_message());
    return status_fail(TAPML_UNAVAILABLE, "%s does not answer; is this user paired there? %s",
                       caller->where, why);
}

// The worker, connected, whichever of both has done so.
static tapml_status connect(struct caller *caller, struct tls **out_tls)
{
    if (caller->connector != NULL) {
        return connector_connect(caller->connector, out_tls);
    }
    TAPML_TRY(lobby_open(caller->lobby));
    return lobby_take(caller->lobby, caller->has_worker ? &caller->worker : NULL, WAIT_MS, out_tls);
}

// The worker has answered: it is the one, and no other one is waited for.
static void settle(struct caller *caller, const struct tls *tls)
{
    if (caller->lobby != NULL) {
        caller->worker = *tls_peer(tls);
        caller->has_worker = 1;
        lobby_close(caller->lobby);
    }
}

// Leaves a message in any case but success.
static tapml_status greet_once(struct caller *caller,
                               struct stream *stream,
                               struct tls *tls,
                               struct greeting_answer *out_answer)
{
    const tapml_status status = greet(caller, tls, stream_received(stream), out_answer);

    if (status != TAPML_OK) {
        tls_close(tls);
        return status == TAPML_UNAVAILABLE ? explain_silence(caller) : status;
    }
    const int is_new = out_answer->state == GREETING_NEW;

    settle(caller, tls);
    // A stream of which the other side knows nothing is of no more use: the caller makes another.
    return is_new && !greeting_session_is_none(&caller->session)
               ? (tls_close(tls), TAPML_OK)
               : stream_attach(stream, tls, out_answer->received);
}

static enum caller_result succeed(struct caller *caller, const struct greeting_answer *answer)
{
    const int had_session = !greeting_session_is_none(&caller->session);

    pause_end(&caller->pause);
    if (had_session && answer->state == GREETING_NEW) {
        return CALLER_BEGAN_ANEW;
    }
    caller->session = answer->session;
    memcpy(caller->features, answer->text, sizeof(caller->features));
    return CALLER_CONNECTED;
}

enum caller_result caller_try(struct caller *caller, struct stream *stream)
{
    struct greeting_answer answer;
    struct tls *tls = NULL;

    if (pause_left_ms(&caller->pause) > 0) {
        return CALLER_NOT_YET;
    }
    tapml_status status = connect(caller, &tls);

    if (status == TAPML_UNAVAILABLE && caller_listens_at(caller) != NULL) {
        return CALLER_NOT_YET; // It listens: nobody has come yet.
    }
    status = status == TAPML_OK ? greet_once(caller, stream, tls, &answer) : status;
    if (status == TAPML_OK) {
        return succeed(caller, &answer);
    }
    pause_grow(&caller->pause);
    return status == TAPML_PRECONDITION || status == TAPML_INVALID || status == TAPML_NO_MEMORY
               ? CALLER_REFUSED
               : CALLER_NOT_YET;
}
