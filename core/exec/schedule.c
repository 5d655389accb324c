// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/schedule.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "exec/residency.h"
#include "exec/value.h"

#include <stdio.h>
#include <string.h>

enum { SOURCE = 0 };

enum answer { ANSWER_UNKNOWN, ANSWER_YES, ANSWER_NO };

// Calls that are alike for `supports`.
struct schedule_class {
    int64_t tokens;
    int64_t length; // P + T, rounded up to a power of two.
    int64_t rows;
    uint8_t *answers;     // For each op, one for each place.
    uint8_t *places;      // For each op, under the plan with the number
    uint64_t plan_number; // here.
};

// Refusals in the order of ops and places.
struct refusal_list {
    struct schedule_refusal *items;
    size_t count;
    size_t capacity;
};

struct schedule {
    struct schedule_options given;
    uint8_t *planned; // For each phase, one for each op.
    uint64_t plan_number;
    struct schedule_class *classes;
    size_t class_count;
    size_t class_capacity;
    struct refusal_list answered; // All that were ever given: where the reasons are kept.
    struct refusal_list current;  // Those that the present plan met.
};

tapml_status schedule_create(const struct schedule_options *options, struct schedule **out_schedule)
{
    struct schedule *schedule = alloc_new(sizeof(*schedule));
    if (!schedule) {
        return status_no_memory();
    }
    schedule->given = *options;
    schedule->plan_number = 1;
    schedule->planned = alloc_array(options->graph->op_count, PLAN_PHASES);
    if (!schedule->planned) {
        schedule_destroy(schedule);
        return status_no_memory();
    }
    *out_schedule = schedule;
    return TAPML_OK;
}

void schedule_destroy(struct schedule *schedule)
{
    if (!schedule) {
        return;
    }
    for (size_t i = 0; i < schedule->class_count; i++) {
        alloc_free(schedule->classes[i].answers);
        alloc_free(schedule->classes[i].places);
    }
    alloc_free(schedule->classes);
    alloc_free(schedule->planned);
    alloc_free(schedule->answered.items);
    alloc_free(schedule->current.items);
    alloc_free(schedule);
}

tapml_status schedule_set_plan(struct schedule *schedule, const struct plan *plan)
{
    const struct space_set *spaces = schedule->given.spaces;
    const char *names[SPACE_PLACES_MAX];
    uint8_t *planned = alloc_array(schedule->given.graph->op_count, PLAN_PHASES);
    if (!planned) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < spaces->place_count; i++) {
        names[i] = spaces->places[i].name;
    }
    const tapml_status status =
        plan_resolve(plan, schedule->given.graph, names, spaces->place_count, planned);
    if (status != TAPML_OK) {
        alloc_free(planned);
        return status;
    }
    alloc_free(schedule->planned);
    schedule->planned = planned;
    schedule->plan_number++;
    schedule->current.count = 0;
    return TAPML_OK;
}

// Where (op, place) is or belongs in a list.
static size_t find_refusal(const struct refusal_list *list, uint32_t op, uint32_t place)
{
    size_t at = 0;
    while (at < list->count && (list->items[at].op < op ||
                                (list->items[at].op == op && list->items[at].place < place))) {
        at++;
    }
    return at;
}

static int is_refusal(const struct refusal_list *list, size_t at, uint32_t op, uint32_t place)
{
    return at < list->count && list->items[at].op == op && list->items[at].place == place;
}

// The first reason stays.
static tapml_status
add_refusal(struct refusal_list *list, uint32_t op, uint32_t place, const char *reason)
{
    const size_t at = find_refusal(list, op, place);
    if (is_refusal(list, at, op, place)) {
        return TAPML_OK;
    }
    if (!alloc_grow((void **)&list->items, &list->capacity, list->count, sizeof(*list->items))) {
        return status_no_memory();
    }
    memmove(&list->items[at + 1], &list->items[at], (list->count - at) * sizeof(*list->items));
    list->items[at] = (struct schedule_refusal){.op = op, .place = place};
    (void)snprintf(list->items[at].reason, sizeof(list->items[at].reason), "%s", reason);
    list->count++;
    return TAPML_OK;
}

