// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_map.h"

#include "base/alloc.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES_MAX = 512, INDEX_BYTES_MAX = 16, EXPERTS_MAX = 1 << 16 };

// The name of a tensor taken apart: "blk.7.attn_q.weight" is "blk.*.attn_q", "7", ".weight".
struct gguf_name {
    char whole[NAME_BYTES_MAX]; // With the ending.
    char stem[NAME_BYTES_MAX];
    char layer[INDEX_BYTES_MAX]; // "": none.
    const char *ending;
};

struct gguf_walk {
    const struct gguf *gguf;
    const struct gguf_family *family;
    gguf_map_fn take;
    void *user;
    unsigned char *is_used; // By the index of a tensor.
};

// -- Names -------------------------------------------------------------------------------------

static const char *ending_of(const char *name)
{
    static const char *const endings[] = {".weight", ".bias"};
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); ++i) {
        const size_t ending = strlen(endings[i]);
        if (length > ending && strcmp(name + length - ending, endings[i]) == 0) {
            return endings[i];
        }
    }
    return "";
}

// Takes a name apart. Returns 0 if it is too long for any rule.
static int take_apart(const char *name, struct gguf_name *out)
{
    static const char layers[] = "blk.";
    const char *rest = name;
    *out = (struct gguf_name){.ending = ending_of(name)};
    if (strlen(name) >= NAME_BYTES_MAX - INDEX_BYTES_MAX) {
        return 0;
    }
    if (strncmp(name, layers, strlen(layers)) == 0) {
        const char *digits = name + strlen(layers);
        const size_t length = strspn(digits, "0123456789");
        if (length > 0 && length < INDEX_BYTES_MAX && digits[length] == '.') {
            memcpy(out->layer, digits, length);
            rest = digits + length;
        }
    }
    (void)snprintf(out->whole, sizeof(out->whole), "%s%s", out->layer[0] ? "blk.*" : "", rest);
    memcpy(out->stem, out->whole, strlen(out->whole) - strlen(out->ending));
    return 1;
}

// Writes `pattern` with `layer` in the place of '*', and with `ending` behind it.
static void
put_together(const char *pattern, const char *layer, const char *ending, char out[NAME_BYTES_MAX])
{
    const char *star = strchr(pattern, '*');
    if (star) {
        (void)snprintf(out, NAME_BYTES_MAX, "%.*s%s%s%s", (int)(star - pattern), pattern, layer,
                       star + 1, ending);
    } else {
        (void)snprintf(out, NAME_BYTES_MAX, "%s%s", pattern, ending);
    }
}

// -- Rules -------------------------------------------------------------------------------------

// The name of source `index` of a rule; NULL: it has fewer.
static const char *source_name(const json_t *rule, size_t index)
{
    const json_t *from = json_is_object(rule) ? json_object_get(rule, "from") : rule;
    return json_is_array(from) ? json_string_value(json_array_get(from, index))
           : index == 0        ? json_string_value(from)
                               : NULL;
}

// The item of a list that belongs to a source; what is no list belongs to all.
static const json_t *item_of(const json_t *rule, const char *member, size_t index)
{
    const json_t *value = json_object_get(rule, member);
    return json_is_array(value) ? json_array_get(value, index) : value;
}

// The value of a term; of a list the item of a layer.
static tapml_status
read_item(const struct gguf_walk *walk, const char *term, const char *layer, json_t **out_item)
{
    struct text whole;
    text_init(&whole);
    text_format(&whole, "at(%s, %s)", term, *layer ? layer : "0");
    tapml_status status = text_status(&whole);
    if (status == TAPML_OK) {
        status = gguf_family_evaluate(walk->family, whole.data, out_item);
    }
    text_release(&whole);
    return status;
}

// A whole number: itself, or the value of a term with a layer's item of a list.
static tapml_status read_number(const struct gguf_walk *walk,
                                const json_t *value,
                                const char *layer,
                                int64_t *out_number)
{
    const char *term = json_string_value(value);
    json_t *result = NULL;
    *out_number = json_integer_value(value);
    if (!term) {
        return TAPML_OK;
    }
    TAPML_TRY(read_item(walk, term, layer, &result));
    *out_number = json_integer_value(result);
    const int is_whole = json_is_integer(result);
    json_decref(result);
    return is_whole ? TAPML_OK
                    : status_fail(TAPML_INVALID, "%s: expected a whole number as '%s', found none",
                                  gguf_path(walk->gguf), term);
}

