// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/select.h"

#include "base/arena.h"
#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

// What a utility is made of, and what the similarity of a pair takes (docs/choosing.md).
static const double BASE = 0.2, NOVELTY = 0.4, RISK = 0.4, WEIGHT = 0.1;

// Of the undecided neighbours, those that count when bounds are found: arXiv 2402.16442 has 30 %.
static const double SAMPLED = 0.3;
enum { SEED = 1 };

// Some of the groups with a graph of their own.
struct part {
    struct select_input input; // Of its points alone; groups count from 0.
    uint32_t *members;         // As numbers of the whole.
    struct nearest_graph graph;
    double *utilities;
    uint8_t *is_first;
    uint8_t *states;
};

struct selecting {
    const struct select_input *input;
    uint32_t *order;           // Points by group.
    uint32_t *ends;            // Of groups in it.
    double *utilities;         // Of all points.
    struct select_pick *picks; // Of all parts so far.
    struct select_result result;
};

// -- A part ------------------------------------------------------------------------------------

static tapml_status copy_part(const struct selecting *selecting,
                              size_t first_group,
                              size_t group_end,
                              struct arena *arena,
                              struct part *out_part)
{
    const struct select_input *input = selecting->input;
    const size_t begin = first_group > 0 ? selecting->ends[first_group - 1] : 0;
    const size_t count = selecting->ends[group_end - 1] - begin;
    const size_t dimensions = input->points.dimensions;
    float *values = arena_array(arena, count * dimensions + 1, sizeof(*values));
    uint32_t *groups = arena_array(arena, count + 1, sizeof(*groups));
    double *risks = arena_array(arena, count + 1, sizeof(*risks));
    double *costs = input->costs ? arena_array(arena, count + 1, sizeof(*costs)) : NULL;
    if (!values || !groups || !risks || (input->costs && !costs)) {
        return status_no_memory();
    }
    *out_part = (struct part){.input = *input, .members = selecting->order + begin};
    for (size_t i = 0; i < count; i++) {
        const uint32_t member = out_part->members[i];
        memcpy(values + i * dimensions, input->points.values + member * dimensions,
               dimensions * sizeof(*values));
        groups[i] = input->points.groups[member] - (uint32_t)first_group;
        risks[i] = input->risks[member];
        if (costs) {
            costs[i] = input->costs[member];
        }
    }
    out_part->input.points = (struct nearest_points){values, dimensions, groups, count};
    out_part->input.group_count = group_end - first_group;
    out_part->input.risks = risks;
    out_part->input.costs = costs;
    return TAPML_OK;
}

// The point of each group with the largest utility.
static tapml_status find_first(struct part *part, struct arena *arena)
{
    const size_t count = part->input.points.count;
    size_t *best = arena_array(arena, part->input.group_count, sizeof(*best));
    if (!best) {
        return status_no_memory();
    }
    for (size_t group = 0; group < part->input.group_count; group++) {
        best[group] = count;
    }
    for (size_t i = 0; i < count; i++) {
        size_t *own = &best[part->input.points.groups[i]];
        *own = *own == count || part->utilities[i] > part->utilities[*own] ? i : *own;
    }
    for (size_t group = 0; group < part->input.group_count; group++) {
        if (best[group] < count) {
            part->is_first[best[group]] = 1;
        }
    }
    return TAPML_OK;
}

static tapml_status weigh(struct part *part, struct arena *arena)
{
    const size_t count = part->input.points.count;
    TAPML_TRY(nearest_find(&part->input.points, SELECT_NEAREST, arena, &part->graph));
    part->utilities = arena_array(arena, count + 1, sizeof(*part->utilities));
    part->is_first = arena_array(arena, count + 1, 1);
    part->states = arena_array(arena, count + 1, 1);
    if (!part->utilities || !part->is_first || !part->states) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        ASSERT(part->input.risks[i] >= 0);
        part->utilities[i] =
            BASE + NOVELTY * (double)part->graph.novelties[i] + RISK * part->input.risks[i];
    }
    return find_first(part, arena);
}

