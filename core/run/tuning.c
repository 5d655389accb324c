// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/tuning.h"

#include "exec/place.h"
#include "run/op_cases.h"
#include "run/setup.h"
#include "verify/verdicts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WHY_TEXT = 256 };

// A class at work.
struct tuning_work {
    const struct tuning_options *options;
    struct arena *arena;
    struct tuning *tuning;
    const struct tuning_cases *cases;
    struct tuning_file file;    // What is known of all.
    struct tuning_class *known; // Of the class.
    struct op_cases copy;       // Its cases.
    struct tuner_trial *trials; // The same as `known`, as combinations.
    size_t count;
    struct tuning_result *result;
    size_t done, all; // Trials of all classes.
};

// What a trial came to.
struct tuning_outcome {
    uint64_t time_ns;
    char wrong[WHY_TEXT]; // "" where it is right.
};

// -- A trial -----------------------------------------------------------------------------------

static void take_wrong(const struct verdict *verdicts, size_t count, struct tuning_outcome *outcome)
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
                          struct tuning_outcome *outcome)
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
try_on(const struct tuning_work *work, struct place *place, struct tuning_outcome *outcome)
{
    TAPML_TRY(setup_open_place(work->options->setup, place));
    TAPML_TRY(judge(work, place, 1, outcome));
    for (int i = 1; i < TUNING_RUNS && outcome->wrong[0] == '\0'; i++) {
        TAPML_TRY(judge(work, place, 0, outcome));
    }
    return TAPML_OK;
}

