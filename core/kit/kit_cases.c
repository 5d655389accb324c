// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_cases.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "config/data_folder.h"
#include "kit/kit_subject.h"
#include "run/op_cases.h"
#include "run/setup.h"
#include "store/store.h"
#include "store/store_open.h"
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
    for (size_t i = 0; i < list.count; i++) {
        count(cases, &list.items[i]);
    }
    for (size_t i = 0; i < list.derived_count; i++) {
        count(cases, &list.derived[i]);
    }
    verdict_list_release(&list);
    return TAPML_OK;
}

// A device of its own for each store, so that one case alone decides what another meets.
static tapml_status judge_on_device(struct kit_cases *cases,
                                    const struct kit_cases_question *question,
                                    struct op_cases *copy,
                                    enum activation activation)
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
    tapml_status status = setup_open_place(cases->setup, place);

    if (status == TAPML_OK) {
        status = judge(cases, question, copy, activation, place);
    }
    place_destroy(place);
    return status;
}

static tapml_status judge_store(struct kit_cases *cases, const struct kit_cases_question *question)
{
    struct store *source = NULL;
    struct op_cases copy = {.store = NULL};

    TAPML_TRY(store_open_to_read(question->store, &source));
    tapml_status status =
        op_cases_copy(&(struct op_cases_options){.source = source, .op = question->op}, &copy);

    if (status == TAPML_OK) {
        status = judge_on_device(cases, question, &copy, ACTIVATION_F32);
        if (status == TAPML_OK && question->takes_f16 && cases->wrong == 0) {
            status = judge_on_device(cases, question, &copy, ACTIVATION_F16);
        }
    } else if (status == TAPML_NOT_FOUND && question->op != NULL) {
        status = TAPML_OK; // It has no case of the op.
    }
    op_cases_close(&copy);
    store_close(source);
    return status;
}

int kit_cases_judge(struct kit_cases *cases, const struct kit_cases_question *question)
{
    const tapml_status status = judge_store(cases, question);

    if (status == TAPML_UNAVAILABLE) {
        kit_result_skip(cases->result, "%s", status_message());
    } else if (status != TAPML_OK) {
        kit_result_fail(cases->result, "%s", status_message());
    }
    return status == TAPML_OK;
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