static tapml_status narrow(struct part *part, struct bounding_counts *counts)
{
    const struct objective objective = {&part->graph, part->utilities, NULL, WEIGHT};
    const struct bounding_options options = {
        .budget = (size_t)part->input.budget, .share = SAMPLED, .seed = SEED};
    if (part->input.costs || part->input.points.count < part->input.bounding_from) {
        return TAPML_OK;
    }
    for (size_t i = 0; i < part->input.points.count; i++) {
        part->states[i] = part->is_first[i] ? BOUNDING_IN : BOUNDING_OPEN;
    }
    return bounding_run(&objective, &options, part->states, counts);
}

static tapml_status choose_in(struct selecting *selecting, struct part *part, struct arena *arena)
{
    const struct objective objective = {&part->graph, part->utilities, part->input.costs, WEIGHT};
    const struct greedy_options options = {
        .budget = part->input.budget, .states = part->states, .is_must = part->is_first};
    struct greedy_pick *picks = arena_array(arena, part->input.points.count + 1, sizeof(*picks));
    size_t count = 0;
    if (!picks) {
        return status_no_memory();
    }
    TAPML_TRY(greedy_run(&objective, &options, picks, &count));
    for (size_t i = 0; i < count; i++) {
        const uint32_t own = picks[i].index;
        selecting->picks[selecting->result.count++] =
            (struct select_pick){.index = part->members[own],
                                 .is_first = part->is_first[own],
                                 .gain = picks[i].gain,
                                 .utility = part->utilities[own],
                                 .novelty = (double)part->graph.novelties[own]};
    }
    return TAPML_OK;
}

static tapml_status run_part(struct selecting *selecting,
                             size_t first_group,
                             size_t group_end,
                             struct part *part,
                             struct arena *arena)
{
    struct bounding_counts counts = {0};
    TAPML_TRY(copy_part(selecting, first_group, group_end, arena, part));
    TAPML_TRY(weigh(part, arena));
    TAPML_TRY(narrow(part, &counts));
    TAPML_TRY(choose_in(selecting, part, arena));
    for (size_t i = 0; i < part->input.points.count; i++) {
        selecting->utilities[part->members[i]] = part->utilities[i];
    }
    selecting->result.parts++;
    selecting->result.bounding.in += counts.in;
    selecting->result.bounding.out += counts.out;
    selecting->result.bounding.rounds += counts.rounds;
    return TAPML_OK;
}

// -- All of them -------------------------------------------------------------------------------

struct ranked_pick {
    struct select_pick pick;
    double rate;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked_pick *one = a, *other = b;
    if (one->pick.is_first != other->pick.is_first) {
        return one->pick.is_first ? -1 : 1;
    }
    if (one->rate != other->rate) {
        return one->rate > other->rate ? -1 : 1;
    }
    return one->pick.index < other->pick.index ? -1 : one->pick.index > other->pick.index;
}

static double cost_of(const struct selecting *selecting, uint32_t index)
{
    return selecting->input->costs ? selecting->input->costs[index] : 1;
}

// Takes of what all parts have chosen as much as the budget allows.
static tapml_status merge(struct selecting *selecting)
{
    const size_t count = selecting->result.count;
    struct arena *arena = arena_create();
    struct ranked_pick *ranked = arena ? arena_array(arena, count + 1, sizeof(*ranked)) : NULL;
    double left = selecting->input->budget;
    if (!ranked) {
        arena_destroy(arena);
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        const struct select_pick *pick = &selecting->picks[i];
        ranked[i] = (struct ranked_pick){*pick, pick->gain / cost_of(selecting, pick->index)};
    }
    if (count > 0) {
        qsort(ranked, count, sizeof(*ranked), by_rank);
    }
    selecting->result.count = 0;
    for (size_t i = 0; i < count; i++) {
        const double cost = cost_of(selecting, ranked[i].pick.index);
        if (cost <= left) {
            left -= cost;
            selecting->picks[selecting->result.count++] = ranked[i].pick;
        }
    }
    arena_destroy(arena);
    return TAPML_OK;
}

