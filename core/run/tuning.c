// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/tuning.h"

#include "exec/place.h"
#include "run/op_cases.h"
#include "run/setup.h"
#include "verify/verdicts.h"

#include <stdio.h>
#include <string.h>

// A class at work.
struct tuning_work {
    const struct tuning_options *options;
    struct arena *arena;
    struct tuning *tuning;
    const struct tuning_cases *cases;
    struct op_cases copy; // Its cases; without a store before the first trial.
    size_t done, all;     // Trials of classes before it; of all classes.
};

// -- A trial -----------------------------------------------------------------------------------

static void
take_wrong(const struct verdict *verdicts, size_t count, struct tuning_trial_outcome *outcome)
{
    for (size_t i = 0; i < count && outcome->wrong[0] == '\0'; i++) {
        const struct verdict *verdict = &verdicts[i];

        if (verdict->kind == VERDICT_FAIL || verdict->kind == VERDICT_ERROR) {
            (void)snprintf(outcome->wrong, sizeof(outcome->wrong), "%s%s%s",
                           verdict->label[0] != '\0' ? verdict->label : "",
                           verdict->label[0] != '\0' ? ": " : "", verdict->reason);
        }
    }
}

// Judges the cases on an open device, or times them alone.
static tapml_status judge(const struct tuning_work *work,
                          const struct place *place,
                          int judges,
                          struct tuning_trial_outcome *outcome)
{
    struct verdict_list list;
    uint64_t sum_ns = 0;

    TAPML_TRY(verdicts_make(&(struct verdict_options){.registry = work->options->setup->registry,
                                                      .store = work->copy.store,
                                                      .target = place->settings.name,
                                                      .backend = place->backend,
                                                      .activation = place->settings.activation,
                                                      .declares = place->backend,
                                                      .checkpoint = work->options->checkpoint,
                                                      .fresh = 1,
                                                      .derived = judges},
                            &list));
    take_wrong(list.items, list.count, outcome);
    take_wrong(list.derived, list.derived_count, outcome);
    for (size_t i = 0; i < list.count; i++) {
        sum_ns += list.items[i].time_ns;
    }
    verdict_list_release(&list);
    sum_ns = sum_ns > 0 ? sum_ns : 1;
    outcome->time_ns =
        outcome->time_ns == 0 || sum_ns < outcome->time_ns ? sum_ns : outcome->time_ns;
    return TAPML_OK;
}

static tapml_status
try_on(const struct tuning_work *work, struct place *place, struct tuning_trial_outcome *outcome)
{
    TAPML_TRY(setup_open_place(work->options->setup, place));
    TAPML_TRY(judge(work, place, 1, outcome));
    for (int i = 1; i < TUNING_RUNS && outcome->wrong[0] == '\0'; i++) {
        TAPML_TRY(judge(work, place, 0, outcome));
    }
    return TAPML_OK;
}

// Tries a combination on a device of its own. NULL: what the device chooses by itself.
static tapml_status try_setting(const struct tuning_work *work,
                                const char *values,
                                struct tuning_trial_outcome *out_outcome)
{
    const tapml_op *op = work->cases->schema->op;
    const struct tuned_setting setting = {.op = op->name,
                                          .version = op->version,
                                          .shape_class = TAPML_TUNING_ALL_CLASSES,
                                          .values = values};
    struct place_settings settings = *work->options->target;
    struct place *place = NULL;

    *out_outcome = (struct tuning_trial_outcome){.time_ns = 0};
    settings.tuned = (struct tuned_settings){&setting, values != NULL};
    TAPML_TRY(place_create(&settings, &place));
    const tapml_status status = try_on(work, place, out_outcome);

    place_destroy(place);
    if (status == TAPML_DEVICE_LOST) {
        (void)snprintf(out_outcome->wrong, sizeof(out_outcome->wrong), "%s", status_message());
        return TAPML_OK;
    }
    return status;
}

// -- A class -----------------------------------------------------------------------------------

static tapml_status
attempt(void *user, uint32_t number, const char *values, struct tuning_trial_outcome *out_outcome)
{
    struct tuning_work *work = user;

    if (work->copy.store == NULL) {
        TAPML_TRY(op_cases_copy(&(struct op_cases_options){.source = work->options->store,
                                                           .ids = work->cases->ids,
                                                           .id_count = work->cases->count},
                                &work->copy));
    }
    return try_setting(work, number == knobs_chosen(&work->cases->space) ? NULL : values,
                       out_outcome);
}

static tapml_status show(void *user, size_t now, const char *values, const char *outcome)
{
    const struct tuning_work *work = user;
    const struct tuning_options *options = work->options;

    return options->progress != NULL
               ? options->progress(options->user, work->done + now, work->all, values, outcome)
               : TAPML_OK;
}

