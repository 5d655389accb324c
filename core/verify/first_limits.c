// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/first_limits.h"

#include "base/arena.h"
#include "store/first_case.h"
#include "store/stored_case.h"
#include "verify/calibrator.h"
#include "verify/defined_ops.h"

static tapml_status measure(const struct verdict_options *options,
                            struct calibrator *calibrator,
                            struct store *whole,
                            int64_t id,
                            struct arena *arena)
{
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    struct carved_case item;
    TAPML_TRY(stored_case_load(whole, id, arena, &item));
    const struct compiled_op *schema =
        catalogue_find(registry_catalogue(options->registry), item.op_name, item.op_version);
    return schema ? calibrator_limits(calibrator, options->store, &item, schema, limits) : TAPML_OK;
}

static tapml_status measure_first(const struct verdict_options *options,
                                  struct calibrator *calibrator,
                                  struct store *whole,
                                  int64_t id)
{
    struct arena *arena = arena_create();
    const tapml_status status =
        arena ? measure(options, calibrator, whole, id, arena) : status_no_memory();
    arena_destroy(arena);
    return status;
}

// Both lists have the same order.
static tapml_status measure_all(const struct verdict_options *options,
                                struct calibrator *calibrator,
                                struct store *whole,
                                struct arena *arena)
{
    struct first_case *own = NULL, *all = NULL;
    size_t own_count = 0, all_count = 0, at = 0;
    TAPML_TRY(first_case_list(options->store, arena, &own, &own_count));
    TAPML_TRY(first_case_list(whole, arena, &all, &all_count));
    for (size_t i = 0; i < own_count; i++) {
        while (at < all_count && first_case_compare(&all[at], &own[i]) < 0) {
            at++;
        }
        if (at < all_count && first_case_compare(&all[at], &own[i]) == 0) {
            TAPML_TRY(measure_first(options, calibrator, whole, all[at].id));
        }
        TAPML_TRY(options->progress ? options->progress(options->user, i + 1, own_count)
                                    : TAPML_OK);
    }
    return TAPML_OK;
}

tapml_status first_limits_settle(const struct verdict_options *options, struct store *whole)
{
    struct calibrator *calibrator = NULL;
    struct arena *arena = arena_create();
    tapml_status status = arena ? defined_ops_learn(whole, options->registry) : status_no_memory();
    if (status == TAPML_OK) {
        status = calibrator_create(options->registry, options->checkpoint, options->backend,
                                   &calibrator);
    }
    if (status == TAPML_OK && activation_is_reduced(options->activation)) {
        calibrator_set_activation(calibrator, options->activation);
    }
    if (status == TAPML_OK) {
        calibrator_set_declares(calibrator,
                                options->declares ? options->declares : options->backend);
        status = measure_all(options, calibrator, whole, arena);
    }
    calibrator_destroy(calibrator);
    arena_destroy(arena);
    return status;
}
