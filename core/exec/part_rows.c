// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/part_rows.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <string.h>

// Of one part: the rows, and how many of them tokens have taken before a position.
struct given_rows {
    float *values;
    int64_t count;
    int64_t end; // Of the last call.
    int64_t taken_at_begin, taken_at_end;
};

struct part_rows {
    const struct graph *graph;
    struct given_rows *parts;
};

tapml_status part_rows_create(const struct graph *graph, struct part_rows **out_set)
{
    struct part_rows *set = alloc_new(sizeof(*set));
    if (!set) {
        return status_no_memory();
    }
    set->graph = graph;
    set->parts = alloc_array((size_t)graph->part_count + 1, sizeof(*set->parts));
    if (!set->parts) {
        part_rows_destroy(set);
        return status_no_memory();
    }
    *out_set = set;
    return TAPML_OK;
}

void part_rows_destroy(struct part_rows *set)
{
    if (!set) {
        return;
    }
    for (uint32_t i = 0; set->parts && i < set->graph->part_count; i++) {
        alloc_free(set->parts[i].values);
    }
    alloc_free(set->parts);
    alloc_free(set);
}

tapml_status part_rows_give(struct part_rows *set, uint32_t part, const float *rows, int64_t count)
{
    ASSERT(part < set->graph->part_count && count >= 0);
    const size_t values = (size_t)(rows ? count : 0) * (size_t)set->graph->parts[part].width;
    float *copy = alloc_array(values + 1, sizeof(*copy));
    if (!copy) {
        return status_no_memory();
    }
    if (values > 0) {
        memcpy(copy, rows, values * sizeof(*copy));
    }
    alloc_free(set->parts[part].values);
    set->parts[part] = (struct given_rows){.values = copy, .count = rows ? count : 0};
    return TAPML_OK;
}

// The rows that are taken before `position`.
static int64_t taken_before(const struct given_rows *rows, int64_t position)
{
    if (position == 0) {
        return 0;
    }
    return position == rows->end ? rows->taken_at_end : rows->taken_at_begin;
}

static tapml_status fail_missing(const struct graph_part *part, int64_t position, int64_t count)
{
    return status_fail(TAPML_INVALID,
                       "token %lld of the prompt is %lld, which stands for a row of '%s' of '%s': "
                       "expected as many rows as such tokens, found %lld",
                       (long long)position, (long long)part->token, part->output, part->component,
                       (long long)count);
}

// One token's row, or that it is one of the others. A token that was generated is one of them.
static tapml_status write_token(const struct graph_part *part,
                                const struct given_rows *rows,
                                const struct part_rows_call *call,
                                int64_t token,
                                int64_t *taken,
                                float *row)
{
    const size_t bytes = (size_t)part->width * sizeof(*row);
    const int is_prompt = call->position + token < call->prompt;
    const int stands_in = call->ids[token] == part->token;
    if (stands_in && is_prompt && *taken == rows->count) {
        return fail_missing(part, call->position + token, rows->count);
    }
    if (stands_in && is_prompt) {
        memcpy(row, rows->values + *taken * part->width, bytes);
        ++*taken;
    } else {
        memset(row, 0, bytes);
    }
    return TAPML_OK;
}

static tapml_status write_rows(const struct graph_part *part,
                               struct given_rows *rows,
                               const struct part_rows_call *call,
                               float *memory)
{
    const int64_t before = taken_before(rows, call->position);
    int64_t taken = before;
    for (int64_t i = 0; i < call->count; i++) {
        TAPML_TRY(write_token(part, rows, call, i, &taken, memory + i * part->width));
    }
    rows->end = call->position + call->count;
    rows->taken_at_begin = before;
    rows->taken_at_end = taken;
    return TAPML_OK;
}

tapml_status part_rows_write(struct part_rows *set,
                             uint32_t value,
                             const struct part_rows_call *call,
                             float *memory)
{
    const struct graph_part *part = graph_find_part(set->graph, value);
    ASSERT(part && call->ids);
    if (value == part->rows) {
        return write_rows(part, &set->parts[part - set->graph->parts], call, memory);
    }
    for (int64_t i = 0; i < call->count; i++) {
        const int is_prompt = call->position + i < call->prompt;
        memory[i] = is_prompt && call->ids[i] == part->token ? 0 : 1;
    }
    return TAPML_OK;
}

int64_t part_rows_wanted(const struct graph_part *part, const int32_t *ids, int64_t count)
{
    int64_t wanted = 0;
    for (int64_t i = 0; i < count; i++) {
        wanted += ids[i] == part->token;
    }
    return wanted;
}