static const char *find_reason(const struct schedule *schedule, uint32_t op, uint32_t place)
{
    const size_t at = find_refusal(&schedule->answered, op, place);
    ASSERT(is_refusal(&schedule->answered, at, op, place));
    return schedule->answered.items[at].reason;
}

// Why a weight cannot lie at a place as an op needs it, or NULL.
static const char *weight_obstacle(const struct schedule *schedule,
                                   const struct graph_value *weight,
                                   int is_view,
                                   uint32_t place)
{
    int64_t shape[TAPML_MAX_RANK];
    for (uint32_t i = 0; i < weight->rank; i++) {
        shape[i] = weight->shape[i].constant;
    }
    const struct space_place *own = &schedule->given.spaces->places[place];
    const tapml_tensor form = {.hdr = TAPML_HDR(tapml_tensor),
                               .dtype = weight->dtype,
                               .rank = weight->rank,
                               .shape = shape,
                               .encoding = weight->encoding};
    const uint64_t panels = residency_panels(own->weights, &form);
    if (panels > 1 && is_view) {
        return "comes in panels, and a view is needed";
    }
    return panels == 0 ? "is larger than a buffer" : NULL;
}

static const char *value_obstacle(const struct schedule *schedule, uint32_t value, uint32_t place)
{
    const struct backend_info *info = backend_info(schedule->given.spaces->places[place].backend);
    return !info->is_host_memory && info->buffer_bytes_max > 0 &&
                   value_buffer_bytes(schedule->given.values, value, place) > info->buffer_bytes_max
               ? "is larger than a buffer"
               : NULL;
}

// Whether all that an op touches can lie at a place. If not, the reason is put into `answer`.
static int memory_fits(const struct schedule *schedule,
                       const struct binding *binding,
                       uint32_t place,
                       tapml_support *answer)
{
    const struct graph *graph = schedule->given.graph;
    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        const uint32_t index = graph->values[binding->tensors[i].value].base;
        const struct graph_value *base = &graph->values[index];
        const int is_weight = base->kind == GRAPH_WEIGHT || base->kind == GRAPH_CONSTANT;
        const char *obstacle =
            is_weight ? weight_obstacle(schedule, base, binding_is_view(binding, i), place)
                      : value_obstacle(schedule, index, place);
        if (obstacle) {
            (void)snprintf(answer->reason, sizeof(answer->reason), "'%.60s' %s", base->name,
                           obstacle);
            return 0;
        }
    }
    return 1;
}

// Asks a place for an op, whose binding is evaluated; the answer is kept.
static tapml_status
ask(struct schedule *schedule, struct schedule_class *class, uint32_t op, uint32_t place)
{
    struct binding *binding = &schedule->given.bindings[op];
    struct backend *backend = schedule->given.spaces->places[place].backend;
    uint8_t *kept = &class->answers[op * schedule->given.spaces->place_count + place];
    tapml_support answer = {.hdr = TAPML_HDR(tapml_support), .grade = TAPML_SUPPORT_NO};
    if (*kept != ANSWER_UNKNOWN) {
        return TAPML_OK;
    }
    binding_set_activation(binding, value_marks(schedule->given.values),
                           schedule->given.spaces->places[place].activation);
    binding_set_encodings(binding, backend_info(backend)->takes);
    if (!backend_has_op(backend, binding->op->op)) {
        (void)snprintf(answer.reason, sizeof(answer.reason), "has no op '%.100s'",
                       binding->op->op->name);
    } else if (memory_fits(schedule, binding, place, &answer)) {
        const tapml_status status =
            backend_supports(backend, binding->op->schema, binding->args, &answer);
        if (status != TAPML_OK) {
            return status_explain(status, "while asking %s for %s (%s)",
                                  schedule->given.spaces->places[place].name, binding->op->instance,
                                  binding->op->op->name);
        }
    }
    if (answer.grade == TAPML_SUPPORT_NO) {
        TAPML_TRY(add_refusal(&schedule->answered, op, place,
                              answer.reason[0] ? answer.reason : "gives no reason"));
    }
    *kept = answer.grade == TAPML_SUPPORT_NO ? ANSWER_NO : ANSWER_YES;
    return TAPML_OK;
}