static uint64_t row_count(const struct gguf_tensor *tensor)
{
    uint64_t rows = 1;
    for (uint32_t i = 0; i < tensor->tensor->rank; ++i) {
        const int is_row = i + 1 == tensor->tensor->rank && tensor->tensor->rank > 1;
        rows *= is_row ? 1 : (uint64_t)tensor->tensor->shape[i];
    }
    return rows;
}

// The rows of a transposed source are its columns.
static uint64_t column_count(const struct gguf_tensor *tensor)
{
    const uint32_t rank = tensor->tensor->rank;
    const int64_t *shape = tensor->tensor->shape;
    return rank < 2 ? 1 : (uint64_t)shape[rank - 1] * (uint64_t)(rank > 2 ? shape[0] : 1);
}

static uint64_t value_count(const struct gguf_tensor *tensor)
{
    const uint32_t rank = tensor->tensor->rank;
    return row_count(tensor) * (uint64_t)(rank < 2 ? 1 : tensor->tensor->shape[rank - 1]);
}

static tapml_status find_source(struct gguf_walk *walk,
                                const json_t *rule,
                                const struct gguf_name *name,
                                size_t index,
                                struct gguf_recipe_source *out_source)
{
    char wanted[NAME_BYTES_MAX];
    const char *pattern = source_name(rule, index);
    const char *ending = *ending_of(pattern) ? "" : name->ending;
    put_together(pattern, name->layer, ending, wanted);
    const struct gguf_tensor *tensor = gguf_tensor_find(walk->gguf, wanted);
    if (!tensor) {
        return status_fail(TAPML_INVALID, "%s: expected a tensor '%s', found none",
                           gguf_path(walk->gguf), wanted);
    }
    walk->is_used[tensor - gguf_tensor_at(walk->gguf, 0)] = 1;
    struct gguf_recipe_source source = {.tensor = tensor};
    source.is_transposed =
        json_is_true(item_of(rule, "transpose", index)) && strcmp(name->ending, ".bias") != 0;
    source.is_flat = json_object_get(rule, "alternate") && tensor->tensor->rank == 2;
    source.count = source.is_transposed ? column_count(tensor)
                   : source.is_flat     ? value_count(tensor)
                                        : row_count(tensor);
    TAPML_TRY(read_number(walk, item_of(rule, "rotary", index), name->layer, &source.rotary_heads));
    *out_source = source;
    return TAPML_OK;
}

// The parts of a source, whose sizes are as those of "cut".
struct gguf_parts {
    uint64_t sizes[GGUF_RECIPE_SOURCES_MAX];
    size_t count;
    uint64_t sum;
};

static tapml_status read_parts(const struct gguf_walk *walk,
                               const json_t *rule,
                               const char *layer,
                               struct gguf_parts *out_parts)
{
    const json_t *sizes = json_object_get(rule, "cut");
    struct gguf_parts parts = {.count = json_array_size(sizes)};
    for (size_t i = 0; i < parts.count && i < GGUF_RECIPE_SOURCES_MAX; ++i) {
        int64_t size = 0;
        TAPML_TRY(read_number(walk, json_array_get(sizes, i), layer, &size));
        parts.sizes[i] = size > 0 && size <= INT32_MAX ? (uint64_t)size : 0;
        parts.sum += parts.sizes[i];
    }
    *out_parts = parts;
    return TAPML_OK;
}

