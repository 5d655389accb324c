// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "dump/divergence.h"

#include "base/arena.h"
#include "base/table.h"
#include "dump/dump.h"
#include "dump/name_map.h"
#include "schema/catalogue.h"
#include "verify/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KEY_MAX = 1536 };

struct comparing {
    const struct divergence_options *options;
    struct arena *arena;
    struct table seconds;  // Place in the second dump by key.
    struct table counts;   // How often a key has stood in the first dump.
    struct table states;   // Of the first dump's tensors by name: the last of each.
    unsigned char *is_met; // For each tensor of the second.
    int has_ops;           // Both say what computed a tensor, in the same words.
    int is_last_alone;     // Of tensors of one name only the last is compared.
};

// -- Limits ------------------------------------------------------------------------------------

// What ggml's programs call what only moves values.
static const char *const moves[] = {"GET_ROWS", "SET_ROWS",  "RESHAPE", "VIEW",
                                    "PERMUTE",  "TRANSPOSE", "CONT",    "DUP",
                                    "CPY",      "REPEAT",    "CONCAT"};

static enum compare_class class_of(const struct catalogue *catalogue, const char *op)
{
    enum compare_class class_ = COMPARE_REDUCTION;
    const struct compiled_op *schema = catalogue_find(catalogue, op, 1);

    for (size_t i = 0; i < sizeof(moves) / sizeof(*moves); i++) {
        if (strcmp(moves[i], op) == 0) {
            return COMPARE_EXACT;
        }
    }
    if (schema != NULL && compare_class_of(schema->op->tolerance, &class_) != TAPML_OK) {
        class_ = COMPARE_REDUCTION;
    }
    return class_;
}

// Whether all that a tensor was computed from is known to be equal in both dumps. What no tensor of
// the dump is, is an input or a weight of the model, the same for both; but what only moves values
// may move those of a cache, which an earlier tensor has changed under another name.
static int is_op_alone(const struct comparing *comparing, const struct dump_tensor *tensor)
{
    if (tensor->op == NULL || tensor->source_count == 0) {
        return 0;
    }
    const int is_move = class_of(comparing->options->catalogue, tensor->op) == COMPARE_EXACT;

    for (uint32_t i = 0; i < tensor->source_count; i++) {
        size_t state = is_move ? TENSOR_DISTANCE_CLOSE : TENSOR_DISTANCE_EQUAL;

        (void)table_find(&comparing->states, tensor->sources[i], &state);
        if (state != TENSOR_DISTANCE_EQUAL) {
            return 0;
        }
    }
    return 1;
}

static struct compare_limit limit_of(const struct comparing *comparing,
                                     const struct divergence_row *row)
{
    const struct divergence_options *options = comparing->options;
    const enum activation first = activation_find(row->first->dtype);
    const enum activation second = activation_find(row->second->dtype);
    const enum activation shorter =
        activation_type(first)->rounding > activation_type(second)->rounding ? first : second;

    if (options->nmse > 0) {
        return (struct compare_limit){
            .class_ = COMPARE_REDUCTION, .nmse = options->nmse, .row_error = INFINITY};
    }
    if (row->is_op_alone) {
        return compare_floor_in(class_of(options->catalogue, row->first->op), shorter);
    }
    return (struct compare_limit){
        .class_ = COMPARE_REDUCTION,
        .nmse = fmax(DIVERGENCE_NMSE, compare_floor_in(COMPARE_REDUCTION, shorter).nmse),
        .row_error = INFINITY};
}

// -- Pairs -------------------------------------------------------------------------------------

static const char *key_of(const struct dump_tensor *tensor)
{
    return tensor->key != NULL ? tensor->key : tensor->name;
}

// Tensors of one name are told apart by their op and by how many of the same were before.
static tapml_status make_key(const struct comparing *comparing,
                             const struct dump_tensor *tensor,
                             const char *name,
                             struct table *counts,
                             char out_key[KEY_MAX])
{
    size_t count = 0;

    (void)snprintf(out_key, KEY_MAX, "%s\n%s", name, comparing->has_ops ? tensor->op : "");
    if (comparing->is_last_alone) {
        return TAPML_OK;
    }
    (void)table_find(counts, out_key, &count);
    TAPML_TRY(table_set(counts, out_key, count + 1));
    const size_t length = strlen(out_key);

    (void)snprintf(out_key + length, KEY_MAX - length, "\n%zu", count);
    return TAPML_OK;
}

