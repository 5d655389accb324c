// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/group.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "graph/group_op.h"

#include <string.h>

static const char op_prefix[] = "group.";

struct found_group {
    struct group_range range;
    uint32_t rule;
    const char *instance;
    struct group_op made;
    const struct compiled_op *schema;
};

struct grouping {
    struct graph *graph;
    const struct group_rule *rules;
    size_t rule_count;
    struct catalogue *catalogue;
    struct arena *arena;
    uint32_t *owners; // For each op: 1 more than the index of its group.
    struct found_group *groups;
    size_t group_count, group_capacity;
    uint8_t *is_outside; // For each value.
};

// -- Which ops ---------------------------------------------------------------------------------

static int is_word(const char *text, const char *word, size_t length)
{
    return strlen(text) == length && strncmp(text, word, length) == 0;
}

// Whether an op reads what an op from `begin` on has computed.
static int reads_group(const struct graph *graph, uint32_t begin, uint32_t op)
{
    for (uint32_t p = 0; p < graph->ops[op].op->n_params; p++) {
        const struct graph_argument *argument = &graph->ops[op].arguments[p];
        const int is_list = argument->kind == TAPML_P_TENSORS_IN;
        const uint32_t *values = is_list ? argument->values : &argument->value;
        const uint32_t count = is_list ? argument->count : argument->kind == TAPML_P_TENSOR_IN;
        for (uint32_t i = 0; i < count; i++) {
            const struct graph_value *base = &graph->values[graph->values[values[i]].base];
            if (base->kind == GRAPH_COMPUTED && base->producer >= begin && base->producer < op) {
                return 1;
            }
        }
    }
    return 0;
}

// The end of the group of named ops that begins at an op; `begin` if there is none.
static uint32_t
match_ops(const struct grouping *grouping, const struct group_rule *rule, uint32_t begin)
{
    const struct graph *graph = grouping->graph;
    uint32_t end = begin;
    for (const char *word = rule->ops + strspn(rule->ops, " "); *word; end++) {
        const size_t length = strcspn(word, " ");
        if (end >= graph->op_count || grouping->owners[end] > 0) {
            return begin;
        }
        const tapml_op *op = graph->ops[end].op;
        if ((!is_word(catalogue_short_name(op), word, length) &&
             !is_word(op->name, word, length)) ||
            (end > begin && !reads_group(graph, begin, end))) {
            return begin;
        }
        word += length;
        word += strspn(word, " ");
    }
    return end;
}

// Bytes of an instance that are as many parts as the glob has, if that matches them: 8 of
// "layers.0/attn/q_proj" for "layers.*". 0: it does not, or nothing is below.
static uint32_t match_below(const char *glob, const char *instance)
{
    char part[256];
    size_t slashes = 0;
    for (const char *at = glob; *at; at++) {
        slashes += *at == '/';
    }
    const char *end = strchr(instance, '/');
    for (; end && slashes > 0; slashes--) {
        end = strchr(end + 1, '/');
    }
    const size_t length = end ? (size_t)(end - instance) : 0;
    if (length == 0 || length >= sizeof(part)) {
        return 0;
    }
    memcpy(part, instance, length);
    part[length] = '\0';
    return text_glob(glob, part) ? (uint32_t)length : 0;
}

static uint32_t end_below(const struct grouping *grouping, uint32_t begin, uint32_t length)
{
    const struct graph *graph = grouping->graph;
    uint32_t end = begin;
    while (end < graph->op_count && grouping->owners[end] == 0 &&
           strncmp(graph->ops[end].instance, graph->ops[begin].instance, (size_t)length + 1) == 0) {
        end++;
    }
    return end;
}

// Bytes up to the last slash that all instances have in common.
static uint32_t common_prefix(const struct graph *graph, uint32_t begin, uint32_t end)
{
    const char *first = graph->ops[begin].instance;
    const char *slash = strrchr(first, '/');
    size_t length = slash ? (size_t)(slash - first) + 1 : 0;
    for (uint32_t i = begin + 1; i < end; i++) {
        while (length > 0 && strncmp(first, graph->ops[i].instance, length) != 0) {
            for (length--; length > 0 && first[length - 1] != '/'; length--) {
            }
        }
    }
    return (uint32_t)length;
}

// "layers.0", or "layers.0/attn/norm+q_proj".
static const char *name_instance(const struct grouping *grouping, const struct group_range *range)
{
    const struct graph *graph = grouping->graph;
    struct text text;
    text_init(&text);
    text_append(&text, graph->ops[range->begin].instance);
    for (uint32_t i = range->begin + 1; i < range->end; i++) {
        text_format(&text, "+%s", graph->ops[i].instance + range->prefix);
    }
    return text_keep(&text, graph->arena);
}