// Divides the first source into parts; "take" keeps one of them.
static tapml_status
cut(const struct gguf_walk *walk, const json_t *rule, const char *layer, struct gguf_recipe *recipe)
{
    const json_t *taken = json_object_get(rule, "take");
    const struct gguf_recipe_source whole = recipe->sources[0];
    struct gguf_parts parts;
    uint64_t first = 0;
    TAPML_TRY(read_parts(walk, rule, layer, &parts));
    if (parts.count == 0 || recipe->source_count - 1 + parts.count > GGUF_RECIPE_SOURCES_MAX) {
        return TAPML_OK;
    }
    if (parts.sum == 0 || whole.count % parts.sum != 0) {
        return status_fail(TAPML_INVALID,
                           "%s: tensor '%.128s': expected rows of %llu heads, found "
                           "%llu rows",
                           gguf_path(walk->gguf), whole.tensor->tensor->name,
                           (unsigned long long)parts.sum, (unsigned long long)whole.count);
    }
    memmove(recipe->sources + parts.count, recipe->sources + 1,
            (recipe->source_count - 1) * sizeof(whole));
    recipe->source_count += parts.count - 1;
    for (size_t i = 0; i < parts.count; ++i) {
        struct gguf_recipe_source *part = &recipe->sources[i];
        *part = whole;
        part->first = first;
        part->count = whole.count / parts.sum * parts.sizes[i];
        first += part->count;
        TAPML_TRY(read_number(walk, item_of(rule, "rotary", i), layer, &part->rotary_heads));
    }
    if (json_is_integer(taken)) {
        recipe->sources[0] = recipe->sources[json_integer_value(taken)];
        recipe->source_count = 1;
    }
    return TAPML_OK;
}

// The shape of what is made: that of the first source, with more or fewer rows.
static void fill_shape(const json_t *rule, struct gguf_recipe *recipe)
{
    const struct gguf_file_tensor *first = recipe->sources[0].tensor->tensor;
    const uint32_t last = first->rank > 0 ? first->rank - 1 : 0;
    uint64_t rows = 0;
    for (size_t i = 0; i < recipe->source_count; ++i) {
        rows += recipe->sources[i].count;
    }
    recipe->rank = first->rank;
    memcpy(recipe->shape, first->shape, sizeof(first->shape));
    const int alternates = first->rank > 1 && json_object_get(rule, "alternate");
    if (alternates || (first->rank == 3 && json_object_get(rule, "axis"))) {
        // Of each of the tensor's matrices, the rows of all sources.
        const int64_t matrices = first->shape[0] > 0 ? first->shape[0] : 1;
        recipe->groups = alternates ? (int64_t)recipe->sources[0].count : matrices;
        recipe->shape[1] = (int64_t)(rows / (uint64_t)matrices);
        return;
    }
    if (recipe->sources[0].is_transposed) {
        recipe->shape[last] = first->shape[last - 1];
    }
    if (first->rank == 3 && json_object_get(rule, "stacked")) {
        recipe->shape[1] = first->shape[2];
        return;
    }
    if (first->rank > 0) {
        recipe->rank = first->rank < 2 ? 1 : 2;
        recipe->shape[0] = (int64_t)rows;
        recipe->shape[1] = first->rank > 1 ? recipe->shape[last] : 0;
    }
    const int keeps = first->rank > 2 && recipe->source_count == 1 &&
                      !recipe->sources[0].is_transposed &&
                      recipe->sources[0].count == row_count(recipe->sources[0].tensor);
    if (keeps) {
        recipe->rank = first->rank;
        memcpy(recipe->shape, first->shape, sizeof(first->shape));
    }
}

// Makes one axis of all, where converters put one in.
static void flatten(const json_t *rule, struct gguf_recipe *recipe)
{
    for (uint32_t i = 1; json_object_get(rule, "flatten") && i < recipe->rank; ++i) {
        recipe->shape[0] *= recipe->shape[i];
    }
    recipe->rank = json_object_get(rule, "flatten") && recipe->rank > 1 ? 1 : recipe->rank;
}

// Puts an axis of one in, which converters leave out; where "rank" is said, until there are so
// many.
static void insert_axis(const json_t *rule, struct gguf_recipe *recipe)
{
    const json_t *axis = json_object_get(rule, "insert");
    const json_t *rank = json_object_get(rule, "rank");
    const uint32_t at = (uint32_t)json_integer_value(axis);
    const uint32_t wanted = rank ? (uint32_t)json_integer_value(rank) : recipe->rank + 1;
    while (axis && at <= recipe->rank && recipe->rank < wanted &&
           recipe->rank < GGUF_RECIPE_RANK_MAX) {
        for (uint32_t i = recipe->rank; i > at; --i) {
            recipe->shape[i] = recipe->shape[i - 1];
        }
        recipe->shape[at] = 1;
        ++recipe->rank;
    }
}

