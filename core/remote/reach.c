// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/reach.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "remote/caller.h"

enum {
    FIRST_PATIENCE_S = 10, // For the first connection of all.
    QUIET_S = 2            // A cut that is mended so soon is not told.
};

static const uint64_t SECOND_NS = UINT64_C(1000000000);

struct reach {
    struct caller *caller;
    uint64_t patience_ns;
    uint64_t lost_ns;  // Since when there is no connection; 0: there is one.
    int was_connected; // Ever.
    int has_given_up;  // Since then.
    int is_told;       // That it waits for a worker.
};

static tapml_status create_caller(const struct reach_options *options, struct caller **out_caller)
{
    char *folder = NULL;

    if (options->folder == NULL) {
        TAPML_TRY(identity_folder(&folder));
    }
    const tapml_status status =
        caller_create(&(struct caller_options){.url = options->url,
                                               .listen = options->listen,
                                               .folder = folder != NULL ? folder : options->folder,
                                               .feature = options->feature,
                                               .lack = options->lack},
                      out_caller);

    alloc_free(folder);
    return status;
}

tapml_status reach_create(const struct reach_options *options, struct reach **out_reach)
{
    struct reach *reach = alloc_new(sizeof(*reach));

    if (reach == NULL) {
        return status_no_memory();
    }
    reach->patience_ns = options->patience_ns;
    const tapml_status status = create_caller(options, &reach->caller);

    if (status != TAPML_OK) {
        alloc_free(reach);
        return status;
    }
    *out_reach = reach;
    return TAPML_OK;
}

void reach_destroy(struct reach *reach)
{
    if (reach != NULL) {
        caller_destroy(reach->caller);
        alloc_free(reach);
    }
}

// A machine that should be there is; one that dials comes when it can.
static uint64_t current_patience_ns(const struct reach *reach)
{
    const int is_whole = reach->was_connected ||
                         (caller_waits(reach->caller) && !reach->has_given_up) ||
                         reach->patience_ns < FIRST_PATIENCE_S * SECOND_NS;

    return is_whole ? reach->patience_ns : FIRST_PATIENCE_S * SECOND_NS;
}

// That somebody has to dial, and where.
static void tell_waiting(struct reach *reach, uint64_t waited_ns)
{
    const char *where = caller_listens_at(reach->caller);
    const double patience_s = (double)current_patience_ns(reach) / 1e9;

    if (reach->is_told || !caller_waits(reach->caller) ||
        (reach->was_connected && waited_ns < QUIET_S * SECOND_NS)) {
        return;
    }
    reach->is_told = 1;
    if (where != NULL) {
        log_say("waiting at %s for a worker, 'tapml-worker --dial', for %.3g s at most", where,
                patience_s);
    } else {
        log_say("%s; tried again for %.3g s", status_message(), patience_s);
    }
}

static enum reach_state give_up(struct reach *reach, uint64_t waited_ns)
{
    reach->was_connected = 0; // The next start waits no longer than the first one.
    reach->has_given_up = 1;
    reach->lost_ns = 0;
    (void)status_explain(TAPML_UNAVAILABLE, "was out of reach for %.3g s", (double)waited_ns / 1e9);
    return REACH_LOST;
}

enum reach_state reach_try(struct reach *reach, struct stream *stream)
{
    const uint64_t now_ns = clock_now_ns(), patience_ns = current_patience_ns(reach);

    if (reach->lost_ns == 0) {
        reach->lost_ns = now_ns;
    }
    switch (caller_try(reach->caller, stream)) {
    case CALLER_CONNECTED:
        reach->was_connected = 1;
        reach->is_told = reach->has_given_up = 0;
        reach->lost_ns = 0;
        return REACH_THERE;
    case CALLER_BEGAN_ANEW:
        return REACH_BEGAN_ANEW;
    case CALLER_REFUSED:
        return REACH_REFUSED;
    case CALLER_NOT_YET:
    default:
        tell_waiting(reach, now_ns - reach->lost_ns);
        break;
    }
    return now_ns - reach->lost_ns > patience_ns ? give_up(reach, now_ns - reach->lost_ns)
                                                 : REACH_NOT_YET;
}

void reach_forget_session(struct reach *reach)
{
    caller_forget_session(reach->caller);
}

int reach_knows(const struct reach *reach, const char *feature)
{
    return caller_knows(reach->caller, feature);
}

const char *reach_where(const struct reach *reach)
{
    return caller_where(reach->caller);
}