static tapml_status place_op(struct schedule *schedule, struct schedule_class *class, uint32_t op)
{
    const struct graph *graph = schedule->given.graph;
    const uint32_t place_count = schedule->given.spaces->place_count;
    const uint8_t *answers = &class->answers[op * place_count];
    const enum plan_phase phase = class->tokens == 1 ? PLAN_DECODE : PLAN_PREFILL;
    const uint32_t place = schedule->planned[phase * graph->op_count + op];
    class->places[op] = (uint8_t)place;
    TAPML_TRY(ask(schedule, class, op, place));
    if (answers[place] == ANSWER_YES) {
        return TAPML_OK;
    }
    if (place != SOURCE) {
        class->places[op] = SOURCE;
        TAPML_TRY(add_refusal(&schedule->current, op, place, find_reason(schedule, op, place)));
        TAPML_TRY(ask(schedule, class, op, SOURCE));
    }
    if (answers[SOURCE] == ANSWER_NO) {
        return status_fail(TAPML_UNIMPLEMENTED, "%s (%s) cannot run on %s: %s",
                           graph->ops[op].instance, graph->ops[op].op->name,
                           schedule->given.spaces->places[SOURCE].name,
                           find_reason(schedule, op, SOURCE));
    }
    return TAPML_OK;
}

static tapml_status add_class(struct schedule *schedule,
                              const struct schedule_class *wanted,
                              struct schedule_class **out_class)
{
    const struct graph *graph = schedule->given.graph;
    struct schedule_class class = *wanted;
    if (!alloc_grow((void **)&schedule->classes, &schedule->class_capacity, schedule->class_count,
                    sizeof(*schedule->classes))) {
        return status_no_memory();
    }
    class.answers = alloc_array(graph->op_count, schedule->given.spaces->place_count);
    class.places = alloc_array(graph->op_count, 1);
    if (!class.answers || !class.places) {
        alloc_free(class.answers);
        alloc_free(class.places);
        return status_no_memory();
    }
    *out_class = &schedule->classes[schedule->class_count++];
    **out_class = class;
    return TAPML_OK;
}

static int64_t power_of_two_from(int64_t value)
{
    int64_t power = 1;
    while (power < value) {
        power *= 2;
    }
    return power;
}

// The class of a call, made where it is new.
static tapml_status find_class(struct schedule *schedule,
                               const struct affine_point *point,
                               struct schedule_class **out_class)
{
    const struct schedule_class wanted = {
        .tokens = point->value[AFFINE_TOKENS],
        .length = power_of_two_from(point->value[AFFINE_POSITION] + point->value[AFFINE_TOKENS]),
        .rows = point->value[AFFINE_ROWS],
    };
    for (size_t i = 0; i < schedule->class_count; i++) {
        struct schedule_class *class = &schedule->classes[i];
        if (class->tokens == wanted.tokens && class->length == wanted.length &&
            class->rows == wanted.rows) {
            *out_class = class;
            return TAPML_OK;
        }
    }
    return add_class(schedule, &wanted, out_class);
}

tapml_status schedule_ask(struct schedule *schedule,
                          const struct affine_point *point,
                          struct schedule_answer *out_answer)
{
    struct schedule_class *class = NULL;
    TAPML_TRY(find_class(schedule, point, &class));
    ASSERT(class);
    if (class->plan_number != schedule->plan_number) {
        // The upper end of the class: who takes it takes all of them.
        const int64_t capacity = point->value[AFFINE_CAPACITY];
        const int64_t length = class->length < capacity ? class->length : capacity;
        struct affine_point end = *point;
        end.value[AFFINE_POSITION] = length - class->tokens;
        for (uint32_t op = 0; op < schedule->given.graph->op_count; op++) {
            binding_evaluate(&schedule->given.bindings[op], &end);
            TAPML_TRY(place_op(schedule, class, op));
        }
        class->plan_number = schedule->plan_number;
    }
    *out_answer = (struct schedule_answer){
        .places = class->places,
        .plan_number = class->plan_number,
    };
    return TAPML_OK;
}

uint32_t schedule_refusal_count(const struct schedule *schedule)
{
    return (uint32_t)schedule->current.count;
}

const struct schedule_refusal *schedule_refusal_at(const struct schedule *schedule, uint32_t index)
{
    ASSERT(index < schedule->current.count);
    return &schedule->current.items[index];
}
