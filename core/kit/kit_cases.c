// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_cases.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "config/data_folder.h"
#include "exec/expanded.h"
#include "kit/kit_subject.h"
#include "run/op_cases.h"
#include "run/setup.h"
#include "store/case.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"
#include "verify/calibrator.h"
#include "verify/derive_first.h"
#include "verify/verdicts.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { BACKEND_BYTES = 512 };

// -- The host ----------------------------------------------------------------------------------

static const struct options_spec specs[] = {SETUP_OPTIONS, {NULL, NULL, NULL}};

int kit_cases_open(const struct kit_subject *subject,
                   struct kit_result *io_result,
                   struct kit_cases *out_cases)
{
    const char *path = subject->manifest_path != NULL ? subject->manifest_path : subject->library;
    char program[PATH_MAX];
    struct options options = {.specs = specs,
                              .given = {{.spec = &specs[0], .value = path}},
                              .given_count = 1}; // --plugin, the first of them.

    for (size_t i = 0;
         subject->others != NULL && subject->others[i] != NULL && options.given_count < OPTIONS_MAX;
         i++) {
        options.given[options.given_count].spec = &specs[0];
        options.given[options.given_count++].value = subject->others[i];
    }

    *out_cases = (struct kit_cases){.subject = subject, .result = io_result};
    out_cases->setup = alloc_new(sizeof(*out_cases->setup));
    if (out_cases->setup == NULL) {
        kit_result_fail(io_result, "out of memory");
        return 0;
    }
    if (setup_open_bare(file_of_program(program, sizeof(program)), &options, &subject->options,
                        out_cases->setup) != TAPML_OK) {
        kit_result_fail(io_result, "%s", status_message());
        return 0;
    }
    return 1;
}

void kit_cases_close(struct kit_cases *cases)
{
    if (cases->setup != NULL) {
        setup_close(cases->setup);
        alloc_free(cases->setup);
        cases->setup = NULL;
    }
}

// -- A store -----------------------------------------------------------------------------------

static void count(struct kit_cases *cases, const struct verdict *verdict)
{
    cases->judged += verdict->kind == VERDICT_PASS;
    if (verdict->kind == VERDICT_UNSUPPORTED && cases->unsupported++ == 0) {
        (void)snprintf(cases->refusal, sizeof(cases->refusal), "%s", verdict->reason);
    }
    if (verdict->kind != VERDICT_FAIL && verdict->kind != VERDICT_ERROR) {
        return;
    }
    cases->judged++;
    if (cases->wrong++ == 0) {
        const char *slash = strrchr(cases->store, '/');
        const char *store = slash != NULL ? slash + 1 : cases->store;

        (void)snprintf(cases->first, sizeof(cases->first),
                       "%.60s%s%.60s of %.*s, %.10s%s%.40s: %.200s",
                       cases->subject->what != NULL ? "" : verdict->op_name,
                       cases->subject->what != NULL ? "" : " ", verdict->instance,
                       (int)strcspn(store, "."), store, verdict->phase,
                       verdict->label[0] != '\0' ? ", " : "", verdict->label, verdict->reason);
    }
}

// Whether a kept case refers to weights by their names alone: no device can compute it without
// their model.
static tapml_status lacks_weight(struct store *store, int64_t id, int *out_lacks)
{
    struct arena *arena = arena_create();
    struct carved_case item;

    if (arena == NULL) {
        return status_no_memory();
    }
    const tapml_status status = stored_case_load(store, id, arena, &item);

    *out_lacks = 0;
    for (uint32_t i = 0; status == TAPML_OK && i < item.argument_count; i++) {
        *out_lacks |= case_is_reference(&item.arguments[i]);
    }
    arena_destroy(arena);
    return status;
}

static tapml_status
count_kept(struct kit_cases *cases, struct store *store, const struct verdict_list *list)
{
    size_t lacking = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct verdict *verdict = &list->items[i];
        int lacks = 0;

        if (verdict->kind == VERDICT_ERROR) {
            TAPML_TRY(lacks_weight(store, verdict->case_id, &lacks));
        }
        lacking += (size_t)lacks;
        if (!lacks) {
            count(cases, verdict);
        }
    }
    return lacking == 0 || cases->wrong > 0
               ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "%.200s: %zu of its cases refer%s to weights that it does not have; "
                             "'tapml-host store inline DIR' puts them into it",
                             cases->store, lacking, lacking == 1 ? "s" : "");
}

static tapml_status judge(struct kit_cases *cases,
                          const struct kit_cases_question *question,
                          struct op_cases *copy,
                          enum activation activation,
                          struct place *place)
{
    const struct verdict_options options = {.registry = cases->setup->registry,
                                            .store = copy->store,
                                            .target = "target",
                                            .backend = place->backend,
                                            .activation = activation,
                                            .declares = place->backend,
                                            .fresh = 1,
                                            .derived = question->derives};
    struct verdict_list list;

