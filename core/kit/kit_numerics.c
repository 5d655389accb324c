// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_numerics.h"

#include "base/alloc.h"
#include "kit/kit_cases.h"
#include "kit/kit_device.h"
#include "kit/kit_subject.h"

#include <tapml/ops.h>

#include <string.h>

enum { LIMIT_S = 600 };

static const char PREFIX[] = "tapml."; // Of the ops of the catalogue.

// Models whose cases come with the kit (tools/cases): the one that is embedded, and others that are
// as unlike as can be. Together they have every op of the catalogue.
#define MODELS(ROW)                                                                                \
    ROW(tiny)                                                                                      \
    ROW(gemma2)                                                                                    \
    ROW(deepseek_v2_groups)                                                                        \
    ROW(deepseek_v3)                                                                               \
    ROW(gpt_oss)                                                                                   \
    ROW(phimoe)                                                                                    \
    ROW(ernie4_5_moe)                                                                              \
    ROW(qwen3_next)                                                                                \
    ROW(bert)                                                                                      \
    ROW(rwkv4)                                                                                     \
    ROW(rwkv7)                                                                                     \
    ROW(quantised_compressed)

#define MODEL_NAME(name) #name,
static const char *const models[] = {MODELS(MODEL_NAME)};
enum { MODEL_COUNT = sizeof(models) / sizeof(*models) };

// -- What it comes to --------------------------------------------------------------------------

// An op that the device does not have, or not for these arguments, is no failure.
static void conclude(const struct kit_cases *cases, struct kit_result *io_result)
{
    if (!kit_result_is_good(io_result)) {
        return;
    }
    if (cases->wrong > 0) {
        kit_result_fail(io_result, "%zu of %zu case%s wrong, the first is %s", cases->wrong,
                        cases->judged, cases->judged == 1 ? " is" : "s are", cases->first);
    } else if (cases->judged == 0 && cases->unsupported > 0) {
        kit_result_skip(io_result, "it is not supported: %s", cases->refusal);
    } else if (cases->judged == 0) {
        kit_result_skip(io_result, "there is no case of it");
    }
}

// -- Ops ---------------------------------------------------------------------------------------

// Whether the device lists the op; the result says why not. A cheap answer, before cases are looked
// for: most plugins that are written have few ops.
static int has_op(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_device device;
    const tapml_op_impl *const *list = NULL;
    uint32_t count = 0;
    int has = 0;

    if (kit_device_open(subject, io_result, &device) &&
        kit_device_expect(
            &device, io_result, "ops",
            device.table->ops(device.device, stand_in_call(device.host), &list, &count))) {
        for (uint32_t i = 0; !has && i < count; i++) {
            const char *name = list[i]->op->name;

            has = strncmp(name, PREFIX, strlen(PREFIX)) == 0 &&
                  strcmp(name + strlen(PREFIX), subject->what) == 0;
        }
        if (!has) {
            kit_result_skip(io_result, "the device does not have it");
        }
    }
    kit_device_close(&device);
    return has;
}

static void op_computes(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_cases cases;

    if (!has_op(subject, io_result)) {
        return;
    }
    int goes_on = kit_cases_open(subject, io_result, &cases);

    for (size_t i = 0; goes_on && cases.wrong == 0 && i < MODEL_COUNT; i++) {
        char *path = kit_cases_find(models[i], io_result);

        goes_on =
            path != NULL &&
            kit_cases_judge(&cases,
                            &(struct kit_cases_question){
                                .store = path, .op = subject->what, .derives = 1, .takes_f16 = 1});
        alloc_free(path);
    }
    conclude(&cases, io_result);
    kit_cases_close(&cases);
}

// -- Models ------------------------------------------------------------------------------------

static void
judge_all(const struct kit_subject *subject, const char *path, struct kit_result *io_result)
{
    struct kit_cases cases;
    const struct kit_cases_question question = {.store = path};

    if (kit_cases_open(subject, io_result, &cases)) {
        (void)kit_cases_judge(&cases, &question); // The result says it.
    }
    conclude(&cases, io_result);
    kit_cases_close(&cases);
}

static void model_is_computed(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_subject whole = *subject;
    char *path = kit_cases_find(subject->what, io_result);

    whole.what = NULL;
    if (path != NULL) {
        judge_all(&whole, path, io_result);
    }
    alloc_free(path);
}

static void replay_is_right(const struct kit_subject *subject, struct kit_result *io_result)
{
    if (subject->replay == NULL) {
        kit_result_skip(io_result, "no store is given: --replay FILE");
        return;
    }
    judge_all(subject, subject->replay, io_result);
}

// -- The table ---------------------------------------------------------------------------------

#define OP_CHECK(name, upper)                                                                      \
    {.id = "O-" #name,                                                                             \
     .level = KIT_NUMERICS,                                                                        \
     .scope = KIT_OF_BACKEND,                                                                      \
     .about = #name " computes its formula, at any shape and with any values",                     \
     .limit_s = LIMIT_S,                                                                           \
     .run = op_computes,                                                                           \
     .what = #name,                                                                                \
     .ground = KIT_GROUND_OF_LEVEL},
#define MODEL_CHECK(name)                                                                          \
    {.id = "W-" #name,                                                                             \
     .level = KIT_MODELS,                                                                          \
     .scope = KIT_OF_BACKEND,                                                                      \
     .about = "the ops of " #name " compute it, one after the other",                              \
     .limit_s = LIMIT_S,                                                                           \
     .run = model_is_computed,                                                                     \
     .what = #name},

static const struct kit_check CHECKS[] = {
    TAPML_OPS_EACH(OP_CHECK) MODELS(MODEL_CHECK){
        .id = "R-01",
        .level = KIT_MODELS,
        .scope = KIT_OF_BACKEND,
        .about = "the cases of --replay are computed",
        .limit_s = LIMIT_S,
        .run = replay_is_right,
    },
    {.id = NULL},
};

const struct kit_check *kit_numerics_checks(void)
{
    return CHECKS;
}
