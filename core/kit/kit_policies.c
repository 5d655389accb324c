// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_policies.h"

#include "kit/kit_device.h"
#include "kit/kit_subject.h"
#include "plugin/policy_answer.h"
#include "plugin/policy_table.h"
#include "plugin/process.h"
#include "store/feature.h"

#include <tapml/ops.h>

#include <math.h>
#include <string.h>

enum {
    LIMIT_S = 60,
    KINDS = 5,
    CASES = 6,
    CHOSEN_MAX = 3,
    ORDERED = 4,
    CHANGES = 3,
    OPERATORS = 5,
    PLACES = 3,
    PLANS = 4
};

// A policy that is asked.
struct asked {
    struct kit_device device; // Open up to its root.
    const tapml_policy *table;
    struct kit_result *result;
    enum policy_role role;
};

// Whether the policy is open and has the function. The caller closes the device in either case.
static int open_for(const struct kit_subject *subject,
                    enum policy_role role,
                    struct kit_result *io_result,
                    struct asked *out_asked)
{
    *out_asked = (struct asked){.result = io_result, .role = role};
    if (!kit_device_open_root(subject, io_result, &out_asked->device)) {
        return 0;
    }
    out_asked->table = (const void *)out_asked->device.table;
    if (!policy_table_has(out_asked->table, subject->descriptor->kind, role)) {
        kit_result_skip(io_result, "it has no function '%s'", policy_table_function(role));
        return 0;
    }
    return 1;
}

// What a function has come to, and what `check` says of its answer.
static int expect(struct asked *asked, tapml_status status, uint64_t mode, tapml_status check)
{
    if (process_float_mode() != mode) {
        process_set_float_mode(mode);
        kit_result_fail(asked->result, "it leaves another floating-point mode behind");
    }
    if (kit_device_expect(&asked->device, asked->result, policy_table_function(asked->role),
                          status) &&
        check != TAPML_OK) {
        kit_result_fail(asked->result, "%s", status_message());
    }
    return kit_result_is_good(asked->result);
}

// -- Kinds -------------------------------------------------------------------------------------

static int order_once(struct asked *asked, uint32_t *out_order)
{
    static const tapml_op *const ops[KINDS] = {&tapml_linear, &tapml_attention, &tapml_silu,
                                               &tapml_add, &tapml_embed};
    const uint64_t mode = process_float_mode();
    tapml_policy_kind kinds[KINDS];
    const tapml_policy_kind *list[KINDS];

    for (uint32_t i = 0; i < KINDS; i++) {
        kinds[i] = (tapml_policy_kind){.hdr = TAPML_HDR(tapml_policy_kind),
                                       .op = ops[i],
                                       .instances = i + 1,
                                       .calls = 2 * (i + 1),
                                       .source_ns = 1000 >> i};
        list[i] = &kinds[i];
        out_order[i] = i;
    }
    const tapml_status status = asked->table->order(
        asked->device.root, stand_in_call(asked->device.host), list, KINDS, out_order);

    return expect(asked, status, mode,
                  status == TAPML_OK ? policy_answer_check_kinds(list, KINDS, out_order)
                                     : TAPML_OK);
}

static void orders_are_whole(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct asked asked;
    uint32_t first[KINDS], again[KINDS];

    if (open_for(subject, POLICY_ORDER, io_result, &asked) && order_once(&asked, first) &&
        order_once(&asked, again) && memcmp(first, again, sizeof(first)) != 0) {
        kit_result_fail(io_result, "the same kinds get two orders");
    }
    kit_device_close(&asked.device);
}

// -- Cases -------------------------------------------------------------------------------------

struct shown_kept {
    tapml_policy_case items[CASES];
    const tapml_policy_case *list[CASES];
    double features[CASES][FEATURE_COUNT];
    const char *names[FEATURE_COUNT];
    tapml_policy_cases question;
};

// Cases of two signatures, with all features that a run has; some do not apply to one of them.
static void make_question(double time_max_ns, struct shown_kept *out_shown)
{
    for (size_t k = 0; k < FEATURE_COUNT; k++) {
        out_shown->names[k] = feature_name(k);
    }
    for (uint32_t i = 0; i < CASES; i++) {
        const int is_silu = i % 3 == 0;

        for (size_t k = 0; k < FEATURE_COUNT; k++) {
            const int applies = is_silu || k < FEATURE_largest;

            out_shown->features[i][k] = applies ? (double)(i + 1) / (double)(k + 1) : NAN;
        }
        out_shown->items[i] =
            (tapml_policy_case){.hdr = TAPML_HDR(tapml_policy_case),
                                .op = is_silu ? "tapml.silu" : "tapml.linear",
                                .instance = is_silu ? "layers.0/mlp/act" : "layers.0/mlp/up_proj",
                                .phase = i < CASES / 2 ? "prefill" : "decode",
                                .signature = is_silu ? "tapml.silu 1 f32" : "tapml.linear 1 f32",
                                .source_ns = i == 1 ? 0 : 100 * (i + 1),
                                .time_ns = isinf(time_max_ns) ? (double)NAN : 100.0 * (i + 1),
                                .features = out_shown->features[i]};
        out_shown->list[i] = &out_shown->items[i];
    }
    out_shown->question = (tapml_policy_cases){.hdr = TAPML_HDR(tapml_policy_cases),
                                               .target = "target",
                                               .cases = out_shown->list,
                                               .features = out_shown->names,
                                               .n_cases = CASES,
                                               .n_features = FEATURE_COUNT,
                                               .count_max = isinf(time_max_ns) ? CHOSEN_MAX : CASES,
                                               .time_max_ns = time_max_ns};
}