    cases->store = question->store;
    TAPML_TRY(verdicts_make(&options, &list));
    const tapml_status status = count_kept(cases, copy->store, &list);

    for (size_t i = 0; i < list.derived_count; i++) {
        count(cases, &list.derived[i]);
    }
    verdict_list_release(&list);
    return status;
}

// A device of its own, which the caller destroys.
static tapml_status
open_device(const struct kit_cases *cases, enum activation activation, struct place **out_place)
{
    const struct kit_subject *subject = cases->subject;
    char backend[BACKEND_BYTES];
    const struct place_settings settings = {
        .name = "target",
        .backend = backend,
        .isolation = {.mode = PLACE_ISOLATION_NEVER}, // The check has a process of its own.
        .activation = activation};
    struct place *place = NULL;

    (void)snprintf(backend, sizeof(backend), "%.200s/%.100s%s%.200s", subject->manifest.id,
                   subject->component, subject->device != NULL ? ":" : "",
                   subject->device != NULL ? subject->device : "");
    TAPML_TRY(place_create(&settings, &place));
    const tapml_status status = setup_open_place(cases->setup, place);

    if (status != TAPML_OK) {
        place_destroy(place);
        return status;
    }
    *out_place = place;
    return TAPML_OK;
}

// A device for each store, so that one case alone decides what another meets.
static tapml_status judge_on_device(struct kit_cases *cases,
                                    const struct kit_cases_question *question,
                                    struct op_cases *copy,
                                    enum activation activation)
{
    struct place *place = NULL;

    TAPML_TRY(open_device(cases, activation, &place));
    const tapml_status status = judge(cases, question, copy, activation, place);

    place_destroy(place);
    return status;
}

// Once as it is, and in f16 unless something was wrong.
static tapml_status judge_copy(struct kit_cases *cases,
                               const struct kit_cases_question *question,
                               struct op_cases *copy)
{
    TAPML_TRY(judge_on_device(cases, question, copy, ACTIVATION_F32));
    return question->takes_f16 && cases->wrong == 0
               ? judge_on_device(cases, question, copy, ACTIVATION_F16)
               : TAPML_OK;
}

static tapml_status judge_store(struct kit_cases *cases, const struct kit_cases_question *question)
{
    struct store *source = NULL;
    struct op_cases copy = {.store = NULL};

    TAPML_TRY(store_open_to_read(question->store, &source));
    tapml_status status =
        op_cases_copy(&(struct op_cases_options){.source = source, .op = question->op}, &copy);

    if (status == TAPML_OK) {
        status = judge_copy(cases, question, &copy);
    } else if (status == TAPML_NOT_FOUND && question->op != NULL) {
        status = TAPML_OK; // It has no case of the op.
    }
    op_cases_close(&copy);
    store_close(source);
    return status;
}

static int tell(struct kit_cases *cases, tapml_status status)
{
    if (status == TAPML_UNAVAILABLE) {
        kit_result_skip(cases->result, "%s", status_message());
    } else if (status != TAPML_OK) {
        kit_result_fail(cases->result, "%s", status_message());
    }
    return status == TAPML_OK;
}

int kit_cases_judge(struct kit_cases *cases, const struct kit_cases_question *question)
{
    return tell(cases, judge_store(cases, question));
}

// -- A case that is made -----------------------------------------------------------------------

static tapml_status refuse(struct arena *arena, const char *reason, const char **out_refusal)
{
    *out_refusal = arena_text(arena, reason);
    return *out_refusal != NULL ? TAPML_OK : status_no_memory();
}

// Whether the device takes a group whole; else the host would make its calls.
static tapml_status check_group(const struct place *place,
                                const struct compiled_op *schema,
                                const struct carved_case *item,
                                struct arena *arena,
                                const char **out_refusal)
{
    tapml_support answer = {.hdr = TAPML_HDR(tapml_support)};
    tapml_value *values = NULL;

    TAPML_TRY(case_values(item, arena, &values));
    TAPML_TRY(backend_supports(place->backend, schema, values, &answer));
    if (answer.grade == TAPML_SUPPORT_NO || expanded_is_split(&answer)) {
        return refuse(arena, "the device does not take it as a whole", out_refusal);
    }
    return TAPML_OK;
}

