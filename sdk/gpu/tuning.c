// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tuning.h"

#include "ops.h"

#include <string.h>

// What the host has set for a class of an op.
struct gpu_setting {
    const char *op; // That of the choice: static.
    char shape_class[TAPML_TUNING_CLASS_BYTES];
    uint32_t values[GPU_KNOBS_MAX];
};

// What the host is told, and what was set.
struct gpu_settings {
    uint32_t count;
    struct gpu_setting items[GPU_SETTINGS_MAX];
    tapml_knob knobs[GPU_KNOBS_MAX];
    const tapml_knob *list[GPU_KNOBS_MAX];
};

// A question in a dry run: what is there to choose, or whether values are legal.
struct gpu_question {
    tapml_knobs *answer;   // NULL: asks for `values`.
    const int64_t *values; // One for each knob.
    uint32_t is_legal;
    int is_answered; // By the first choice of the call; others of the same call follow it.
};

static const struct {
    const char *op;
    const struct gpu_knob *knobs;
    uint32_t count;
} tuned_ops[] = {
    {"tapml.linear", gpu_linear_knobs, GPU_LINEAR_KNOBS},
    {"tapml.attention", gpu_attention_knobs, GPU_ATTENTION_KNOBS},
};

uint32_t gpu_tuning_find(const char *op, const struct gpu_knob **out_knobs)
{
    for (size_t i = 0; i < sizeof(tuned_ops) / sizeof(tuned_ops[0]); i++) {
        if (strcmp(tuned_ops[i].op, op) == 0) {
            *out_knobs = tuned_ops[i].knobs;
            return tuned_ops[i].count;
        }
    }
    return 0;
}

// The place of a value in the list of a knob; `n_values` where it is not in it.
static uint32_t find_value(const struct gpu_knob *knob, int64_t value)
{
    uint32_t at = 0;

    while (at < knob->n_values && knob->values[at] != value) {
        at++;
    }
    return at;
}

// -- In the function of an op ------------------------------------------------------------------

// A device that chooses what is in no list has nothing to choose there: its lists know powers of
// two.
static void
note_knobs(struct gpu_queue *queue, const struct gpu_choice *choice, const uint32_t *values)
{
    struct gpu_settings *settings = queue->device->settings;
    tapml_knobs *answer = queue->question->answer;

    for (uint32_t i = 0; i < choice->count; i++) {
        const struct gpu_knob *knob = &choice->knobs[i];
        const uint32_t chosen = find_value(knob, values[i]);

        if (chosen == knob->n_values) {
            return;
        }
        settings->knobs[i] = (tapml_knob){.hdr = TAPML_HDR(tapml_knob),
                                          .name = knob->name,
                                          .about = knob->about,
                                          .values = knob->values,
                                          .n_values = knob->n_values,
                                          .chosen = chosen};
        settings->list[i] = &settings->knobs[i];
    }
    if (choice->is_legal(queue, choice->subject, values)) {
        choice->print_class(queue, choice->subject, answer->shape_class);
        answer->knobs = settings->list;
        answer->n_knobs = choice->count;
    }
}

static void
answer_question(struct gpu_queue *queue, const struct gpu_choice *choice, const uint32_t *values)
{
    struct gpu_question *question = queue->question;
    uint32_t asked[GPU_KNOBS_MAX];

    if (question->is_answered) {
        return;
    }
    question->is_answered = 1;
    if (question->answer != NULL) {
        note_knobs(queue, choice, values);
        return;
    }
    for (uint32_t i = 0; i < choice->count; i++) {
        if (find_value(&choice->knobs[i], question->values[i]) == choice->knobs[i].n_values) {
            return;
        }
        asked[i] = (uint32_t)question->values[i];
    }
    question->is_legal = choice->is_legal(queue, choice->subject, asked) != 0;
}

// The setting of a class; NULL where there is none.
static struct gpu_setting *
find_setting(struct gpu_settings *settings, const char *op, const char *shape_class)
{
    for (uint32_t i = 0; i < settings->count; i++) {
        if (strcmp(settings->items[i].op, op) == 0 &&
            strcmp(settings->items[i].shape_class, shape_class) == 0) {
            return &settings->items[i];
        }
    }
    return NULL;
}

void gpu_tuning_choose(struct gpu_queue *queue,
                       const struct gpu_choice *choice,
                       uint32_t *io_values)
{
    struct gpu_settings *settings = queue->device->settings;
    char shape_class[TAPML_TUNING_CLASS_BYTES];

    if (queue->question != NULL) {
        answer_question(queue, choice, io_values);
        return;
    }
    if (settings == NULL || settings->count == 0) {
        return;
    }
    choice->print_class(queue, choice->subject, shape_class);
    const struct gpu_setting *setting = find_setting(settings, choice->op, shape_class);

    if (setting == NULL) {
        setting = find_setting(settings, choice->op, TAPML_TUNING_ALL_CLASSES);
    }

    if (setting != NULL && choice->is_legal(queue, choice->subject, setting->values)) {
        memcpy(io_values, setting->values, choice->count * sizeof(*io_values));
    }
}

// -- The interface -----------------------------------------------------------------------------

static tapml_status make_settings(struct gpu_device *device, tapml_call *call)
{
    if (device->settings == NULL) {
        device->settings = gpu_alloc(&device->root->host, sizeof(*device->settings));
    }
    return device->settings != NULL ? TAPML_OK : gpu_no_memory(&device->root->host, call);
}

