// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/replay_site.h"

#include "base/alloc.h"
#include "base/assert.h"

static tapml_status make_weights(const struct replay_site *site, struct residency **out_weights)
{
    struct residency *weights = NULL;
    TAPML_TRY(residency_create(site->backend, &weights));
    const tapml_status status = residency_share(weights, site->checkpoint);
    if (status != TAPML_OK) {
        residency_destroy(weights);
        return status;
    }
    *out_weights = weights;
    return TAPML_OK;
}

tapml_status replay_site_open(struct backend *backend,
                              const struct checkpoint *checkpoint,
                              struct replay_site *out_site)
{
    *out_site = (struct replay_site){
        .backend = backend, .checkpoint = checkpoint, .spare = {.backend = backend}};
    return make_weights(out_site, &out_site->weights);
}

void replay_site_close(struct replay_site *site)
{
    ASSERT(!site->retired && site->holds == 0); // No call is under way.
    spare_buffers_release(&site->spare);
    residency_destroy(site->weights);
    *site = (struct replay_site){0};
}

// Frees weights, unless a call holds them.
static tapml_status retire(struct replay_site *site, struct residency *weights)
{
    if (site->holds == 0) {
        residency_destroy(weights);
        return TAPML_OK;
    }
    struct replay_site_retired *retired = alloc_new(sizeof(*retired));
    if (!retired) {
        return status_no_memory();
    }
    *retired = (struct replay_site_retired){weights, site->holds, site->retired};
    site->retired = retired;
    site->holds = 0;
    return TAPML_OK;
}

tapml_status replay_site_renew(struct replay_site *site)
{
    struct residency *weights = NULL;
    TAPML_TRY(backend_wait(site->backend)); // What is queued may use them.
    TAPML_TRY(make_weights(site, &weights));
    const tapml_status status = retire(site, site->weights);
    if (status != TAPML_OK) {
        residency_destroy(weights);
        return status;
    }
    site->weights = weights;
    return TAPML_OK;
}

const struct residency *replay_site_hold(struct replay_site *site)
{
    site->holds++;
    return site->weights;
}

void replay_site_let_go(struct replay_site *site, const struct residency *weights)
{
    if (weights == site->weights) {
        ASSERT(site->holds > 0);
        site->holds--;
        return;
    }
    struct replay_site_retired **at = &site->retired;
    while ((*at)->weights != weights) {
        at = &(*at)->next;
        ASSERT(*at); // They were held.
    }
    struct replay_site_retired *found = *at;
    if (--found->holds == 0) {
        *at = found->next;
        residency_destroy(found->weights);
        alloc_free(found);
    }
}