static tapml_status
run_class(struct tuning_work *work, const struct tuning_cases *cases, const struct tuning_key *key)
{
    work->cases = cases;
    const tapml_status status =
        tuning_trials_run(&(struct tuning_trials_options){.key = *key,
                                                          .space = &cases->space,
                                                          .chooser = work->options->chooser,
                                                          .trials = work->options->trials,
                                                          .seed = work->options->seed,
                                                          .attempt = attempt,
                                                          .progress = show,
                                                          .user = work},
                          work->arena, &work->tuning->results[work->tuning->count]);

    op_cases_close(&work->copy);
    work->tuning->count += status == TAPML_OK;
    return status;
}

// -- All classes -------------------------------------------------------------------------------

// The device with what it chooses by itself: what can be chosen, and what it is.
static tapml_status
look(struct tuning_work *work, struct tuning_classes *out_classes, struct place *place)
{
    struct tuning *tuning = work->tuning;

    TAPML_TRY(setup_open_place(work->options->setup, place));
    const struct backend_info *info = backend_info(place->backend);

    TAPML_TRY(tuning_classes_find(
        &(struct tuning_classes_options){.store = work->options->store,
                                         .registry = work->options->setup->registry,
                                         .backend = place->backend,
                                         .checkpoint = work->options->checkpoint,
                                         .op = work->options->op},
        work->arena, out_classes));
    tuning->component = arena_text(work->arena, info->component);
    tuning->device = arena_text(work->arena, info->device);
    tuning->driver = arena_text(work->arena, info->driver);
    tuning->cases = out_classes->cases;
    tuning->no_choices = out_classes->no_choices;
    tuning->results = arena_array(work->arena, out_classes->count + 1, sizeof(*tuning->results));
    return tuning->component != NULL && tuning->device != NULL && tuning->driver != NULL &&
                   tuning->results != NULL
               ? TAPML_OK
               : status_no_memory();
}

static tapml_status name_digests(const struct tuning_work *work,
                                 const struct place *place,
                                 const struct tuning_classes *classes,
                                 const char **out_digests)
{
    for (size_t i = 0; i < classes->count; i++) {
        out_digests[i] =
            arena_text(work->arena, backend_identity(place->backend, classes->items[i].schema->op));
        if (out_digests[i] == NULL) {
            return status_no_memory();
        }
    }
    return TAPML_OK;
}

static tapml_status find_classes(struct tuning_work *work,
                                 struct tuning_classes *out_classes,
                                 const char ***out_digests)
{
    struct place_settings settings = *work->options->target;
    static const struct tuned_setting none;
    struct place *place = NULL;

    settings.tuned = (struct tuned_settings){&none, 0};
    TAPML_TRY(place_create(&settings, &place));
    tapml_status status = look(work, out_classes, place);

    if (status == TAPML_OK) {
        *out_digests = arena_array(work->arena, out_classes->count + 1, sizeof(**out_digests));
        status = *out_digests != NULL ? name_digests(work, place, out_classes, *out_digests)
                                      : status_no_memory();
    }
    place_destroy(place);
    return status;
}

static tapml_status check(const struct tuning_work *work, const struct tuning_classes *classes)
{
    if (classes->count > 0) {
        return TAPML_OK;
    }
    return classes->cases == 0
               ? status_fail(TAPML_NOT_FOUND, "the store has no case of '%s'",
                             work->options->op != NULL ? work->options->op : "any op")
               : status_fail(TAPML_NOT_FOUND,
                             "%s has nothing to choose for any of %zu cases: it does not offer "
                             "'" TAPML_TUNING "', or not for these",
                             work->tuning->component, classes->cases);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

tapml_status
tuning_run(const struct tuning_options *options, struct arena *arena, struct tuning *out_tuning)
{
    struct tuning tuning = {.count = 0};
    struct tuning_work work = {.options = options, .arena = arena, .tuning = &tuning};
    struct tuning_classes classes;
    const char **digests = NULL;

    TAPML_TRY(find_classes(&work, &classes, &digests));
    TAPML_TRY(check(&work, &classes));
    for (size_t i = 0; i < classes.count; i++) {
        work.all += least(options->trials, classes.items[i].space.legal_count);
    }
    for (size_t i = 0; i < classes.count; i++) {
        const struct tuning_cases *cases = &classes.items[i];
        const struct tuning_key key = {.component = tuning.component,
                                       .device = tuning.device,
                                       .driver = tuning.driver,
                                       .op = cases->schema->op->name,
                                       .version = cases->schema->op->version,
                                       .digest = digests[i],
                                       .shape_class = cases->space.shape_class};

        TAPML_TRY(run_class(&work, cases, &key));
        work.done +=
            least(options->trials, cases->space.legal_count); // With those of earlier starts.
    }
    *out_tuning = tuning;
    return TAPML_OK;
}