static tapml_status list_seconds(struct comparing *comparing)
{
    const struct dump *second = comparing->options->second;
    struct table counts;
    tapml_status status = TAPML_OK;

    table_init(&counts);
    for (size_t i = 0; status == TAPML_OK && i < second->count; i++) {
        char key[KEY_MAX];

        status =
            make_key(comparing, &second->tensors[i], key_of(&second->tensors[i]), &counts, key);
        if (status == TAPML_OK) {
            status = table_set(&comparing->seconds, key, i);
        }
    }
    table_release(&counts);
    return status;
}

// Pairs a tensor, and compares it with what it is paired with.
static tapml_status compare_one(struct comparing *comparing, struct divergence_row *row)
{
    const struct divergence_options *options = comparing->options;
    const char *name = key_of(row->first);
    char key[KEY_MAX];
    size_t index = 0;

    if (options->names != NULL) {
        name = name_map_find(options->names, comparing->arena, row->first->name);
        name = name == row->first->name ? key_of(row->first) : name;
    }
    if (name == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(make_key(comparing, row->first, name, &comparing->counts, key));
    row->distance.state = TENSOR_DISTANCE_ALONE;
    if (table_find(&comparing->seconds, key, &index)) {
        row->second = &options->second->tensors[index];
        row->is_op_alone = is_op_alone(comparing, row->first);
        comparing->is_met[index] = 1;
        const struct compare_limit limit = limit_of(comparing, row);

        TAPML_TRY(tensor_distance_measure(row->first, row->second, &limit, &row->distance));
    }
    return table_set(&comparing->states, row->first->name, row->distance.state);
}

// A text tells its tensors of one name apart by their ops; another dump has the last of them.
static int is_repeated(const struct comparing *comparing, size_t index)
{
    const struct dump *first = comparing->options->first;

    return comparing->is_last_alone && first->tensors[index].printed != NULL &&
           dump_find(first, first->tensors[index].name, first->count) != &first->tensors[index];
}

static tapml_status compare_all(struct comparing *comparing, struct divergence *divergence)
{
    const struct dump *first = comparing->options->first, *second = comparing->options->second;

    for (size_t i = 0; i < first->count; i++) {
        struct divergence_row *row = &divergence->rows[divergence->count];

        if (is_repeated(comparing, i)) {
            continue;
        }
        *row = (struct divergence_row){.first = &first->tensors[i]};
        TAPML_TRY(compare_one(comparing, row));
        divergence->counts[row->distance.state]++;
        divergence->count++;
        if (row->distance.state == TENSOR_DISTANCE_DIFFERENT && divergence->first == NULL) {
            divergence->first = row;
        }
    }
    for (size_t i = 0; i < second->count; i++) {
        if (!comparing->is_met[i] &&
            !(comparing->is_last_alone && second->tensors[i].printed != NULL &&
              dump_find(second, second->tensors[i].name, second->count) != &second->tensors[i])) {
            divergence->only_second[divergence->only_second_count++] = &second->tensors[i];
        }
    }
    return divergence->counts[TENSOR_DISTANCE_ALONE] < divergence->count
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "'%s' and '%s' have no name in common", first->path,
                             second->path);
}

static int is_text(const struct dump *dump)
{
    return dump->count > 0 && dump->tensors[0].printed != NULL;
}

static tapml_status compare(struct comparing *comparing, struct divergence *divergence)
{
    const struct dump *first = comparing->options->first, *second = comparing->options->second;

    comparing->has_ops = is_text(first) && is_text(second);
    comparing->is_last_alone = is_text(first) != is_text(second);
    comparing->is_met = arena_new(comparing->arena, second->count + 1);
    divergence->rows = arena_array(comparing->arena, first->count + 1, sizeof(*divergence->rows));
    divergence->only_second =
        arena_array(comparing->arena, second->count + 1, sizeof(*divergence->only_second));
    if (comparing->is_met == NULL || divergence->rows == NULL || divergence->only_second == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(list_seconds(comparing));
    return compare_all(comparing, divergence);
}

tapml_status divergence_find(const struct divergence_options *options,
                             struct divergence *out_divergence)
{
    struct divergence divergence = {.arena = arena_create()};
    struct comparing comparing = {.options = options, .arena = divergence.arena};

    if (divergence.arena == NULL) {
        return status_no_memory();
    }
    table_init(&comparing.seconds);
    table_init(&comparing.counts);
    table_init(&comparing.states);
    const tapml_status status = compare(&comparing, &divergence);

    table_release(&comparing.seconds);
    table_release(&comparing.counts);
    table_release(&comparing.states);
    if (status != TAPML_OK) {
        divergence_release(&divergence);
        return status;
    }
    *out_divergence = divergence;
    return TAPML_OK;
}

void divergence_release(struct divergence *divergence)
{
    arena_destroy(divergence->arena);
    *divergence = (struct divergence){0};
}
