// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/target_pool.h"

#include "base/log.h"
#include "base/text.h"
#include "config/run_config.h"
#include "run/outcome.h"
#include "run/pool_labels.h"
#include "run/setup.h"

tapml_status target_pool_check(const struct run_config *config, size_t index)
{
    const struct device_pool *pool = run_config_pool(config, index);
    const tapml_status status =
        pool != NULL && pool->labels != NULL ? pool_labels_check(pool->labels) : TAPML_OK;

    return status == TAPML_OK
               ? TAPML_OK
               : status_explain(status, "%s: [pool.%s] labels", config->path, pool->name);
}

tapml_status target_pool_open(const struct target_pool *pool)
{
    const struct device_pool *devices = run_config_pool(pool->config, pool->index);

    TAPML_TRY(setup_open_place(pool->setup, pool->target));
    return devices != NULL && devices->labels != NULL
               ? pool_labels_meet(devices->labels, backend_info(pool->target->backend))
               : TAPML_OK;
}

static tapml_status move_to(const struct target_pool *pool, size_t member)
{
    const struct place_settings settings = device_pool_member(
        run_config_pool(pool->config, pool->index), &pool->config->targets[pool->index], member);

    place_move(pool->target, &settings);
    *pool->io_member = member;
    return target_pool_open(pool);
}

static tapml_status
try_member(const struct target_pool *pool, size_t member, const char *why, int *out_is_replaced)
{
    const tapml_status status = move_to(pool, member);
    const struct place_settings *settings = &pool->target->settings;
    const char *url = settings->isolation.url;

    *out_is_replaced = status == TAPML_OK;
    log_line(LOG_WARNING, "target '%s' %s %s: %s", settings->name,
             *out_is_replaced ? "goes on at" : "is not at", url != NULL ? url : settings->backend,
             *out_is_replaced ? why : status_message());
    return outcome_of(status) == OUTCOME_ENVIRONMENT ? TAPML_OK : status;
}

tapml_status target_pool_replace(const struct target_pool *pool, int *out_is_replaced)
{
    const struct device_pool *devices = run_config_pool(pool->config, pool->index);
    const size_t count = devices != NULL ? devices->count : 0;
    tapml_status status = TAPML_OK;
    struct text why;

    *out_is_replaced = 0;
    text_init(&why);
    text_append(&why, status_message());
    for (size_t i = *pool->io_member + 1; status == TAPML_OK && !*out_is_replaced && i < count;
         i++) {
        status = try_member(pool, i, why.data, out_is_replaced);
    }
    if (status == TAPML_OK && !*out_is_replaced) {
        (void)status_fail(TAPML_UNAVAILABLE, "%s", why.data); // Of the failure.
    }
    text_release(&why);
    return status;
}
