// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "run/model_division.h"

#include "base/text.h"
#include "config/run_config.h"
#include "run/setup.h"

#include <stdio.h>
#include <string.h>

enum { INSTANCE_TEXT = 512 };

int model_division_has(const struct run_config *config, const char *place)
{
    const size_t length = strlen(place);

    for (const char *at = config->sharding.mesh; at != NULL && *at != '\0';) {
        const size_t word = strcspn(at, " \t");

        if (word == length && strncmp(at, place, word) == 0) {
            return 1;
        }
        at += word + strspn(at + word, " \t");
    }
    return 0;
}

// What an op was before it was divided, "layers.0/attn/q_proj" of "layers.0/attn/q_proj@gpu/x", and
// the name behind the '@', NULL where it is no part.
static const char *
find_part(const char *instance, char out_whole[INSTANCE_TEXT], size_t *out_length)
{
    const char *at = strrchr(instance, '@');
    const size_t whole = at != NULL ? (size_t)(at - instance) : strlen(instance);

    (void)snprintf(out_whole, INSTANCE_TEXT, "%.*s", (int)whole, instance);
    *out_length = at != NULL ? strcspn(at + 1, "/") : 0;
    return at != NULL ? at + 1 : NULL;
}

static int is_moved(const struct plan *plan, const struct graph_op *op, const char *target)
{
    char whole[INSTANCE_TEXT];
    size_t length = 0;
    const char *part = find_part(op->instance, whole, &length);
    const char *name = op->op->name;

    return (part == NULL || (length == strlen(target) && strncmp(part, target, length) == 0)) &&
           strcmp(plan_place(plan, name, whole, PLAN_PREFILL), target) == 0 &&
           strcmp(plan_place(plan, name, whole, PLAN_DECODE), target) == 0;
}

static tapml_status add_rules(const struct plan *moved,
                              const struct graph *graph,
                              const char *target,
                              struct plan *plan)
{
    for (uint32_t i = 0; i < graph->op_count; i++) {
        struct text rule;

        if (!plan_can_name(graph->ops[i].instance) || !is_moved(moved, &graph->ops[i], target)) {
            continue;
        }
        text_init(&rule);
        text_format(&rule, "instance=%s -> %s", graph->ops[i].instance, target);
        tapml_status status = text_status(&rule);

        if (status == TAPML_OK) {
            status = plan_add(plan, rule.data, "sharding");
        }
        text_release(&rule);
        TAPML_TRY(status);
    }
    return TAPML_OK;
}

static tapml_status make_plan(const struct model_division_options *options,
                              const struct model *model,
                              struct plan **out_plan)
{
    struct plan *moved = NULL;

    TAPML_TRY(plan_parse(options->plan, "the plan of the offload", &moved));
    tapml_status status = plan_create(out_plan);

    if (status == TAPML_OK) {
        status = add_rules(moved, model_graph(model), options->target->settings.name, *out_plan);
    }
    plan_destroy(moved);
    return status;
}

static tapml_status
open_place(struct setup *setup, const struct place *like, struct place **out_place)
{
    TAPML_TRY(place_create(&like->settings, out_place));
    return setup_open_place(setup, *out_place);
}

static tapml_status open_places(const struct model_division_options *options,
                                struct model_division *division)
{
    struct setup *setup = options->judge->from.setup;
    const struct place_link link = row_bits_link(&division->bits);

    TAPML_TRY(open_place(setup, setup->places[0], &division->source));
    TAPML_TRY(open_place(setup, options->target, &division->target));
    return place_wrap(division->target, &division->target->settings, &link, 1, &division->noted);
}

tapml_status model_division_open(const struct model_division_options *options,
                                 struct model_division *out_division)
{
    const struct run_judge_options *run = &options->judge->from;
    struct model_options opening = run_config_model(run->config);

    *out_division = (struct model_division){.model = NULL};
    opening.folder = model_folder(run->setup->model); // As it was found.
    opening.sharding = &run->config->sharding;
    TAPML_TRY(model_open(run->setup->registry, &opening, &out_division->model));
    TAPML_TRY(make_plan(options, out_division->model, &out_division->plan));
    TAPML_TRY(open_places(options, out_division));
    struct place *const places[] = {out_division->source, out_division->noted};

    return session_create(&(struct session_options){.model = out_division->model,
                                                    .places = places,
                                                    .place_count = 2,
                                                    .plan = out_division->plan,
                                                    .capacity = run->config->capacity,
                                                    .chunk = options->chunk},
                          &out_division->session);
}

void model_division_close(struct model_division *division)
{
    session_destroy(division->session);
    place_destroy(division->noted);
    place_destroy(division->target);
    place_destroy(division->source);
    plan_destroy(division->plan);
    model_close(division->model);
    *division = (struct model_division){.model = NULL};
}
