// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/caller.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "remote/address.h"
#include "remote/greeting.h"
#include "remote/peers.h"

#include <stdio.h>

enum { CONNECT_MS = 5000, PAUSE_LEAST_MS = 100, PAUSE_MOST_MS = 5000, MILLISECOND_NS = 1000000 };

struct caller {
    char *url;
    struct address address;
    struct identity *identity;
    struct peers peers;
    struct tls_context *context;
    struct greeting_session session; // Zeros: none yet.
    int saw_stranger;                // The last key that was shown is no peer's.
    uint64_t next_ns;                // Not tried before,
    int pause_ms;                    // and the pause behind another failure.
};

static int accepts(void *user, const struct identity_hash *key)
{
    struct caller *caller = user;

    caller->saw_stranger = peers_find_key(&caller->peers, key) == NULL;
    return !caller->saw_stranger;
}

static tapml_status open_keys(struct caller *caller, const char *folder)
{
    TAPML_TRY(identity_open(folder, &caller->identity));
    TAPML_TRY(peers_load(folder, &caller->peers));
    return tls_context_create(caller->identity, accepts, caller, &caller->context);
}

tapml_status caller_create(const struct caller_options *options, struct caller **out_caller)
{
    struct caller *caller = alloc_new(sizeof(*caller));

    if (caller == NULL) {
        return status_no_memory();
    }
    caller->pause_ms = PAUSE_LEAST_MS;
    caller->url = alloc_text(options->url);
    tapml_status status = caller->url != NULL ? address_parse_url(options->url, &caller->address)
                                              : status_no_memory();

    status = status == TAPML_OK ? open_keys(caller, options->folder) : status;
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
        tls_context_destroy(caller->context);
        peers_release(&caller->peers);
        identity_release(caller->identity);
        alloc_free(caller->url);
        alloc_free(caller);
    }
}

void caller_forget_session(struct caller *caller)
{
    caller->session = (struct greeting_session){{0}};
}

const char *caller_url(const struct caller *caller)
{
    return caller->url;
}

static tapml_status
greet(struct caller *caller, struct tls *tls, uint64_t received, struct greeting_answer *out_answer)
{
    struct greeting greeting = greeting_of_build();

    greeting.session = caller->session;
    greeting.received = received;
    TAPML_TRY(greeting_send(tls, &greeting));
    TAPML_TRY(greeting_receive_answer(tls, out_answer));
    return out_answer->state == GREETING_REFUSED
               ? status_fail(TAPML_PRECONDITION, "%s refuses: %s", caller->url, out_answer->text)
               : TAPML_OK;
}

static tapml_status connect_once(struct caller *caller, struct tls **out_tls)
{
    int socket = -1;

    caller->saw_stranger = 0;
    TAPML_TRY(address_connect(&caller->address, CONNECT_MS, &socket));
    const tapml_status status = tls_open(caller->context, TLS_CLIENT, socket, CONNECT_MS, out_tls);

    if (status != TAPML_OK && caller->saw_stranger) {
        return status_fail(TAPML_PRECONDITION,
                           "%s shows a key that is not paired: 'tapml-host pair %s' does that",
                           caller->url, caller->url);
    }
    return status;
}

// It has closed the connection where it expected a greeting, as with keys that it does not know.
static tapml_status explain_silence(const struct caller *caller)
{
    char why[512];

    (void)snprintf(why, sizeof(why), "%s", status_message());
    return status_fail(TAPML_UNAVAILABLE, "%s does not answer; is this user paired there? %s",
                       caller->url, why);
}

// Leaves a message in any case but success.
static tapml_status
try_once(struct caller *caller, struct stream *stream, struct greeting_answer *out_answer)
{
    struct tls *tls = NULL;

    TAPML_TRY(connect_once(caller, &tls));
    const tapml_status status = greet(caller, tls, stream_received(stream), out_answer);

    if (status != TAPML_OK) {
        tls_close(tls);
        return status == TAPML_UNAVAILABLE ? explain_silence(caller) : status;
    }
    const int is_new = out_answer->state == GREETING_NEW;

    // A stream of which the other side knows nothing is of no more use: the caller makes another.
    return is_new && !greeting_session_is_none(&caller->session)
               ? (tls_close(tls), TAPML_OK)
               : stream_attach(stream, tls, out_answer->received);
}

enum caller_result caller_try(struct caller *caller, struct stream *stream)
{
    struct greeting_answer answer;

    if (clock_now_ns() < caller->next_ns) {
        return CALLER_NOT_YET;
    }
    const tapml_status status = try_once(caller, stream, &answer);

    if (status == TAPML_OK) {
        const int had_session = !greeting_session_is_none(&caller->session);

        caller->pause_ms = PAUSE_LEAST_MS;
        if (had_session && answer.state == GREETING_NEW) {
            return CALLER_BEGAN_ANEW;
        }
        caller->session = answer.session;
        return CALLER_CONNECTED;
    }
    caller->next_ns = clock_now_ns() + (uint64_t)caller->pause_ms * MILLISECOND_NS;
    caller->pause_ms = caller->pause_ms * 2 < PAUSE_MOST_MS ? caller->pause_ms * 2 : PAUSE_MOST_MS;
    return status == TAPML_PRECONDITION || status == TAPML_INVALID || status == TAPML_NO_MEMORY
               ? CALLER_REFUSED
               : CALLER_NOT_YET;
}
