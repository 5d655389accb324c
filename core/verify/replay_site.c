// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/replay_site.h"

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
    spare_buffers_release(&site->spare);
    residency_destroy(site->weights);
    *site = (struct replay_site){0};
}

tapml_status replay_site_renew(struct replay_site *site)
{
    struct residency *weights = NULL;
    TAPML_TRY(backend_wait(site->backend)); // What is queued may use them.
    TAPML_TRY(make_weights(site, &weights));
    residency_destroy(site->weights);
    site->weights = weights;
    return TAPML_OK;
}