static tapml_status
add_group(struct grouping *grouping, const struct found_group *group, const char *instance)
{
    if (!instance || !alloc_grow((void **)&grouping->groups, &grouping->group_capacity,
                                 grouping->group_count, sizeof(*grouping->groups))) {
        return status_no_memory();
    }
    grouping->groups[grouping->group_count] = *group;
    grouping->groups[grouping->group_count++].instance = instance;
    for (uint32_t i = group->range.begin; i < group->range.end; i++) {
        grouping->owners[i] = (uint32_t)grouping->group_count;
    }
    return TAPML_OK;
}

// Adds the group of a rule that begins at an op, if there is one of two ops or more.
static tapml_status match_at(struct grouping *grouping, uint32_t rule, uint32_t begin)
{
    const struct group_rule *given = &grouping->rules[rule];
    const struct graph *graph = grouping->graph;
    struct found_group group = {.rule = rule, .range = {.begin = begin, .name = given->name}};
    if (grouping->owners[begin] > 0) {
        return TAPML_OK;
    }
    if (!given->below) {
        group.range.end = match_ops(grouping, given, begin);
        group.range.prefix = common_prefix(graph, begin, group.range.end);
        return group.range.end - begin < 2
                   ? TAPML_OK
                   : add_group(grouping, &group, name_instance(grouping, &group.range));
    }
    const uint32_t length = match_below(given->below, graph->ops[begin].instance);
    group.range.end = length > 0 ? end_below(grouping, begin, length) : begin;
    group.range.prefix = length + 1;
    return group.range.end < begin + 2 ? TAPML_OK
                                       : add_group(grouping, &group,
                                                   arena_format(graph->arena, "%.*s", (int)length,
                                                                graph->ops[begin].instance));
}

static tapml_status find_groups(struct grouping *grouping)
{
    for (uint32_t rule = 0; rule < grouping->rule_count; rule++) {
        for (uint32_t op = 0; op < grouping->graph->op_count; op++) {
            TAPML_TRY(match_at(grouping, rule, op));
        }
    }
    return TAPML_OK;
}

// -- The new ops -------------------------------------------------------------------------------

static void mark_op(struct grouping *grouping, const struct graph_op *op)
{
    for (uint32_t p = 0; p < op->op->n_params; p++) {
        const struct graph_argument *argument = &op->arguments[p];
        const struct graph_value *values = grouping->graph->values;
        if (argument->kind >= TAPML_P_TENSOR_IN && argument->kind <= TAPML_P_TENSOR_INOUT) {
            grouping->is_outside[values[argument->value].base] = 1;
        }
        for (uint32_t i = 0; argument->kind == TAPML_P_TENSORS_IN && i < argument->count; i++) {
            grouping->is_outside[values[argument->values[i]].base] = 1;
        }
    }
}

// Which values ops outside of a group use.
static void mark_outside(struct grouping *grouping, const struct group_range *range)
{
    const struct graph *graph = grouping->graph;
    memset(grouping->is_outside, 0, graph->value_count);
    for (uint32_t i = 0; i < graph->op_count; i++) {
        if (i < range->begin || i >= range->end) {
            mark_op(grouping, &graph->ops[i]);
        }
    }
    for (uint32_t i = 0; i < graph->output_count; i++) {
        grouping->is_outside[graph->values[graph->outputs[i].value].base] = 1;
    }
}

static tapml_status make_ops(struct grouping *grouping)
{
    for (size_t i = 0; i < grouping->group_count; i++) {
        struct found_group *group = &grouping->groups[i];
        struct catalogue_op found = {0};
        mark_outside(grouping, &group->range);
        TAPML_TRY(group_op_make(grouping->graph, &group->range, grouping->is_outside,
                                grouping->arena, &group->made));
        TAPML_TRY(catalogue_add(grouping->catalogue, group->made.op, "a group of the run", &found));
        group->schema = found.schema;
    }
    return TAPML_OK;
}

// -- The new graph -----------------------------------------------------------------------------

// The ops with a group in the place of its first one. `numbers` gets the new index of each.
static void replace_ops(struct grouping *grouping, uint32_t *numbers)
{
    struct graph *graph = grouping->graph;
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->op_count; i++) {
        const uint32_t owner = grouping->owners[i];
        if (owner == 0) {
            numbers[i] = count;
            graph->ops[count++] = graph->ops[i];
            continue;
        }
        const struct found_group *group = &grouping->groups[owner - 1];
        if (group->range.begin == i) {
            graph->ops[count++] = (struct graph_op){.instance = group->instance,
                                                    .op = group->schema->op,
                                                    .schema = group->schema,
                                                    .arguments = group->made.arguments};
        }
        numbers[i] = count - 1;
    }
    graph->op_count = count;
}

