// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "run/run_judge.h"

#include "base/alloc.h"
#include "config/run_config.h"
#include "exec/declared.h"
#include "exec/reduced.h"
#include "model/prompts.h"
#include "run/calibration.h"
#include "run/identity.h"
#include "run/interrupt.h"
#include "run/progress.h"
#include "run/setup.h"
#include "store/prompt.h"

#include <stdio.h>
#include <string.h>

tapml_status run_judge_session(const struct run_judge *judge,
                               struct place *other,
                               const struct plan *plan,
                               struct session **out_session)
{
    const struct setup *setup = judge->from.setup;
    struct place *const places[] = {setup->places[0], other};

    return session_create(&(struct session_options){.model = setup->model,
                                                    .places = places,
                                                    .place_count = other != NULL ? 2 : 1,
                                                    .plan = plan,
                                                    .capacity = judge->from.config->capacity,
                                                    .chunk = judge->from.config->chunk},
                          out_session);
}

static tapml_status make_simple(const struct run_judge *judge,
                                struct place *other,
                                const char *rule,
                                struct session **out_session)
{
    struct plan *plan = NULL;

    TAPML_TRY(plan_create(&plan));
    tapml_status status = plan_add(plan, rule, "plan");

    if (status == TAPML_OK) {
        status = run_judge_session(judge, other, plan, out_session);
    }
    plan_destroy(plan);
    return status;
}

static tapml_status load_prompts(struct run_judge *judge)
{
    const struct prompts *prompts = judge->from.prompts;

    judge->prompts = alloc_array(prompts->count + 1, sizeof(*judge->prompts));
    if (judge->prompts == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < prompts->count; i++) {
        const struct prompt *prompt = &prompts->items[i];
        struct judge_prompt *judged = &judge->prompts[i];
        int32_t *greedy = NULL;

        TAPML_TRY(prompt_greedy(judge->from.store, prompt->id, &greedy, &judged->greedy_count));
        judged->ids = prompt->ids;
        judged->count = (int64_t)prompt->count;
        judged->given = prompt->given;
        judged->greedy = greedy;
        judged->text = prompt->text;
        judged->id = prompt->id;
    }
    return TAPML_OK;
}

// Runs the model on a device that calibrates; what that refuses in a reduced dtype on the source.
static tapml_status
measure(struct run_judge *judge, struct place *place, struct judge_limits *out_limits)
{
    struct session *session = NULL;

    TAPML_TRY(make_simple(judge, place, "* -> calibrate", &session));
    const tapml_status status = judge_calibrate(
        judge->judge, session, (size_t)judge->from.config->offload_prompts, out_limits);

    judge->executions += session_executions(session);
    session_destroy(session);
    return status;
}

// Takes the limits of a place from the store, or measures them.
static tapml_status settle(struct run_judge *judge,
                           const char *name,
                           struct place *place,
                           struct judge_limits *out_limits)
{
    const struct graph *graph = model_graph(judge->from.setup->model);
    char device[HASH_TEXT], source[HASH_TEXT];
    const struct calibration calibration = {.name = name,
                                            .device = device,
                                            .source = source,
                                            .prompts = judge->from.config->offload_prompts};
    int has = 0;

    TAPML_TRY(identity_of_graph(place->backend, graph, device));
    TAPML_TRY(identity_of_graph(judge->from.setup->places[0]->backend, graph, source));
    TAPML_TRY(calibration_find(judge->from.store, &calibration, out_limits, &has));
    if (has) {
        return TAPML_OK;
    }
    TAPML_TRY(measure(judge, place, out_limits));
    return calibration_keep(judge->from.store, &calibration, out_limits);
}

static tapml_status settle_reduced(struct run_judge *judge,
                                   struct run_judge_device *device,
                                   enum activation activation,
                                   const struct place *base)
{
    struct place_settings settings = base->settings;
    const struct place_link link = reduced_link();
    struct place *place = NULL;
    char name[sizeof(device->name) + 8];

    (void)snprintf(name, sizeof(name), "%s %s", device->name, activation_type(activation)->name);
    settings.activation = activation;
    TAPML_TRY(place_wrap(base, &settings, &link, 1, &place));
    const tapml_status status = settle(judge, name, place, &device->limits[activation]);

    place_destroy(place);
    return status;
}

// Limits in a reduced dtype that some target has.
static tapml_status settle_wanted(struct run_judge *judge,
                                  struct run_judge_device *device,
                                  enum activation activation,
                                  const struct place *base)
{
    const struct run_config *config = judge->from.config;

    for (size_t i = 0; i < config->target_count; i++) {
        if (config->targets[i].activation == activation) {
            return settle_reduced(judge, device, activation, base);
        }
    }
    return TAPML_OK;
}

static tapml_status calibrate_on(struct run_judge *judge, struct run_judge_device *device)
{
    const struct setup *setup = judge->from.setup;
    const struct place_link link = place_device_link(setup->registry);
    struct place *place = NULL;

    TAPML_TRY(place_create(&(struct place_settings){.name = "calibrate", .backend = device->name},
                           &place));
    tapml_status status = place_open(place, NULL, &link, 1);

    if (status == TAPML_OK) {
        status = identity_of_graph(place->backend, model_graph(setup->model), device->identity);
    }
    if (status == TAPML_OK) {
        status = settle(judge, device->name, place, &device->limits[ACTIVATION_F32]);
    }
    for (unsigned i = 0; status == TAPML_OK && i < ACTIVATION_COUNT; i++) {
        if (activation_is_reduced((enum activation)i)) {
            status = settle_wanted(judge, device, (enum activation)i, place);
        }
    }
    place_destroy(place);
    return status;
}