static int select_once(struct asked *asked, double time_max_ns, uint32_t *out_chosen)
{
    const uint64_t mode = process_float_mode();
    struct shown_kept shown;
    double worth[CASES] = {0};
    uint32_t count = 0;

    make_question(time_max_ns, &shown);
    memset(out_chosen, 0, CASES * sizeof(*out_chosen));
    const tapml_status status =
        asked->table->select(asked->device.root, stand_in_call(asked->device.host), &shown.question,
                             out_chosen, worth, &count);

    return expect(asked, status, mode,
                  status == TAPML_OK
                      ? policy_answer_check_choice(&shown.question, out_chosen, worth, count)
                      : TAPML_OK);
}

static void choices_are_kept(const struct kit_subject *subject, struct kit_result *io_result)
{
    static const double times_ns[] = {INFINITY, 700, 50}; // Of the last none has room.
    struct asked asked;
    uint32_t first[CASES], again[CASES];
    int is_good = open_for(subject, POLICY_SELECT, io_result, &asked);

    for (size_t i = 0; is_good && i < sizeof(times_ns) / sizeof(*times_ns); i++) {
        is_good =
            select_once(&asked, times_ns[i], first) && select_once(&asked, times_ns[i], again);
        if (is_good && memcmp(first, again, sizeof(first)) != 0) {
            kit_result_fail(io_result, "the same cases and budget get two choices");
        }
    }
    kit_device_close(&asked.device);
}

static int order_cases_once(struct asked *asked, uint32_t *out_order)
{
    static const uint32_t given[ORDERED] = {0, 2, 3, 5};
    const uint64_t mode = process_float_mode();
    struct shown_kept shown;

    make_question(INFINITY, &shown);
    memcpy(out_order, given, sizeof(given));
    const tapml_status status = asked->table->order_cases(
        asked->device.root, stand_in_call(asked->device.host), &shown.question, ORDERED, out_order);

    return expect(asked, status, mode,
                  status == TAPML_OK
                      ? policy_answer_check_cases(&shown.question, given, out_order, ORDERED)
                      : TAPML_OK);
}

static void cases_are_whole(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct asked asked;
    uint32_t first[ORDERED], again[ORDERED];

    if (open_for(subject, POLICY_ORDER_CASES, io_result, &asked) &&
        order_cases_once(&asked, first) && order_cases_once(&asked, again) &&
        memcmp(first, again, sizeof(first)) != 0) {
        kit_result_fail(io_result, "the same cases get two orders");
    }
    kit_device_close(&asked.device);
}

// -- Looks -------------------------------------------------------------------------------------

// The first look, one without a change, and one with a change of a driver, a file and a build.
static int look_once(struct asked *asked, int round, tapml_policy_answer *out_answer)
{
    static const tapml_policy_change changes[CHANGES] = {{.hdr = TAPML_HDR(tapml_policy_change),
                                                          .what = TAPML_CHANGED_DRIVER,
                                                          .target = "target",
                                                          .before = "1.0",
                                                          .now = "1.1"},
                                                         {.hdr = TAPML_HDR(tapml_policy_change),
                                                          .what = TAPML_CHANGED_FILE,
                                                          .path = "/tmp/run.ini",
                                                          .before = NULL,
                                                          .now = ""},
                                                         {.hdr = TAPML_HDR(tapml_policy_change),
                                                          .what = TAPML_CHANGED_BUILD,
                                                          .target = "target",
                                                          .before = "",
                                                          .now = "00ff"}};
    const tapml_policy_change *const list[CHANGES] = {&changes[0], &changes[1], &changes[2]};
    const uint64_t mode = process_float_mode();
    const tapml_policy_look look = {.hdr = TAPML_HDR(tapml_policy_look),
                                    .changes = round < 2 ? NULL : list,
                                    .n_changes = round < 2 ? 0 : CHANGES,
                                    .is_first = round == 0,
                                    .cases = 80,
                                    .stale = round == 1 ? 0 : 80,
                                    .regret_s = 1,
                                    .cost_s = 2,
                                    .drift = 1};

    *out_answer = (tapml_policy_answer){.hdr = TAPML_HDR(tapml_policy_answer)};
    const tapml_status status = asked->table->trigger(
        asked->device.root, stand_in_call(asked->device.host), &look, out_answer);

    return expect(asked, status, mode,
                  status == TAPML_OK ? policy_answer_check_look(out_answer) : TAPML_OK);
}