// What an op computes by the component that calibrates it.
static tapml_status expect(const struct kit_cases *cases,
                           const struct compiled_op *schema,
                           struct arena *arena,
                           struct carved_case *io_item,
                           const char **out_refusal)
{
    struct registry *registry = cases->setup->registry;
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    struct calibrator *calibrator = NULL;

    const char *oracle = registry_oracle(registry, schema->op);

    if (oracle == NULL || strcmp(oracle, cases->subject->component) == 0 ||
        registry_component_key(registry, oracle, "calibrates") == NULL) {
        return refuse(arena,
                      "it has no plain form in ops that others compute, and no other component "
                      "that calibrates computes it; --with FILE names a plugin that has one",
                      out_refusal);
    }
    TAPML_TRY(calibrator_create(registry, NULL, NULL, &calibrator));
    const tapml_status status =
        calibrator_expect(calibrator, io_item, schema, arena, limits, out_refusal);

    calibrator_destroy(calibrator);
    return status;
}

// A case with what is expected, or why there is none. The device is open: the catalogue has its
// ops.
static tapml_status make_case(const struct kit_cases *cases,
                              const struct kit_cases_op *question,
                              const struct place *place,
                              struct arena *arena,
                              struct carved_case *out_item,
                              const char **out_refusal)
{
    const struct compiled_op *schema = catalogue_find(registry_catalogue(cases->setup->registry),
                                                      question->name, question->version);

    *out_refusal = NULL;
    if (schema == NULL) {
        return status_fail(TAPML_INVALID, "a host does not know its op '%.100s'", question->name);
    }
    const tapml_status status = derive_first_make(schema, arena, out_item);

    if (status == TAPML_INVALID || status == TAPML_UNIMPLEMENTED) {
        return refuse(arena, status_message(), out_refusal);
    }
    TAPML_TRY(status);
    if (question->is_group) {
        TAPML_TRY(check_group(place, schema, out_item, arena, out_refusal));
    }
    return *out_refusal == NULL ? expect(cases, schema, arena, out_item, out_refusal) : TAPML_OK;
}

static tapml_status make(const struct kit_cases *cases,
                         const struct kit_cases_op *question,
                         struct arena *arena,
                         struct carved_case *out_item,
                         const char **out_refusal)
{
    struct place *place = NULL;

    if (question->op != NULL) {
        TAPML_TRY(catalogue_add(registry_catalogue(cases->setup->registry), question->op, "the kit",
                                NULL));
    }
    TAPML_TRY(open_device(cases, ACTIVATION_F32, &place));
    const tapml_status status = make_case(cases, question, place, arena, out_item, out_refusal);

    place_destroy(place);
    return status;
}

static tapml_status keep_case(struct store *store, const struct carved_case *item)
{
    TAPML_TRY(store_begin(store));
    const tapml_status status = stored_case_add(store, item);

    if (status != TAPML_OK) {
        store_rollback(store);
        return status;
    }
    return store_commit(store);
}

static tapml_status
judge_made(struct kit_cases *cases, const struct carved_case *item, struct op_cases *copy)
{
    const struct kit_cases_question question = {
        .store = "its schema", .derives = 1, .takes_f16 = 1};

    TAPML_TRY(op_cases_create(copy));
    TAPML_TRY(keep_case(copy->store, item));
    return judge_copy(cases, &question, copy);
}

int kit_cases_judge_op(struct kit_cases *cases, const struct kit_cases_op *question)
{
    struct op_cases copy = {.store = NULL};
    struct carved_case item;
    const char *refusal = NULL;
    struct arena *arena = arena_create();
    tapml_status status =
        arena != NULL ? make(cases, question, arena, &item, &refusal) : status_no_memory();

    if (status == TAPML_OK && refusal == NULL) {
        status = judge_made(cases, &item, &copy);
    } else if (status == TAPML_OK && cases->unjudged++ == 0) {
        (void)snprintf(cases->doubt, sizeof(cases->doubt), "%.100s: %.200s", question->name,
                       refusal);
    }
    op_cases_close(&copy);
    arena_destroy(arena);
    return tell(cases, status);
}

// -- What comes with the kit -------------------------------------------------------------------

char *kit_cases_find(const char *model, struct kit_result *io_result)
{
    char program[PATH_MAX], name[64];
    char *folder = NULL;

    if (data_folder_find(DATA_FOLDER_CASES, file_of_program(program, sizeof(program)), &folder) !=
        TAPML_OK) {
        kit_result_fail(io_result, "%s", status_message());
        return NULL;
    }
    (void)snprintf(name, sizeof(name), "%.40s.tapmlrun", model);
    char *path = file_join(folder, name);

    if (path == NULL) {
        kit_result_fail(io_result, "out of memory");
    } else if (!file_exists(path)) {
        kit_result_skip(io_result, "%s: there is no such file, which comes with the kit", path);
        alloc_free(path);
        path = NULL;
    }
    alloc_free(folder);
    return path;
}
