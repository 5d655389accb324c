// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/plan_units.h"

#include "base/arena.h"
#include "choose/plan_rules.h"
#include "schema/catalogue.h"

#include <string.h>

// A piece of a text.
struct name_piece {
    const char *text;
    size_t length;
};

struct unit_finding {
    const tapml_policy_ops *question;
    struct arena *arena;
    struct plan_units units;
    size_t capacity;
    uint32_t *members; // Of the unit at hand.
    uint32_t count;
};

static int is_equal(struct name_piece a, struct name_piece b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.text, b.text, a.length) == 0);
}

static struct name_piece layer_of(const tapml_policy_op *op)
{
    return (struct name_piece){op->instance, plan_rules_layer(op->instance)};
}

// What stands between the layer and the name: "attn" of "layers.3/attn/q_proj".
static struct name_piece part_of(const tapml_policy_op *op)
{
    const size_t begin = plan_rules_layer(op->instance);
    const char *last = strrchr(op->instance, '/');
    if (begin == 0 || last == op->instance + begin) {
        return (struct name_piece){NULL, 0};
    }
    return (struct name_piece){op->instance + begin + 1, (size_t)(last - op->instance) - begin - 1};
}

static int is_known(const struct unit_finding *finding)
{
    for (size_t i = 0; i < finding->units.count; i++) {
        const struct plan_unit *unit = &finding->units.items[i];
        if (unit->count == finding->count &&
            memcmp(unit->ops, finding->members, finding->count * sizeof(*unit->ops)) == 0) {
            return 1;
        }
    }
    return 0;
}

// Adds what is in `members`, unless it is nothing new.
static tapml_status add(struct unit_finding *finding, const char *name, int is_kind)
{
    struct plan_units *units = &finding->units;
    if (finding->count == 0 || units->count == finding->capacity || is_known(finding)) {
        return name ? TAPML_OK : status_no_memory();
    }
    uint32_t *ops = arena_array(finding->arena, finding->count, sizeof(*ops));
    if (!ops || !name) {
        return status_no_memory();
    }
    memcpy(ops, finding->members, finding->count * sizeof(*ops));
    units->items[units->count++] =
        (struct plan_unit){.name = name, .ops = ops, .count = finding->count, .is_kind = is_kind};
    return TAPML_OK;
}

static const char *copy(const struct unit_finding *finding, struct name_piece piece)
{
    return arena_format(finding->arena, "%.*s", (int)piece.length, piece.text);
}

// -- Each sort of unit, around an operator that is the first of it -----------------------------

static tapml_status add_kind(struct unit_finding *finding, uint32_t first)
{
    const tapml_op *kind = finding->question->ops[first]->op;
    finding->count = 0;
    for (uint32_t i = 0; i < finding->question->n_ops; i++) {
        if (finding->question->ops[i]->op == kind) {
            finding->members[finding->count++] = i;
        }
    }
    return add(finding, arena_text(finding->arena, catalogue_short_name(kind)), 1);
}

static tapml_status add_layer(struct unit_finding *finding, uint32_t first)
{
    const struct name_piece layer = layer_of(finding->question->ops[first]);
    finding->count = 0;
    for (uint32_t i = 0; layer.length > 0 && i < finding->question->n_ops; i++) {
        if (is_equal(layer_of(finding->question->ops[i]), layer)) {
            finding->members[finding->count++] = i;
        }
    }
    return add(finding, copy(finding, layer), 0);
}

static tapml_status add_part(struct unit_finding *finding, uint32_t first)
{
    const struct name_piece part = part_of(finding->question->ops[first]);
    finding->count = 0;
    for (uint32_t i = 0; part.length > 0 && i < finding->question->n_ops; i++) {
        if (is_equal(part_of(finding->question->ops[i]), part)) {
            finding->members[finding->count++] = i;
        }
    }
    return add(finding, copy(finding, part), 0);
}

static tapml_status add_part_of_layer(struct unit_finding *finding, uint32_t first)
{
    const tapml_policy_op *op = finding->question->ops[first];
    const struct name_piece layer = layer_of(op), part = part_of(op);
    finding->count = 0;
    for (uint32_t i = 0; part.length > 0 && i < finding->question->n_ops; i++) {
        if (is_equal(layer_of(finding->question->ops[i]), layer) &&
            is_equal(part_of(finding->question->ops[i]), part)) {
            finding->members[finding->count++] = i;
        }
    }
    return add(finding,
               arena_format(finding->arena, "%.*s/%.*s", (int)layer.length, layer.text,
                            (int)part.length, part.text),
               0);
}