// Makes rows of one axis, as many as "rows" says.
static tapml_status divide(const struct gguf_walk *walk,
                           const json_t *rule,
                           const char *layer,
                           struct gguf_recipe *recipe)
{
    const json_t *rows = json_object_get(rule, "rows");
    int64_t count = 0;
    if (!rows || recipe->rank != 1) {
        return TAPML_OK;
    }
    TAPML_TRY(read_number(walk, rows, layer, &count));
    if (count < 1 || recipe->shape[0] % count != 0) {
        return status_fail(TAPML_INVALID,
                           "%s: tensor '%.128s': expected %lld rows, found %lld values",
                           gguf_path(walk->gguf), recipe->sources[0].tensor->tensor->name,
                           (long long)count, (long long)recipe->shape[0]);
    }
    recipe->shape[1] = recipe->shape[0] / count;
    recipe->shape[0] = count;
    recipe->rank = 2;
    return TAPML_OK;
}

// How values are changed.
static tapml_status change(const struct gguf_walk *walk,
                           const json_t *rule,
                           const char *layer,
                           struct gguf_recipe *recipe)
{
    const json_t *added = json_object_get(rule, "add");
    const char *doubled = json_string_value(json_object_get(rule, "double_every"));
    if (json_is_number(added)) {
        recipe->change = GGUF_RECIPE_ADD;
        recipe->number = json_number_value(added);
    } else if (json_is_true(json_object_get(rule, "log_negative"))) {
        recipe->change = GGUF_RECIPE_LOG_NEGATIVE;
    } else if (doubled) {
        json_t *period = NULL;
        TAPML_TRY(read_item(walk, doubled, layer, &period));
        const long index = strtol(layer, NULL, 10);
        const json_int_t layers = json_integer_value(period);
        json_decref(period);
        recipe->number = layers > 0 ? ldexp(1, (int)(index / layers)) : 1;
        recipe->change = recipe->number > 1 ? GGUF_RECIPE_MULTIPLY : GGUF_RECIPE_SAME;
    }
    return TAPML_OK;
}

static tapml_status fill_recipe(struct gguf_walk *walk,
                                const json_t *rule,
                                const struct gguf_name *name,
                                struct gguf_recipe *recipe)
{
    while (recipe->source_count < GGUF_RECIPE_SOURCES_MAX &&
           source_name(rule, recipe->source_count)) {
        TAPML_TRY(find_source(walk, rule, name, recipe->source_count,
                              &recipe->sources[recipe->source_count]));
        ++recipe->source_count;
    }
    TAPML_TRY(cut(walk, rule, name->layer, recipe));
    recipe->groups = 1;
    if (json_object_get(rule, "groups")) {
        TAPML_TRY(read_number(walk, json_object_get(rule, "groups"), name->layer, &recipe->groups));
    }
    TAPML_TRY(change(walk, rule, name->layer, recipe));
    fill_shape(rule, recipe);
    flatten(rule, recipe);
    insert_axis(rule, recipe);
    return divide(walk, rule, name->layer, recipe);
}

// -- Giving ------------------------------------------------------------------------------------

static tapml_status
give(const struct gguf_walk *walk, const char *name, const struct gguf_recipe *recipe)
{
    TAPML_TRY(gguf_recipe_check(recipe, name));
    TAPML_TRY(gguf_recipe_check_shape(recipe, name));
    return walk->take(walk->user, name, recipe);
}

// Gives each matrix of a tensor of all experts under a name of its own.
static tapml_status
give_experts(const struct gguf_walk *walk, const char *name, const struct gguf_recipe *recipe)
{
    const char *number = strchr(name, '#');
    const struct gguf_file_tensor *tensor = recipe->sources[0].tensor->tensor;
    const int64_t count = tensor->shape[0];
    if (recipe->source_count != 1 || tensor->rank < 2 || count > EXPERTS_MAX) {
        return status_fail(TAPML_INVALID,
                           "%s: tensor '%.128s': expected the matrices of at most %d experts",
                           gguf_path(walk->gguf), tensor->name, EXPERTS_MAX);
    }
    for (int64_t i = 0; i < count; ++i) {
        char own[NAME_BYTES_MAX + INDEX_BYTES_MAX];
        struct gguf_recipe expert = *recipe;
        const uint64_t rows = row_count(recipe->sources[0].tensor) / (uint64_t)count;
        expert.sources[0].first = (uint64_t)i * rows;
        expert.sources[0].count = rows;
        expert.rank = tensor->rank - 1;
        memcpy(expert.shape, tensor->shape + 1, expert.rank * sizeof(*expert.shape));
        (void)snprintf(own, sizeof(own), "%.*s%lld%s", (int)(number - name), name, (long long)i,
                       number + 1);
        TAPML_TRY(give(walk, own, &expert));
    }
    return TAPML_OK;
}