void gpu_tuning_release(struct gpu_device *device)
{
    gpu_free(&device->root->host, device->settings, sizeof(*device->settings));
}

// Calls the function of the op in a dry run. What it refuses has no knobs.
static tapml_status ask(struct gpu_device *device,
                        tapml_call *call,
                        const tapml_op *op,
                        const tapml_value *args,
                        struct gpu_question *question)
{
    tapml_support answer = {.hdr = TAPML_HDR(tapml_support), .grade = TAPML_SUPPORT_YES};
    struct gpu_queue dry = {.device = device, .answer = &answer, .question = question};
    const tapml_op_impl *impl = gpu_ops_find(device->root, op);
    const tapml_status status =
        impl != NULL ? gpu_ops_apply(device->root, impl, &dry.base, call, args) : TAPML_OK;

    if (answer.grade == TAPML_SUPPORT_NO || status == TAPML_UNIMPLEMENTED) {
        if (question->answer != NULL) {
            question->answer->n_knobs = 0;
        }
        question->is_legal = 0;
        return TAPML_OK;
    }
    return status;
}

static tapml_status tuning_knobs(tapml_object *object,
                                 tapml_call *call,
                                 const tapml_op *op,
                                 const tapml_value *args,
                                 uint32_t n_args,
                                 tapml_knobs *answer)
{
    struct gpu_device *device = (struct gpu_device *)object;
    const struct gpu_knob *knobs;
    struct gpu_question question = {.answer = answer};
    const tapml_status status = make_settings(device, call);

    if (status != TAPML_OK || gpu_tuning_find(op->name, &knobs) == 0) {
        return status;
    }
    return ask(device, call, op, args, &question);
}

static tapml_status tuning_allows(tapml_object *object,
                                  tapml_call *call,
                                  const tapml_op *op,
                                  const tapml_value *args,
                                  uint32_t n_args,
                                  const int64_t *values,
                                  uint32_t *out_is_legal)
{
    struct gpu_question question = {.values = values};
    const tapml_status status = ask((struct gpu_device *)object, call, op, args, &question);

    *out_is_legal = question.is_legal;
    return status;
}

// Writes a value for each knob, which the setting names in any order.
static tapml_status read_values(const struct gpu_host *host,
                                tapml_call *call,
                                const char *op,
                                const tapml_setting *setting,
                                uint32_t *out_values)
{
    const struct gpu_knob *knobs;
    const uint32_t count = gpu_tuning_find(op, &knobs);
    uint32_t found = 0;

    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t n = 0; n < setting->n_values; n++) {
            if (strcmp(setting->names[n], knobs[i].name) != 0) {
                continue;
            }
            if (find_value(&knobs[i], setting->values[n]) == knobs[i].n_values) {
                return gpu_fail(host, call, TAPML_INVALID, 0, "'%s' has no %s = %lld", op,
                                knobs[i].name, (long long)setting->values[n]);
            }
            out_values[i] = (uint32_t)setting->values[n];
            found++;
            break;
        }
    }
    return count > 0 && found == count && setting->n_values == count
               ? TAPML_OK
               : gpu_fail(host, call, TAPML_INVALID, 0,
                          "'%s' has %u knobs, of which %u are in a setting of %u values", op, count,
                          found, setting->n_values);
}

static void forget(struct gpu_settings *settings, struct gpu_setting *setting)
{
    if (setting != NULL) {
        *setting = settings->items[--settings->count];
    }
}

static tapml_status tuning_take(tapml_object *object,
                                tapml_call *call,
                                const tapml_op *op,
                                const tapml_setting *setting)
{
    struct gpu_device *device = (struct gpu_device *)object;
    const struct gpu_host *host = &device->root->host;
    uint32_t values[GPU_KNOBS_MAX] = {0};
    const size_t length = strlen(setting->shape_class);
    tapml_status status = make_settings(device, call);

    if (status != TAPML_OK) {
        return status;
    }
    if (length == 0 || length >= TAPML_TUNING_CLASS_BYTES) {
        return gpu_fail(host, call, TAPML_INVALID, 0, "a class of %zu bytes", length);
    }
    struct gpu_setting *known = find_setting(device->settings, op->name, setting->shape_class);

    if (setting->n_values == 0) {
        forget(device->settings, known);
        return TAPML_OK;
    }
    status = read_values(host, call, op->name, setting, values);
    if (status != TAPML_OK) {
        return status;
    }
    if (known == NULL && device->settings->count == GPU_SETTINGS_MAX) {
        return gpu_fail(host, call, TAPML_NO_MEMORY, 0, "more than %d settings", GPU_SETTINGS_MAX);
    }
    known = known != NULL ? known : &device->settings->items[device->settings->count++];
    for (size_t i = 0; i < sizeof(tuned_ops) / sizeof(tuned_ops[0]); i++) {
        known->op = strcmp(tuned_ops[i].op, op->name) == 0 ? tuned_ops[i].op : known->op;
    }
    memcpy(known->shape_class, setting->shape_class, length + 1);
    memcpy(known->values, values, sizeof(values));
    return TAPML_OK;
}

static const tapml_tuning tuning = {TAPML_HDR(tapml_tuning), tuning_knobs, tuning_allows,
                                    tuning_take};

const tapml_tuning *gpu_tuning(const struct gpu_device *device)
{
    return device->foreign == NULL ? &tuning : NULL;
}