static tapml_status add_alone(struct unit_finding *finding, uint32_t first)
{
    finding->members[0] = first;
    finding->count = 1;
    return add(finding, arena_text(finding->arena, finding->question->ops[first]->instance), 0);
}

static tapml_status add_each(struct unit_finding *finding,
                             tapml_status (*make)(struct unit_finding *finding, uint32_t first))
{
    for (uint32_t i = 0; i < finding->question->n_ops; i++) {
        TAPML_TRY(make(finding, i));
    }
    return TAPML_OK;
}

// -- Neighbouring layers -----------------------------------------------------------------------

// The first operator of each layer.
static uint32_t list_layers(const struct unit_finding *finding, uint32_t *out_firsts)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < finding->question->n_ops; i++) {
        const struct name_piece layer = layer_of(finding->question->ops[i]);
        uint32_t known = 0;
        while (known < count &&
               !is_equal(layer_of(finding->question->ops[out_firsts[known]]), layer)) {
            known++;
        }
        if (known == count && layer.length > 0) {
            out_firsts[count++] = i;
        }
    }
    return count;
}

static tapml_status
add_range(struct unit_finding *finding, const uint32_t *firsts, uint32_t begin, uint32_t end)
{
    const tapml_policy_ops *question = finding->question;
    const struct name_piece low = layer_of(question->ops[firsts[begin]]);
    const struct name_piece high = layer_of(question->ops[firsts[end - 1]]);
    finding->count = 0;
    for (uint32_t i = 0; i < question->n_ops; i++) {
        for (uint32_t layer = begin; layer < end; layer++) {
            if (is_equal(layer_of(question->ops[i]), layer_of(question->ops[firsts[layer]]))) {
                finding->members[finding->count++] = i;
                break;
            }
        }
    }
    return add(finding,
               arena_format(finding->arena, "%.*s to %.*s", (int)low.length, low.text,
                            (int)high.length, high.text),
               0);
}

// Halves, quarters and eighths, each from either end.
static tapml_status add_ranges(struct unit_finding *finding)
{
    uint32_t *firsts =
        arena_array(finding->arena, (size_t)finding->question->n_ops + 1, sizeof(*firsts));
    if (!firsts) {
        return status_no_memory();
    }
    const uint32_t count = list_layers(finding, firsts);
    for (uint32_t part = 2; part <= 8; part *= 2) {
        const uint32_t size = count / part;
        if (size >= 2) {
            TAPML_TRY(add_range(finding, firsts, 0, size));
            TAPML_TRY(add_range(finding, firsts, count - size, count));
        }
    }
    return TAPML_OK;
}

tapml_status
plan_units_find(const tapml_policy_ops *question, struct arena *arena, struct plan_units *out_units)
{
    struct unit_finding finding = {
        .question = question,
        .arena = arena,
        .capacity = (size_t)question->n_ops * 5 + 8,
        .members = arena_array(arena, (size_t)question->n_ops + 1, sizeof(*finding.members))};
    finding.units.items = arena_array(arena, finding.capacity, sizeof(*finding.units.items));
    if (!finding.members || !finding.units.items) {
        return status_no_memory();
    }
    TAPML_TRY(add_each(&finding, add_kind));
    TAPML_TRY(add_each(&finding, add_part));
    TAPML_TRY(add_ranges(&finding));
    TAPML_TRY(add_each(&finding, add_layer));
    TAPML_TRY(add_each(&finding, add_part_of_layer));
    TAPML_TRY(add_each(&finding, add_alone));
    *out_units = finding.units;
    return TAPML_OK;
}

uint32_t plan_units_move(const tapml_policy_ops *question,
                         const struct plan_unit *unit,
                         uint8_t place,
                         uint8_t *io_places)
{
    uint32_t moved = 0;
    for (uint32_t i = 0; i < unit->count; i++) {
        const uint32_t op = unit->ops[i];
        if (io_places[op] != place && question->ops[op]->may_run[place]) {
            io_places[op] = place;
            moved++;
        }
    }
    return moved;
}