static void triggers_decide(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct asked asked;
    tapml_policy_answer first, again;
    int is_good = open_for(subject, POLICY_TRIGGER, io_result, &asked);

    for (int round = 0; is_good && round < 3; round++) {
        is_good = look_once(&asked, round, &first) && look_once(&asked, round, &again);
        if (is_good && first.runs != again.runs) {
            kit_result_fail(io_result, "the same look gets two answers");
        }
    }
    kit_device_close(&asked.device);
}

// -- Plans -------------------------------------------------------------------------------------

// Operators over three places, some of which may not run at the last one.
static int build_once(struct asked *asked, uint8_t *out_places, uint32_t *out_count)
{
    static const tapml_op *const ops[OPERATORS] = {&tapml_embed, &tapml_rms_norm, &tapml_linear,
                                                   &tapml_linear, &tapml_silu};
    static const char *const names[OPERATORS] = {"embed", "layers.0/norm", "layers.0/proj",
                                                 "layers.1/proj", "layers.1/act"};
    static const char *const places[PLACES] = {"source", "gpu", "npu"};
    static const double times_ns[OPERATORS][PLACES] = {
        {100, 900, 50}, {200, 100, NAN}, {5000, 800, 700}, {5000, 800, 700}, {300, NAN, 200}};
    static const uint8_t may_run[OPERATORS][PLACES] = {
        {1, 1, 0}, {1, 1, 1}, {1, 1, 1}, {1, 0, 1}, {1, 1, 0}};
    const uint64_t mode = process_float_mode();
    tapml_policy_op items[OPERATORS];
    const tapml_policy_op *list[OPERATORS];

    for (uint32_t i = 0; i < OPERATORS; i++) {
        items[i] = (tapml_policy_op){.hdr = TAPML_HDR(tapml_policy_op),
                                     .op = ops[i],
                                     .instance = names[i],
                                     .time_ns = times_ns[i],
                                     .may_run = may_run[i]};
        list[i] = &items[i];
    }
    const tapml_policy_ops question = {.hdr = TAPML_HDR(tapml_policy_ops),
                                       .places = places,
                                       .ops = list,
                                       .n_places = PLACES,
                                       .n_ops = OPERATORS,
                                       .count_max = PLANS};

    *out_count = 0;
    memset(out_places, 0, (size_t)PLANS * OPERATORS);
    const tapml_status status = asked->table->build(
        asked->device.root, stand_in_call(asked->device.host), &question, out_places, out_count);

    return expect(asked, status, mode,
                  status == TAPML_OK ? policy_answer_check_plans(&question, out_places, *out_count)
                                     : TAPML_OK);
}

static void plans_may_run(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct asked asked;
    uint8_t first[PLANS * OPERATORS], again[PLANS * OPERATORS];
    uint32_t counts[2];

    if (open_for(subject, POLICY_BUILD, io_result, &asked) &&
        build_once(&asked, first, &counts[0]) && build_once(&asked, again, &counts[1]) &&
        (counts[0] != counts[1] || memcmp(first, again, sizeof(first)) != 0)) {
        kit_result_fail(io_result, "the same operators get two lists of plans");
    }
    kit_device_close(&asked.device);
}

// -- The table ---------------------------------------------------------------------------------

#define OF_POLICIES                                                                                \
    .level = KIT_CONTRACT, .scope = KIT_OF_OTHER, .kind = TAPML_KIND_POLICY, .limit_s = LIMIT_S

static const struct kit_check CHECKS[] = {
    {.id = "K-04",
     OF_POLICIES,
     .about = "an order has each kind once, and is always the same",
     .run = orders_are_whole},
    {.id = "K-05",
     OF_POLICIES,
     .about = "a choice has cases once, keeps its budget, and is always the same",
     .run = choices_are_kept},
    {.id = "K-06",
     OF_POLICIES,
     .about = "an order has each case once, and is always the same",
     .run = cases_are_whole},
    {.id = "K-07",
     OF_POLICIES,
     .about = "a look is answered by yes or no, and always the same",
     .run = triggers_decide},
    {.id = "K-08",
     OF_POLICIES,
     .about = "a plan has each operator where it may run, and plans are always the same",
     .run = plans_may_run},
    {.id = NULL},
};

const struct kit_check *kit_policies_checks(void)
{
    return CHECKS;
}
