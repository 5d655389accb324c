// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "dump/divergence.h"

#include "base/arena.h"
#include "base/table.h"
#include "dump/dump.h"
#include "dump/name_map.h"
#include "dump/sequence.h"
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
    struct table numbers;  // Of keys without a count.
    unsigned char *is_met; // For each tensor of the second.
    size_t *sequence[2];   // Of both dumps: the numbers of their tensors' keys.
    size_t *aligned;       // For each tensor of the first its place in the second; NULL: by counts.
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
    const enum activation shorter =
        activation_coarser(activation_find(row->first->dtype), activation_find(row->second->dtype));

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

static void make_plain_key(const struct comparing *comparing,
                           const struct dump_tensor *tensor,
                           const char *name,
                           char out_key[KEY_MAX])
{
    (void)snprintf(out_key, KEY_MAX, "%s\n%s", name, comparing->has_ops ? tensor->op : "");
}

// Tensors of one name are told apart by their op and by how many of the same were before.
static tapml_status make_key(const struct comparing *comparing,
                             const struct dump_tensor *tensor,
                             const char *name,
                             struct table *counts,
                             char out_key[KEY_MAX])
{
    size_t count = 0;

    make_plain_key(comparing, tensor, name, out_key);
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

// Whether two tensors are the same ones, but for axes of 1.
static int have_same_shape(const struct dump_tensor *first, const struct dump_tensor *second)
{
    uint32_t i = 0, j = 0;

    for (;;) {
        for (; i < first->rank && first->shape[i] == 1; i++) {
        }
        for (; j < second->rank && second->shape[j] == 1; j++) {
        }
        if (i == first->rank || j == second->rank) {
            return i == first->rank && j == second->rank;
        }
        if (first->shape[i++] != second->shape[j++]) {
            return 0;
        }
    }
}

// A view of another shape is one of memory that is laid out otherwise, under the same name.
static int is_other_view(const struct comparing *comparing,
                         const struct dump_tensor *first,
                         const struct dump_tensor *second)
{
    return comparing->has_ops && !have_same_shape(first, second) &&
           class_of(comparing->options->catalogue, first->op) == COMPARE_EXACT;
}

static tapml_status find_name(const struct comparing *comparing,
                              const struct dump_tensor *tensor,
                              const char **out_name)
{
    const struct name_map *names = comparing->options->names;

    *out_name = key_of(tensor);
    if (names != NULL) {
        const char *found = name_map_find(names, comparing->arena, tensor->name);

        *out_name = found == tensor->name ? *out_name : found;
    }
    return *out_name != NULL ? TAPML_OK : status_no_memory();
}

// Numbers what the tensors of a dump are known by, the same for the same.
static tapml_status number_keys(struct comparing *comparing, const struct dump *dump, int is_first)
{
    size_t *numbers = arena_array(comparing->arena, dump->count + 1, sizeof(*numbers));
    char key[KEY_MAX];

    if (numbers == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < dump->count; i++) {
        const char *name = key_of(&dump->tensors[i]);

        if (is_first) {
            TAPML_TRY(find_name(comparing, &dump->tensors[i], &name));
        }
        make_plain_key(comparing, &dump->tensors[i], name, key);
        if (!table_find(&comparing->numbers, key, &numbers[i])) {
            numbers[i] = comparing->numbers.count;
            TAPML_TRY(table_set(&comparing->numbers, key, numbers[i]));
        }
    }
    comparing->sequence[!is_first] = numbers;
    return TAPML_OK;
}

// Whether a key stands more often on one side, so that the n-th of it there is not the n-th here.
static tapml_status count_keys(const struct comparing *comparing, int *out_differ)
{
    const struct dump *sides[] = {comparing->options->first, comparing->options->second};
    int64_t *surplus =
        arena_array(comparing->arena, comparing->numbers.count + 1, sizeof(*surplus));

    if (surplus == NULL) {
        return status_no_memory();
    }
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < sides[side]->count; i++) {
            surplus[comparing->sequence[side][i]] += side == 0 ? 1 : -1;
        }
    }
    *out_differ = 0;
    for (size_t i = 0; i < comparing->numbers.count; i++) {
        *out_differ |= surplus[i] != 0;
    }
    return TAPML_OK;
}

// Calls of one function are told apart by their order alone. Where some were fused away, the order
// of all others says which.
static tapml_status align(struct comparing *comparing)
{
    const struct dump *first = comparing->options->first, *second = comparing->options->second;
    int differ = 0;

    if (!first->is_ordered || !second->is_ordered || comparing->is_last_alone) {
        return TAPML_OK;
    }
    TAPML_TRY(number_keys(comparing, first, 1));
    TAPML_TRY(number_keys(comparing, second, 0));
    TAPML_TRY(count_keys(comparing, &differ));
    if (!differ) {
        return TAPML_OK;
    }
    comparing->aligned = arena_array(comparing->arena, first->count + 1, sizeof(size_t));
    if (comparing->aligned == NULL) {
        return status_no_memory();
    }
    const tapml_status status =
        sequence_align(comparing->sequence[0], first->count, comparing->sequence[1], second->count,
                       comparing->aligned);

    comparing->aligned = status == TAPML_OK ? comparing->aligned : NULL;
    return status == TAPML_UNIMPLEMENTED ? TAPML_OK : status;
}