// One value, which is the layer's item of a key; without the key nothing is given.
static tapml_status give_filled(const struct gguf_walk *walk,
                                const json_t *rule,
                                const char *layer,
                                const char *name,
                                struct gguf_recipe *recipe)
{
    json_t *item = NULL;
    TAPML_TRY(read_item(walk, json_string_value(json_object_get(rule, "fill")), layer, &item));
    recipe->change = GGUF_RECIPE_FILL;
    recipe->number = json_number_value(item);
    recipe->sources[0].count = recipe->sources[0].count > 0;
    recipe->rank = 1;
    recipe->shape[0] = (int64_t)recipe->sources[0].count;
    const tapml_status status = json_is_number(item) ? give(walk, name, recipe) : TAPML_OK;
    json_decref(item);
    return status;
}

static tapml_status
apply(struct gguf_walk *walk, const char *pattern, const json_t *rule, const struct gguf_name *name)
{
    char made[NAME_BYTES_MAX];
    struct gguf_recipe recipe = {.source_count = 0};
    const int is_whole = *ending_of(source_name(rule, 0)) != '\0';
    put_together(pattern, name->layer, is_whole ? "" : name->ending, made);
    TAPML_TRY(fill_recipe(walk, rule, name, &recipe));
    if (json_object_get(rule, "fill")) {
        return give_filled(walk, rule, name->layer, made, &recipe);
    }
    return strchr(made, '#') ? give_experts(walk, made, &recipe) : give(walk, made, &recipe);
}

// Applies all rules whose first source the tensor is. `out_is_found` says if there is one.
static tapml_status
apply_all(struct gguf_walk *walk, const struct gguf_name *name, int *out_is_found)
{
    const char *pattern = NULL;
    json_t *rule = NULL;
    json_object_foreach(gguf_family_tensors(walk->family), pattern, rule)
    {
        const char *first = source_name(rule, 0);
        if (first && (strcmp(first, name->stem) == 0 || strcmp(first, name->whole) == 0)) {
            *out_is_found = 1;
            TAPML_TRY(apply(walk, pattern, rule, name));
        }
    }
    return TAPML_OK;
}

static tapml_status map_all(struct gguf_walk *walk)
{
    for (size_t i = 0; i < gguf_tensor_count(walk->gguf); ++i) {
        struct gguf_name name;
        int is_found = 0;
        if (take_apart(gguf_tensor_at(walk->gguf, i)->tensor->name, &name)) {
            TAPML_TRY(apply_all(walk, &name, &is_found));
        }
        walk->is_used[i] |= (unsigned char)is_found;
    }
    for (size_t i = 0; i < gguf_tensor_count(walk->gguf); ++i) {
        const struct gguf_tensor *tensor = gguf_tensor_at(walk->gguf, i);
        if (!walk->is_used[i] && !gguf_family_ignores(walk->family, tensor->tensor->name)) {
            return status_fail(TAPML_INVALID,
                               "%s: tensor '%.128s': expected a name of the architecture '%.64s'",
                               gguf_file_path(tensor->file), tensor->tensor->name,
                               gguf_family_architecture(walk->family));
        }
    }
    return TAPML_OK;
}

tapml_status gguf_map_each(const struct gguf *gguf,
                           const struct gguf_family *family,
                           gguf_map_fn take,
                           void *user)
{
    struct gguf_walk walk = {.gguf = gguf, .family = family, .take = take, .user = user};
    walk.is_used = alloc_new(gguf_tensor_count(gguf) + 1);
    if (!walk.is_used) {
        return status_no_memory();
    }
    const tapml_status status = map_all(&walk);
    alloc_free(walk.is_used);
    return status;
}