// Where a value goes; GRAPH_NONE for what nothing uses any more.
static void number_values(struct grouping *grouping, uint32_t *numbers)
{
    const struct graph *graph = grouping->graph;
    const struct group_range nothing = {.begin = graph->op_count, .end = graph->op_count};
    uint32_t count = 0;
    mark_outside(grouping, &nothing);
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const struct graph_value *base = &graph->values[graph->values[v].base];
        const int is_gone =
            base->kind == GRAPH_COMPUTED && !grouping->is_outside[base - graph->values];
        numbers[v] = is_gone ? GRAPH_NONE : count++;
    }
}

static void renumber_argument(struct graph_argument *argument, const uint32_t *numbers)
{
    // Lists are in the arena of the graph, and of one op each.
    uint32_t *list = (uint32_t *)(uintptr_t)argument->values;
    if (argument->kind >= TAPML_P_TENSOR_IN && argument->kind <= TAPML_P_TENSOR_INOUT) {
        argument->value = numbers[argument->value];
    }
    for (uint32_t i = 0; argument->kind == TAPML_P_TENSORS_IN && i < argument->count; i++) {
        list[i] = numbers[list[i]];
    }
}

// Takes out the values that only groups know.
static void renumber(struct graph *graph, const uint32_t *values, const uint32_t *ops)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < graph->value_count; v++) {
        if (values[v] == GRAPH_NONE) {
            continue;
        }
        struct graph_value *value = &graph->values[count++];
        *value = graph->values[v];
        value->base = values[value->base];
        value->producer = value->kind == GRAPH_COMPUTED ? ops[value->producer] : value->producer;
    }
    graph->value_count = count;
    for (uint32_t i = 0; i < graph->op_count; i++) {
        for (uint32_t p = 0; p < graph->ops[i].op->n_params; p++) {
            renumber_argument(&graph->ops[i].arguments[p], values);
        }
    }
    for (uint32_t i = 0; i < graph->output_count; i++) {
        graph->outputs[i].value = values[graph->outputs[i].value];
    }
    for (uint32_t i = 0; i < graph->part_count; i++) {
        graph->parts[i].rows = values[graph->parts[i].rows];
        graph->parts[i].others = values[graph->parts[i].others];
    }
}

static tapml_status replace(struct grouping *grouping)
{
    struct graph *graph = grouping->graph;
    uint32_t *ops = alloc_array((size_t)graph->op_count + 1, sizeof(*ops));
    uint32_t *values = alloc_array((size_t)graph->value_count + 1, sizeof(*values));
    const int has_room = ops && values;
    if (has_room) {
        replace_ops(grouping, ops);
        number_values(grouping, values);
        renumber(graph, values, ops);
    }
    alloc_free(ops);
    alloc_free(values);
    return has_room ? TAPML_OK : status_no_memory();
}

static tapml_status apply(struct grouping *grouping, uint32_t *out_counts)
{
    TAPML_TRY(find_groups(grouping));
    memset(out_counts, 0, grouping->rule_count * sizeof(*out_counts));
    for (size_t i = 0; i < grouping->group_count; i++) {
        out_counts[grouping->groups[i].rule]++;
    }
    if (grouping->group_count == 0) {
        return TAPML_OK;
    }
    TAPML_TRY(make_ops(grouping));
    return replace(grouping);
}

tapml_status group_apply(struct graph *graph,
                         const struct group_rule *rules,
                         size_t rule_count,
                         struct catalogue *catalogue,
                         struct arena *arena,
                         uint32_t *out_counts)
{
    struct grouping grouping = {
        .graph = graph,
        .rules = rules,
        .rule_count = rule_count,
        .catalogue = catalogue,
        .arena = arena,
        .owners = alloc_array((size_t)graph->op_count + 1, sizeof(*grouping.owners)),
        .is_outside = alloc_array((size_t)graph->value_count + 1, 1),
    };
    const tapml_status status =
        grouping.owners && grouping.is_outside ? apply(&grouping, out_counts) : status_no_memory();
    alloc_free(grouping.owners);
    alloc_free(grouping.is_outside);
    alloc_free(grouping.groups);
    return status;
}

size_t group_rule_name(const char *op_name, const char **out_name)
{
    const size_t length = sizeof(op_prefix) - 1;
    const char *end = strrchr(op_name, '.');
    if (strncmp(op_name, op_prefix, length) != 0 || end < op_name + length) {
        return 0;
    }
    *out_name = op_name + length;
    return (size_t)(end - *out_name);
}
