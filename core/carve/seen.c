// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "carve/seen.h"

#include "base/alloc.h"
#include "base/text.h"
#include "store/call_line.h"
#include "store/prompt.h"

#include <math.h>

// What the kept calls of an instance have shown of one output.
struct seen_range {
    double largest;
    uint32_t kinds;
};

void seen_init(struct seen *seen)
{
    *seen = (struct seen){.growth = SEEN_GROWTH};
    table_init(&seen->classes);
    table_init(&seen->range_at);
}

void seen_release(struct seen *seen)
{
    table_release(&seen->classes);
    table_release(&seen->range_at);
    alloc_free(seen->ranges);
}

static tapml_status class_key(const struct call_line *call, struct text *out_key)
{
    text_init(out_key);
    text_append(out_key, call->phase);
    text_append(out_key, " ");
    text_append(out_key, call->instance);
    text_append(out_key, " ");
    text_append(out_key, call->shape_class);
    return text_status(out_key);
}

static tapml_status add_range(struct seen *seen, const char *key, size_t *out_at)
{
    const size_t at = seen->range_count;
    void *grown = seen->ranges;
    if (!alloc_grow(&grown, &seen->range_capacity, at, sizeof(*seen->ranges))) {
        return status_no_memory();
    }
    seen->ranges = grown;
    seen->ranges[at] = (struct seen_range){0};
    TAPML_TRY(table_set(&seen->range_at, key, at));
    seen->range_count++;
    *out_at = at;
    return TAPML_OK;
}

// The range of an output, empty where nothing was kept; it lives until the next question.
static tapml_status find_range(struct seen *seen,
                               const char *instance,
                               const char *param,
                               struct seen_range **out_range)
{
    struct text key;
    size_t at = 0;
    text_init(&key);
    text_append(&key, instance);
    text_append(&key, " ");
    text_append(&key, param);
    tapml_status status = text_status(&key);
    if (status == TAPML_OK && !table_find(&seen->range_at, key.data, &at)) {
        status = add_range(seen, key.data, &at);
    }
    text_release(&key);
    if (status == TAPML_OK) {
        *out_range = &seen->ranges[at];
    }
    return status;
}

tapml_status seen_has_class(struct seen *seen, const struct call_line *call, int *out_has_class)
{
    struct text key;
    size_t value = 0;
    const tapml_status status = class_key(call, &key);
    if (status == TAPML_OK) {
        *out_has_class = table_find(&seen->classes, key.data, &value);
    }
    text_release(&key);
    return status;
}

tapml_status seen_is_wider(struct seen *seen, const struct call_line *call, int *out_is_wider)
{
    int is_wider = 0;
    for (uint32_t i = 0; i < call->output_count; i++) {
        const struct call_statistics *output = &call->outputs[i];
        struct seen_range *range = NULL;
        TAPML_TRY(find_range(seen, call->instance, output->param, &range));
        is_wider = is_wider || output->largest > seen->growth * range->largest ||
                   (output->non_finite_kinds & ~range->kinds) != 0;
    }
    *out_is_wider = is_wider;
    return TAPML_OK;
}

tapml_status seen_add(struct seen *seen, const struct call_line *call)
{
    struct text key;
    tapml_status status = class_key(call, &key);
    if (status == TAPML_OK) {
        status = table_set(&seen->classes, key.data, 1);
    }
    text_release(&key);
    TAPML_TRY(status);
    for (uint32_t i = 0; i < call->output_count; i++) {
        struct seen_range *range = NULL;
        TAPML_TRY(find_range(seen, call->instance, call->outputs[i].param, &range));
        range->largest = fmax(range->largest, call->outputs[i].largest);
        range->kinds |= call->outputs[i].non_finite_kinds;
    }
    return TAPML_OK;
}

tapml_status seen_add_new(struct seen *seen, const struct call_line *call, int *out_is_new)
{
    int has_class = 0, is_wider = 0;
    TAPML_TRY(seen_has_class(seen, call, &has_class));
    TAPML_TRY(seen_is_wider(seen, call, &is_wider));
    *out_is_new = !has_class || is_wider;
    return *out_is_new ? seen_add(seen, call) : TAPML_OK;
}

// -- What a store has --------------------------------------------------------------------------

struct recalling {
    struct seen *seen;
    struct store *store;
    int64_t prompts_end;
    tapml_status status; // Of the first failure.
    struct hash prompt;  // Of the last call,
    int counts;          // and whether it does.
};

static int does_count(struct recalling *recalling, struct hash prompt)
{
    if (recalling->prompts_end > 0 && !hash_equal(prompt, recalling->prompt)) {
        recalling->prompt = prompt;
        recalling->counts = prompt_index(recalling->store, prompt) < recalling->prompts_end;
    }
    return recalling->counts;
}

static void recall(void *user, const struct call_line *call)
{
    struct recalling *recalling = user;

    if (call->is_kept && recalling->status == TAPML_OK && does_count(recalling, call->prompt)) {
        recalling->status = seen_add(recalling->seen, call);
    }
}

tapml_status seen_recall(struct seen *seen, struct store *store, int64_t prompts_end)
{
    struct recalling recalling = {
        .seen = seen, .store = store, .prompts_end = prompts_end, .counts = 1};

    TAPML_TRY(call_line_visit(store, recall, &recalling));
    return recalling.status;
}
