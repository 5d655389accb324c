// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/driver_bundle.h"

#include "base/arena.h"
#include "base/text.h"
#include "run/bundles.h"
#include "run/recorded_on.h"
#include "store/blame.h"
#include "store/bundle.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"
#include "verify/fault_rule.h"
#include "verify/verdict.h"

#include <inttypes.h>
#include <string.h>

// -- Writing -----------------------------------------------------------------------------------

static const char *number(struct arena *arena, uint64_t value)
{
    return arena_format(arena, "%" PRIu64, value);
}

static tapml_status write_bundle(const struct driver_bundle_options *options, struct arena *arena)
{
    const struct backend *backend = options->place->backend;
    const struct place_settings *settings = &options->place->settings;
    const char *faults = fault_rule_keep_all(settings->faults, settings->fault_count, arena);
    const struct driver_result *failure = options->failure;
    const struct bundle_metadata metadata[] = {
        {BUNDLE_METADATA_INSTANCE, BLAME_DRIVER},
        {BUNDLE_METADATA_CHECK, driver_check_name(options->check)},
        {BUNDLE_METADATA_REASON, failure->reason},
        {BUNDLE_METADATA_DRIVER, backend_info(backend)->driver},
        {BUNDLE_METADATA_TARGET, bundles_print_target(settings->name, backend, arena)},
        {BUNDLE_METADATA_SEED, number(arena, options->seed)},
        {BUNDLE_METADATA_TRIAL, number(arena, failure->trials)},
        {BUNDLE_METADATA_OFFSET, number(arena, failure->offset)},
        {BUNDLE_METADATA_SIZE, number(arena, failure->size)},
    };
    enum { COUNT = sizeof(metadata) / sizeof(*metadata) };
    struct store *store = NULL;

    for (size_t i = 0; i < COUNT; i++) {
        if (metadata[i].value == NULL) {
            return status_no_memory();
        }
    }
    if (faults == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(bundle_create(options->path, NULL, metadata, COUNT, &store));
    const struct recorded_on item =
        recorded_on_here(settings->name, backend_info(backend), faults, verdict_name(VERDICT_FAIL));
    const tapml_status status = recorded_on_write(store, 0, &item);

    store_close(store);
    return status;
}

tapml_status driver_bundle_write(const struct driver_bundle_options *options)
{
    struct arena *arena = arena_create();
    const tapml_status status = arena != NULL ? write_bundle(options, arena) : status_no_memory();

    arena_destroy(arena);
    return status;
}

// -- Reading -----------------------------------------------------------------------------------

int driver_bundle_is(struct store *store)
{
    return bundle_is(store) && metadata_get(store, BUNDLE_METADATA_CHECK) != NULL;
}

static tapml_status read_check(struct store *store, size_t *out_check)
{
    const char *name = metadata_get(store, BUNDLE_METADATA_CHECK);
    size_t index = 0;

    while (name != NULL && index < driver_check_count() &&
           strcmp(driver_check_name(index), name) != 0) {
        index++;
    }
    if (name == NULL || index == driver_check_count()) {
        return status_fail(TAPML_INVALID,
                           "bundle '%s': %s: expected a check that this host makes, found '%.40s'",
                           store_path(store), BUNDLE_METADATA_CHECK, name != NULL ? name : "");
    }
    *out_check = index;
    return TAPML_OK;
}

static tapml_status read_seed(struct store *store, uint64_t *out_seed)
{
    const char *said = metadata_get(store, BUNDLE_METADATA_SEED);
    int64_t seed = -1;

    if (said == NULL || text_parse_i64(said, &seed) != TAPML_OK || seed < 0) {
        return status_fail(TAPML_INVALID, "bundle '%s': %s: expected a number, found '%.40s'",
                           store_path(store), BUNDLE_METADATA_SEED, said != NULL ? said : "");
    }
    *out_seed = (uint64_t)seed;
    return TAPML_OK;
}

tapml_status driver_bundle_read(struct store *store, size_t *out_check, uint64_t *out_seed)
{
    size_t check = 0;

    TAPML_TRY(read_check(store, &check));
    TAPML_TRY(read_seed(store, out_seed));
    *out_check = check;
    return TAPML_OK;
}