static tapml_status pair(struct comparing *comparing, struct divergence_row *row)
{
    const struct dump *first = comparing->options->first, *second = comparing->options->second;
    const char *name = NULL;
    char key[KEY_MAX];
    size_t index = SEQUENCE_NONE;

    if (comparing->aligned != NULL) {
        index = comparing->aligned[row->first - first->tensors];
    } else {
        TAPML_TRY(find_name(comparing, row->first, &name));
        TAPML_TRY(make_key(comparing, row->first, name, &comparing->counts, key));
        (void)table_find(&comparing->seconds, key, &index);
    }
    if (index != SEQUENCE_NONE && !is_other_view(comparing, row->first, &second->tensors[index])) {
        row->second = &second->tensors[index];
        comparing->is_met[index] = 1;
    }
    return TAPML_OK;
}

// What is left may be the same tensor, computed by another op or in another order.
static tapml_status pair_rest(struct comparing *comparing, struct divergence *divergence)
{
    const struct dump *second = comparing->options->second;
    struct table rest;
    tapml_status status = TAPML_OK;

    table_init(&rest);
    for (size_t i = 0; status == TAPML_OK && i < second->count; i++) {
        if (!comparing->is_met[i]) {
            status = table_set(&rest, key_of(&second->tensors[i]), i); // The last of a name.
        }
    }
    for (size_t i = divergence->count; status == TAPML_OK && i-- > 0;) {
        struct divergence_row *row = &divergence->rows[i];
        const char *name = NULL;
        size_t index = 0;

        if (row->second != NULL) {
            continue;
        }
        status = find_name(comparing, row->first, &name);
        if (status == TAPML_OK && table_find(&rest, name, &index) && !comparing->is_met[index] &&
            have_same_shape(row->first, &second->tensors[index])) {
            row->second = &second->tensors[index];
            comparing->is_met[index] = 1;
        }
    }
    table_release(&rest);
    return status;
}

// A text tells its tensors of one name apart by their ops; another dump has the last of them.
static int is_repeated(const struct comparing *comparing, const struct dump *dump, size_t index)
{
    const struct dump_tensor *tensor = &dump->tensors[index];

    return comparing->is_last_alone && tensor->printed != NULL &&
           dump_find(dump, tensor->name, dump->count) != tensor;
}

static tapml_status pair_all(struct comparing *comparing, struct divergence *divergence)
{
    const struct dump *first = comparing->options->first, *second = comparing->options->second;

    for (size_t i = 0; i < first->count; i++) {
        struct divergence_row *row = &divergence->rows[divergence->count];

        if (!is_repeated(comparing, first, i)) {
            *row = (struct divergence_row){.first = &first->tensors[i]};
            TAPML_TRY(pair(comparing, row));
            divergence->count++;
        }
    }
    if (comparing->has_ops || comparing->aligned != NULL) {
        TAPML_TRY(pair_rest(comparing, divergence));
    }
    for (size_t i = 0; i < second->count; i++) {
        if (!comparing->is_met[i] && !is_repeated(comparing, second, i)) {
            divergence->only_second[divergence->only_second_count++] = &second->tensors[i];
        }
    }
    return TAPML_OK;
}

static tapml_status compare_all(struct comparing *comparing, struct divergence *divergence)
{
    const struct divergence_options *options = comparing->options;

    for (size_t i = 0; i < divergence->count; i++) {
        struct divergence_row *row = &divergence->rows[i];

        row->distance.state = TENSOR_DISTANCE_ALONE;
        if (row->second != NULL) {
            row->is_op_alone = is_op_alone(comparing, row->first);
            const struct compare_limit limit = limit_of(comparing, row);

            TAPML_TRY(tensor_distance_measure(row->first, row->second, &limit, &row->distance));
        }
        TAPML_TRY(table_set(&comparing->states, row->first->name, row->distance.state));
        divergence->counts[row->distance.state]++;
        if (row->distance.state == TENSOR_DISTANCE_DIFFERENT && divergence->first == NULL) {
            divergence->first = row;
        }
    }
    return divergence->counts[TENSOR_DISTANCE_ALONE] < divergence->count
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "'%s' and '%s' have no name in common",
                             options->first->path, options->second->path);
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
    TAPML_TRY(align(comparing));
    TAPML_TRY(pair_all(comparing, divergence));
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
    table_init(&comparing.numbers);
    const tapml_status status = compare(&comparing, &divergence);

    table_release(&comparing.seconds);
    table_release(&comparing.counts);
    table_release(&comparing.states);
    table_release(&comparing.numbers);
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
