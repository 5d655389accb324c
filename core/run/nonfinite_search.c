// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/nonfinite_search.h"

#include "base/alloc.h"
#include "base/sentence.h"
#include "exec/run.h"
#include "run/interrupt.h"
#include "run/probe.h"

struct searching {
    const struct nonfinite_run *run;
    struct place *places[SESSION_PLACES_MAX]; // Those of the run, each under a probe.
    struct nonfinite nonfinite;
    int32_t *greedy;
};

static int wants(void *user, const struct backend_call *call, uint32_t param)
{
    (void)user;
    return call->args[param].kind != TAPML_P_TENSOR_IN;
}

// Ends the run at the first finding.
static tapml_status visit(void *user, const struct probe_call *call)
{
    struct searching *searching = user;
    const uint32_t op = graph_find_op(searching->nonfinite.graph, call->instance);

    if (op != GRAPH_NONE) {
        nonfinite_look(&searching->nonfinite, op, call->arguments);
    }
    return searching->nonfinite.is_found ? TAPML_CANCELLED : interrupt_check();
}

static tapml_status open_places(struct searching *searching)
{
    const struct session_options *session = searching->run->session;
    struct probe_options options = {.wants = wants, .visit = visit, .user = searching};
    const struct place_link link = probe_link(&options);

    for (uint32_t i = 0; i < session->place_count; i++) {
        const struct place *base = session->places[i];

        TAPML_TRY(place_wrap(base, &base->settings, &link, 1, &searching->places[i]));
    }
    return TAPML_OK;
}

static tapml_status search(struct searching *searching)
{
    const struct nonfinite_run *run = searching->run;
    struct session_options options = *run->session;
    struct session *session = NULL;
    int64_t count = 0;

    TAPML_TRY(open_places(searching));
    searching->greedy = alloc_array((size_t)run->decode + 1, sizeof(*searching->greedy));
    if (searching->greedy == NULL) {
        return status_no_memory();
    }
    options.places = searching->places;
    TAPML_TRY(session_create(&options, &session));
    const struct run_options prompt = {
        .ids = run->ids, .count = run->count, .decode = run->decode, .given = run->given};
    const tapml_status status = run_greedy(session, &prompt, searching->greedy, &count);

    session_destroy(session);
    return searching->nonfinite.is_found ? TAPML_OK : status;
}

tapml_status nonfinite_search(const struct nonfinite_run *run, struct nonfinite *out_nonfinite)
{
    struct searching searching = {.run = run};

    searching.nonfinite.graph = model_graph(run->session->model);
    const tapml_status status = search(&searching);

    for (uint32_t i = 0; i < run->session->place_count; i++) {
        place_destroy(searching.places[i]);
    }
    alloc_free(searching.greedy);
    if (status == TAPML_OK) {
        *out_nonfinite = searching.nonfinite;
    }
    return status;
}

tapml_status nonfinite_search_explain(tapml_status status, const struct nonfinite_run *run)
{
    struct nonfinite nonfinite = {.is_found = 0};

    if (status == TAPML_OK || status_ends_all(status)) {
        return status;
    }
    char *message = alloc_text(status_message()); // Whole: a compiler's words are long.

    if (message == NULL) {
        return status;
    }
    if (nonfinite_search(run, &nonfinite) == TAPML_OK && nonfinite.is_found) {
        status = status_fail(status, "%.*s; %s", SENTENCE_BYTES, message, nonfinite.sentence);
    } else {
        status = status_fail(status, "%s", message);
    }
    alloc_free(message);
    return status;
}