// Of several parts only the bound by utilities is there: their graphs are gone.
static tapml_status certify(struct selecting *selecting, const struct part *last)
{
    const struct select_input *input = selecting->input;
    struct arena *arena = arena_create();
    const size_t count = input->points.count;
    uint8_t *is_in = arena ? arena_array(arena, count + 1, 1) : NULL;
    uint64_t *begin = arena ? arena_array(arena, count + 2, sizeof(*begin)) : NULL;
    struct objective_certificate *certificate = &selecting->result.certificate;
    if (!is_in || !begin) {
        arena_destroy(arena);
        return status_no_memory();
    }
    const int is_one = selecting->result.parts == 1;
    const struct nearest_graph none = {.count = count, .begin = begin};
    const struct objective objective = {is_one ? &last->graph : &none,
                                        is_one ? last->utilities : selecting->utilities,
                                        is_one ? last->input.costs : input->costs, WEIGHT};
    double value = 0;
    for (size_t i = 0; i < selecting->result.count; i++) {
        is_in[selecting->picks[i].index] = 1;
        value += selecting->picks[i].gain;
    }
    if (is_one) { // The part has its points in another order.
        uint8_t *own = arena_array(arena, count + 1, 1);
        for (size_t i = 0; own && i < count; i++) {
            own[i] = is_in[last->members[i]];
        }
        is_in = own;
    }
    const tapml_status status =
        is_in ? objective_certify(&objective, is_in, input->budget, certificate)
              : status_no_memory();
    arena_destroy(arena);
    if (status == TAPML_OK && !is_one) {
        certificate->value = value;
        certificate->share = certificate->most > 0 ? value / certificate->most : 1;
    }
    return status;
}

static void count_groups_left(struct selecting *selecting)
{
    size_t found = 0, there = 0, begin = 0;
    for (size_t group = 0; group < selecting->input->group_count; group++) {
        there += selecting->ends[group] > begin;
        begin = selecting->ends[group];
    }
    for (size_t i = 0; i < selecting->result.count; i++) {
        found += selecting->picks[i].is_first != 0;
    }
    selecting->result.groups_left = there - found;
}

// Groups behind `first` that fit into one graph; at least one.
static size_t end_of_part(const struct selecting *selecting, size_t first)
{
    const size_t begin = first > 0 ? selecting->ends[first - 1] : 0;
    size_t end = first + 1;
    while (end < selecting->input->group_count &&
           selecting->ends[end] - begin <= selecting->input->graph_max) {
        end++;
    }
    return end;
}

static tapml_status run_parts(struct selecting *selecting)
{
    size_t first_group = 0;
    while (first_group < selecting->input->group_count) {
        const size_t group_end = end_of_part(selecting, first_group);
        struct arena *arena = arena_create();
        struct part part;
        tapml_status status =
            arena ? run_part(selecting, first_group, group_end, &part, arena) : status_no_memory();
        if (status == TAPML_OK && group_end == selecting->input->group_count) {
            status = merge(selecting);
            status = status == TAPML_OK ? certify(selecting, &part) : status;
        }
        arena_destroy(arena);
        TAPML_TRY(status);
        first_group = group_end;
    }
    count_groups_left(selecting);
    return TAPML_OK;
}

static void sort_by_group(const struct select_input *input, uint32_t *order, uint32_t *ends)
{
    for (size_t i = 0; i < input->points.count; i++) {
        ASSERT(input->points.groups[i] < input->group_count);
        ends[input->points.groups[i]]++;
    }
    uint32_t sum = 0;
    for (size_t group = 0; group < input->group_count; group++) {
        const uint32_t own = ends[group];
        ends[group] = sum;
        sum += own;
    }
    for (size_t i = 0; i < input->points.count; i++) {
        order[ends[input->points.groups[i]]++] = (uint32_t)i;
    }
}

tapml_status
select_run(const struct select_input *input, struct arena *arena, struct select_result *out_result)
{
    const size_t count = input->points.count;
    struct selecting selecting = {
        .input = input,
        .order = arena_array(arena, count + 1, sizeof(*selecting.order)),
        .ends = arena_array(arena, input->group_count + 1, sizeof(*selecting.ends)),
        .utilities = arena_array(arena, count + 1, sizeof(*selecting.utilities)),
        .picks = arena_array(arena, count + 1, sizeof(*selecting.picks)),
        .result = {.certificate = {.share = 1}}};
    if (!selecting.order || !selecting.ends || !selecting.utilities || !selecting.picks) {
        return status_no_memory();
    }
    sort_by_group(input, selecting.order, selecting.ends);
    TAPML_TRY(run_parts(&selecting));
    selecting.result.picks = selecting.picks;
    *out_result = selecting.result;
    return TAPML_OK;
}
