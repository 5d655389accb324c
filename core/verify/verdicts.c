// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/verdicts.h"

#include "base/arena.h"
#include "verify/derived_cases.h"
#include "verify/examiner.h"
#include "verify/kept_cases.h"

static tapml_status judge_all(const struct verdict_options *options,
                              struct examiner *examiner,
                              struct divider *divider,
                              struct verdict_list *list)
{
    TAPML_TRY(kept_cases_judge(options, examiner, divider, list));
    const uint64_t kept = examiner_executions(examiner);
    if (options->derived) {
        TAPML_TRY(derived_cases_judge(options, examiner, divider, list));
    }
    list->executions_derived = examiner_executions(examiner) - kept + divider_executions(divider);
    list->executions_calibrating = examiner_calibrations(examiner) + divider_calibrations(divider);
    return TAPML_OK;
}

tapml_status verdicts_make(const struct verdict_options *options, struct verdict_list *out_list)
{
    struct verdict_list list = {.arena = arena_create()};
    struct examiner *examiner = NULL;
    struct divider *divider = NULL;
    tapml_status status = list.arena ? examiner_create(options, &examiner) : status_no_memory();
    if (status == TAPML_OK) {
        status = divider_create(options, &divider);
    }
    if (status == TAPML_OK) {
        status = judge_all(options, examiner, divider, &list);
    }
    divider_destroy(divider);
    examiner_destroy(examiner);
    if (status != TAPML_OK) {
        verdict_list_release(&list);
        return status;
    }
    *out_list = list;
    return TAPML_OK;
}
