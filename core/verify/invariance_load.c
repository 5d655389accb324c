// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/invariance_load.h"

#include "base/alloc.h"
#include "exec/persist.h"
#include "verify/replay.h"

#include <pthread.h>
#include <stdio.h>

struct invariance_load {
    struct backend *backend;
    const struct checkpoint *checkpoint;
    const struct carved_case *item;
    const struct compiled_op *schema;
    pthread_t thread;
    pthread_mutex_t lock; // For reading and writing what follows.
    pthread_cond_t moved;
    int is_ending; // The caller wants no more.
    int is_over;   // There are no more.
    uint64_t begun, ended;
    char failure[INVARIANCE_LOAD_TEXT];
};

// Counts, and says whether to go on.
static int step(struct invariance_load *load, uint64_t *counter)
{
    pthread_mutex_lock(&load->lock);
    ++*counter;
    const int goes_on = !load->is_ending;
    pthread_cond_broadcast(&load->moved);
    pthread_mutex_unlock(&load->lock);
    return goes_on;
}

// That somebody has killed a worker is no failure of its device.
static tapml_status
run_once(struct invariance_load *load, struct replay *replay, struct replay_result *out_result)
{
    struct persist persist;
    tapml_status status = TAPML_OK;
    persist_begin(&persist, load->backend);
    do {
        status = replay_run(replay, load->item, load->schema, 0, out_result);
    } while (persist_again(&persist, &status));
    return status;
}

static tapml_status run_calls(struct invariance_load *load, struct replay *replay)
{
    struct replay_result result;
    int goes_on = 1;
    while (goes_on && step(load, &load->begun)) {
        TAPML_TRY(run_once(load, replay, &result));
        if (result.outcome != REPLAY_RAN) {
            return status_fail(TAPML_UNIMPLEMENTED, "%s", result.reason);
        }
        goes_on = step(load, &load->ended);
    }
    return TAPML_OK;
}

static void *run(void *user)
{
    struct invariance_load *load = user;
    struct replay *replay = NULL;
    tapml_status status = replay_create(load->backend, load->checkpoint, &replay);
    status = status == TAPML_OK ? run_calls(load, replay) : status;
    pthread_mutex_lock(&load->lock);
    if (status != TAPML_OK) {
        (void)snprintf(load->failure, sizeof(load->failure), "%s", status_message());
    }
    load->is_over = 1;
    pthread_cond_broadcast(&load->moved);
    pthread_mutex_unlock(&load->lock);
    replay_destroy(replay);
    return NULL;
}

static void wait_past(struct invariance_load *load, const uint64_t *counter, uint64_t past)
{
    pthread_mutex_lock(&load->lock);
    while (!load->is_over && *counter <= past) {
        pthread_cond_wait(&load->moved, &load->lock);
    }
    pthread_mutex_unlock(&load->lock);
}

tapml_status invariance_load_begin(struct backend *backend,
                                   const struct checkpoint *checkpoint,
                                   const struct carved_case *item,
                                   const struct compiled_op *schema,
                                   struct invariance_load **out_load)
{
    struct invariance_load *load = alloc_new(sizeof(*load));
    if (!load) {
        return status_no_memory();
    }
    *load = (struct invariance_load){
        .backend = backend, .checkpoint = checkpoint, .item = item, .schema = schema};
    pthread_mutex_init(&load->lock, NULL);
    pthread_cond_init(&load->moved, NULL);
    if (pthread_create(&load->thread, NULL, run, load) != 0) {
        pthread_cond_destroy(&load->moved);
        pthread_mutex_destroy(&load->lock);
        alloc_free(load);
        return status_fail(TAPML_UNAVAILABLE, "no thread can be started to load a device");
    }
    wait_past(load, &load->ended, 0);
    *out_load = load;
    return TAPML_OK;
}

void invariance_load_meet(struct invariance_load *load)
{
    pthread_mutex_lock(&load->lock);
    const uint64_t begun = load->begun;
    pthread_mutex_unlock(&load->lock);
    wait_past(load, &load->begun, begun);
}

void invariance_load_end(struct invariance_load *load, struct invariance_load_result *out_result)
{
    *out_result = (struct invariance_load_result){.calls = 0};
    if (!load) {
        return;
    }
    pthread_mutex_lock(&load->lock);
    load->is_ending = 1;
    pthread_mutex_unlock(&load->lock);
    (void)pthread_join(load->thread, NULL);
    out_result->calls = load->ended;
    (void)snprintf(out_result->failure, sizeof(out_result->failure), "%s", load->failure);
    pthread_cond_destroy(&load->moved);
    pthread_mutex_destroy(&load->lock);
    alloc_free(load);
}