static int declares(struct backend *target, const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->op_count; i++) {
        if (arithmetic_is_reduced(backend_arithmetic(target, graph->ops[i].op))) {
            return 1;
        }
    }
    return 0;
}

// Limits of a device that computes as the target declares.
static tapml_status settle_declared(struct run_judge *judge,
                                    const struct run_judge_device *device,
                                    struct backend *target,
                                    struct judge_limits *out_limits)
{
    const struct backend_info *info = backend_info(target);
    const struct place_settings settings = {
        .name = "calibrate", .backend = device->name, .activation = info->activation};
    struct place_link links[3] = {place_device_link(judge->from.setup->registry),
                                  declared_link(target), reduced_link()};
    struct place *place = NULL;
    char name[2 * sizeof(device->name)];

    (void)snprintf(name, sizeof(name), "%s as %s:%s %s", device->name, info->component,
                   info->device, activation_type(info->activation)->name);
    TAPML_TRY(place_create(&settings, &place));
    tapml_status status =
        place_open(place, NULL, links, activation_is_reduced(info->activation) ? 3 : 2);

    if (status == TAPML_OK) {
        status = settle(judge, name, place, out_limits);
    }
    place_destroy(place);
    return status;
}

tapml_status run_judge_set_limits(struct run_judge *judge, struct backend *target)
{
    if (judge->judge == NULL) { // No model.
        return TAPML_OK;
    }
    const struct backend_info *info = target != NULL ? backend_info(target) : NULL;
    const int has = target != NULL && declares(target, model_graph(judge->from.setup->model));
    struct judge_limits limits[RUN_JUDGE_DEVICES_MAX];
    char own[256] = "";
    size_t count = 0;

    if (info != NULL) {
        (void)snprintf(own, sizeof(own), "%s:%s", info->component, info->device);
    }
    for (size_t i = 0; i < judge->device_count; i++) {
        if (strcmp(judge->devices[i].name, own) == 0) {
            continue;
        }
        limits[count] = judge->devices[i].limits[info != NULL ? info->activation : ACTIVATION_F32];
        if (has) {
            TAPML_TRY(settle_declared(judge, &judge->devices[i], target, &limits[count]));
        }
        count++;
    }
    judge_set_limits(judge->judge, limits, count);
    return TAPML_OK;
}

// Runs the model on the devices on which limits are calibrated.
static tapml_status calibrate(struct run_judge *judge)
{
    const struct setup *setup = judge->from.setup;
    const struct graph *graph = model_graph(setup->model);
    const char *component = registry_oracle(setup->registry, graph->ops[0].op);
    const char *devices =
        component != NULL ? registry_component_key(setup->registry, component, "calibrates") : NULL;
    struct progress progress;

    progress_begin(&progress, "calibrate", 0);
    progress.lock = judge->from.lock;
    TAPML_TRY(progress_show(&progress, 0, 0));
    for (; devices != NULL && *devices != '\0'; devices += strspn(devices, " ")) {
        struct run_judge_device *device = &judge->devices[judge->device_count];
        const size_t length = strcspn(devices, " ");

        if (judge->device_count == RUN_JUDGE_DEVICES_MAX) {
            return status_fail(TAPML_INVALID, "'%s' has more than %d devices that calibrate",
                               component, RUN_JUDGE_DEVICES_MAX);
        }
        (void)snprintf(device->name, sizeof(device->name), "%s:%.*s", component, (int)length,
                       devices);
        TAPML_TRY(calibrate_on(judge, device));
        judge->device_count++;
        TAPML_TRY(interrupt_check());
        devices += length;
    }
    TAPML_TRY(run_judge_set_limits(judge, NULL));
    progress_end(&progress, "end-to-end limit %.3g", judge_distance_limit(judge->judge));
    return TAPML_OK;
}

tapml_status run_judge_open(const struct run_judge_options *options, struct run_judge *out_judge)
{
    const size_t kept = (size_t)options->config->offload_prompts;
    const size_t count = options->prompts->count;

    *out_judge = (struct run_judge){.from = *options};
    if (options->setup->model == NULL) {
        return TAPML_OK;
    }
    TAPML_TRY(load_prompts(out_judge));
    TAPML_TRY(make_simple(out_judge, NULL, "* -> source", &out_judge->source));
    TAPML_TRY(judge_create(&(struct judge_options){.source = out_judge->source,
                                                   .graph = model_graph(options->setup->model),
                                                   .prompts = out_judge->prompts,
                                                   .prompt_count = count,
                                                   .kept_count = kept < count ? kept : count},
                           &out_judge->judge));
    return calibrate(out_judge);
}

void run_judge_close(struct run_judge *judge)
{
    judge_destroy(judge->judge);
    session_destroy(judge->source);
    for (size_t i = 0; judge->prompts != NULL && i < judge->from.prompts->count; i++) {
        // The judge only borrows what prompt_greedy gave.
        alloc_free((void *)(uintptr_t)judge->prompts[i].greedy);
    }
    alloc_free(judge->prompts);
}