// Tries a combination on a device of its own. NULL: what the device chooses by itself.
static tapml_status
try_setting(const struct tuning_work *work, const char *values, struct tuning_outcome *out_outcome)
{
    const tapml_op *op = work->cases->schema->op;
    const struct tuned_setting setting = {.op = op->name,
                                          .version = op->version,
                                          .shape_class = TAPML_TUNING_ALL_CLASSES,
                                          .values = values};
    struct place_settings settings = *work->options->target;
    struct place *place = NULL;

    *out_outcome = (struct tuning_outcome){.time_ns = 0};
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

// -- What is known -----------------------------------------------------------------------------

static double ratio_of(const struct tuning_class *known, const struct tuning_trial *trial)
{
    const double own = known->own.time_ns > 0 ? (double)known->own.time_ns : 1e6;

    return trial->wrong == NULL ? (double)trial->time_ns / own : NAN;
}

// The combination of a trial in the space of the class; 0 where it has none.
static int find_number(const struct tuning_work *work, const char *values, uint32_t *out_number)
{
    struct arena *arena = arena_create();
    tapml_setting setting;
    const int has = arena != NULL && knobs_read("*", values, arena, &setting) == TAPML_OK &&
                    knobs_find(&work->cases->space, &setting, out_number) == TAPML_OK;

    arena_destroy(arena);
    return has;
}

static void take_trial(const struct tuning_work *work,
                       const struct tuning_class *known,
                       const struct tuning_trial *trial,
                       struct tuner_trial *io_trials,
                       size_t *io_count)
{
    uint32_t number = 0;

    if (find_number(work, trial->values, &number)) {
        io_trials[(*io_count)++] = (struct tuner_trial){number, ratio_of(known, trial)};
    }
}

static tapml_status read_known(struct tuning_work *work)
{
    const struct tuning_class *known = work->known;

    work->count = 0;
    work->trials =
        arena_array(work->arena, known->count + work->options->trials + 2, sizeof(*work->trials));
    if (work->trials == NULL) {
        return status_no_memory();
    }
    if (known->own.values != NULL) {
        work->trials[work->count++] =
            (struct tuner_trial){knobs_chosen(&work->cases->space), ratio_of(known, &known->own)};
    }
    for (size_t i = 0; i < known->count; i++) {
        take_trial(work, known, &known->trials[i], work->trials, &work->count);
    }
    return TAPML_OK;
}

// How alike another class of the op is.
static int likeness(const struct tuning_class *known, const struct tuning_class *other)
{
    const int is_device = strcmp(known->key.device, other->key.device) == 0;

    return (strcmp(known->key.component, other->key.component) == 0) + is_device;
}

// What was measured of other classes of the op, those of this device first.
static tapml_status
gather_others(const struct tuning_work *work, struct tuner_trial **out_others, size_t *out_count)
{
    struct tuner_trial *others =
        arena_array(work->arena, TUNER_OTHERS_MAX + TUNING_FILE_TRIALS_MAX, sizeof(*others));
    size_t count = 0;

    if (others == NULL) {
        return status_no_memory();
    }
    for (int like = 2; like >= 0; like--) {
        for (size_t i = 0; i < work->file.count; i++) {
            const struct tuning_class *other = &work->file.classes[i];

            if (other == work->known || strcmp(other->key.op, work->known->key.op) != 0 ||
                other->own.time_ns == 0 || likeness(work->known, other) != like) {
                continue;
            }
            for (size_t k = 0; k < other->count && count < TUNER_OTHERS_MAX; k++) {
                take_trial(work, other, &other->trials[k], others, &count);
            }
        }
    }
    *out_others = others;
    *out_count = count;
    return TAPML_OK;
}

// -- A class -----------------------------------------------------------------------------------

static tapml_status
tell(struct tuning_work *work, const char *values, const struct tuning_trial *trial)
{
    char outcome[WHY_TEXT + 32];

    if (work->options->progress == NULL) {
        return TAPML_OK;
    }
    if (trial->wrong != NULL) {
        (void)snprintf(outcome, sizeof(outcome), "wrong: %s", trial->wrong);
    } else {
        (void)snprintf(outcome, sizeof(outcome), "%.1f us", (double)trial->time_ns / 1000);
    }
    return work->options->progress(work->options->user, work->done, work->all, values, outcome);
}

// Keeps what came out, in the user's file at once. A file that cannot be written loses what is
// known when this ends, and nothing else.
static tapml_status
keep(struct tuning_work *work, uint32_t number, const struct tuning_trial *trial)
{
    struct tuning_class *known = work->known;
    const int is_own = number == knobs_chosen(&work->cases->space);

    if (is_own) {
        known->own = *trial;
        known->own.values = arena_text(work->file.arena, trial->values);
        known->own.wrong = trial->wrong != NULL ? arena_text(work->file.arena, trial->wrong) : NULL;
        if (known->own.values == NULL || (trial->wrong != NULL && known->own.wrong == NULL)) {
            return status_no_memory();
        }
    } else {
        TAPML_TRY(tuning_file_add_trial(&work->file, known, trial));
    }
    work->trials[work->count++] = (struct tuner_trial){number, ratio_of(known, trial)};
    tuning_file_choose(known);
    (void)tuning_file_save(known);
    work->done++;
    work->result->now++;
    return tell(work, trial->values, trial);
}

static tapml_status try_number(struct tuning_work *work, uint32_t number)
{
    const int is_own = number == knobs_chosen(&work->cases->space);
    struct tuning_outcome outcome;
    struct text values;

    text_init(&values);
    knobs_print(&work->cases->space, number, &values);
    tapml_status status = text_status(&values);

    if (status == TAPML_OK) {
        status = try_setting(work, is_own ? NULL : values.data, &outcome);
    }
    if (status == TAPML_OK) {
        const int is_wrong = outcome.wrong[0] != '\0';

        status = keep(work, number,
                      &(struct tuning_trial){.values = values.data,
                                             .time_ns = is_wrong ? 0 : outcome.time_ns,
                                             .wrong = is_wrong ? outcome.wrong : NULL});
    }
    text_release(&values);
    return status;
}

static tapml_status try_all(struct tuning_work *work)
{
    struct tuner_trial *others = NULL;
    size_t other_count = 0;

    TAPML_TRY(gather_others(work, &others, &other_count));
    while (1) {
        uint32_t number = 0;
        int has = 0;

        TAPML_TRY(tuner_next(&(struct tuner_input){.space = &work->cases->space,
                                                   .chooser = work->options->chooser,
                                                   .trials = work->trials,
                                                   .count = work->count,
                                                   .others = others,
                                                   .other_count = other_count,
                                                   .budget = work->options->trials,
                                                   .seed = work->options->seed},
                             &number, &has));
        if (!has) {
            return TAPML_OK;
        }
        TAPML_TRY(try_number(work, number));
    }
}

static void set_result(struct tuning_work *work)
{
    const struct tuning_class *known = work->known;
    struct tuning_result *result = work->result;

    result->own_ns = known->own.time_ns;
    result->own = known->own.values;
    result->own_wrong = known->own.wrong;
    result->winner = known->winner;
    result->tried = work->count;
    for (size_t i = 0; i < work->count; i++) {
        result->wrong += isnan(work->trials[i].ratio);
    }
    for (size_t i = 0; i < known->count && known->winner != NULL; i++) {
        if (strcmp(known->trials[i].values, known->winner) == 0) {
            result->best_ns = known->trials[i].time_ns;
        }
    }
}

static tapml_status copy_result(struct tuning_work *work)
{
    const char **const texts[] = {&work->result->own, &work->result->own_wrong,
                                  &work->result->winner};

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        if (*texts[i] != NULL) {
            *texts[i] = arena_text(work->arena, *texts[i]);
            if (*texts[i] == NULL) {
                return status_no_memory();
            }
        }
    }
    return TAPML_OK;
}

static tapml_status tune_class(struct tuning_work *work, const struct tuning_key *key)
{
    TAPML_TRY(tuning_file_load(&work->file));
    TAPML_TRY(tuning_file_add(&work->file, key, &work->known));
    TAPML_TRY(read_known(work));
    if (work->count < work->options->trials) {
        TAPML_TRY(op_cases_copy(&(struct op_cases_options){.source = work->options->store,
                                                           .ids = work->cases->ids,
                                                           .id_count = work->cases->count},
                                &work->copy));
        TAPML_TRY(try_all(work));
    }
    set_result(work);
    return copy_result(work);
}

static tapml_status
run_class(struct tuning_work *work, const struct tuning_cases *cases, const struct tuning_key *key)
{
    work->cases = cases;
    work->result = &work->tuning->results[work->tuning->count];
    *work->result = (struct tuning_result){.op = cases->schema->op->name,
                                           .shape_class = cases->space.shape_class,
                                           .legal = cases->space.legal_count};
    const tapml_status status = tune_class(work, key);

    op_cases_close(&work->copy);
    tuning_file_release(&work->file);
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
    size_t reached = 0;

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
        // What an earlier start has tried is done, too.
        reached += least(options->trials, cases->space.legal_count);
        work.done = reached;
    }
    *out_tuning = tuning;
    return TAPML_OK;
}
