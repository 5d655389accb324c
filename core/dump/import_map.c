// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "dump/import_map.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "carve/foreign_call.h"
#include "dump/dump.h"
#include "dump/name_pattern.h"
#include "schema/catalogue.h"

#include <string.h>

enum { MAP_BYTES_MAX = 1 << 22, WORDS_MAX = FOREIGN_OPAQUE_MAX + 2 };

static const char opaque[] = "opaque.";

struct map_line {
    const struct import_map *map;
    const struct catalogue *catalogue;
    size_t line;
};

void import_map_release(struct import_map *map)
{
    alloc_free(map->rules);
    arena_destroy(map->arena);
    *map = (struct import_map){0};
}

// -- A line ------------------------------------------------------------------------------------

// An argument of a known op, by its schema.
static tapml_status settle_argument(const struct map_line *line,
                                    const struct compiled_op *schema,
                                    struct import_argument *argument)
{
    for (uint32_t i = 0; i < schema->op->n_params; i++) {
        const tapml_param *param = schema->op->params[i];

        if (strcmp(param->name, argument->name) != 0) {
            continue;
        }
        argument->position = i;
        argument->is_number = param->kind == TAPML_P_I64 || param->kind == TAPML_P_F64;
        argument->is_output =
            param->kind == TAPML_P_TENSOR_OUT || param->kind == TAPML_P_TENSOR_INOUT;
        if ((argument->after != NULL) != (param->kind == TAPML_P_TENSOR_INOUT) ||
            (argument->is_weight && (param->effects & TAPML_E_WEIGHT) == 0)) {
            return status_fail(TAPML_INVALID, "%s:%zu: parameter '%s': expected %s",
                               line->map->name, line->line, param->name,
                               param->kind == TAPML_P_TENSOR_INOUT ? "BEFORE>AFTER"
                               : argument->is_number               ? "a number"
                                                                   : "the name of a tensor");
        }
        return TAPML_OK;
    }
    return status_fail(TAPML_INVALID, "%s:%zu: '%s' has no parameter '%s'", line->map->name,
                       line->line, schema->op->name, argument->name);
}

static tapml_status settle_opaque(const struct map_line *line, struct import_argument *argument)
{
    argument->is_output = strcmp(argument->name, "out") == 0;
    return argument->after == NULL && (argument->is_output || strcmp(argument->name, "in") == 0)
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "%s:%zu: an opaque call has 'in=' and 'out='",
                             line->map->name, line->line);
}

static tapml_status read_argument(const struct map_line *line,
                                  const struct compiled_op *schema,
                                  char *word,
                                  struct import_argument *out_argument)
{
    char *equals = strchr(word, '=');

    if (equals == NULL || equals == word || equals[1] == '\0') {
        return status_fail(TAPML_INVALID, "%s:%zu: expected PARAMETER=VALUE, found '%s'",
                           line->map->name, line->line, word);
    }
    *equals = '\0';
    *out_argument = (struct import_argument){.position = out_argument->position,
                                             .name = word,
                                             .value = equals + 1,
                                             .is_weight = equals[1] == '@'};
    char *after = strchr(equals + 1, '>');

    if (after != NULL) {
        *after = '\0';
        out_argument->after = after + 1;
    }
    out_argument->value += out_argument->is_weight;
    return schema != NULL ? settle_argument(line, schema, out_argument)
                          : settle_opaque(line, out_argument);
}

// "tapml.rms_norm@1"
static tapml_status read_op(const struct map_line *line,
                            char *word,
                            struct import_rule *rule,
                            const struct compiled_op **out_schema)
{
    char *at = strchr(word, '@');
    int64_t version = 1;

    *out_schema = NULL;
    rule->op = word;
    if (strncmp(word, opaque, strlen(opaque)) == 0 && word[strlen(opaque)] != '\0') {
        rule->op = word + strlen(opaque);
        return TAPML_OK;
    }
    if (at != NULL) {
        *at = '\0';
        if (text_parse_i64(at + 1, &version) != TAPML_OK || version < 1 || version > INT32_MAX) {
            version = 0;
        }
    }
    rule->version = (uint32_t)version;
    *out_schema = version > 0 ? catalogue_find(line->catalogue, word, rule->version) : NULL;
    return *out_schema != NULL
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "%s:%zu: there is no operator '%s' of that version",
                             line->map->name, line->line, word);
}

static tapml_status check_rule(const struct map_line *line, const struct import_rule *rule)
{
    if (rule->output == NULL) {
        return status_fail(TAPML_INVALID, "%s:%zu: no output has the name of a tensor",
                           line->map->name, line->line);
    }
    const char *written = rule->output->after != NULL ? rule->output->after : rule->output->value;

    for (uint32_t i = 0; i < rule->argument_count; i++) {
        if (!name_pattern_is_open(written) && name_pattern_is_open(rule->arguments[i].value)) {
            return status_fail(TAPML_INVALID, "%s:%zu: '*' is not in the name of the output '%s'",
                               line->map->name, line->line, written);
        }
    }
    return name_pattern_is_open(written) == name_pattern_is_open(rule->instance)
               ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "%s:%zu: '*' is in one of the instance and its output alone",
                             line->map->name, line->line);
}

static tapml_status
read_rule(const struct map_line *line, char *const *words, size_t count, struct import_rule *rule)
{
    const struct compiled_op *schema = NULL;
    const size_t length = strlen(words[0]);

    if (count < 3 || length < 2 || words[0][length - 1] != ':') {
        return status_fail(TAPML_INVALID, "%s:%zu: expected INSTANCE: OP PARAMETER=VALUE ...",
                           line->map->name, line->line);
    }
    words[0][length - 1] = '\0';
    rule->instance = words[0];
    rule->line = line->line;
    rule->argument_count = (uint32_t)count - 2;
    rule->arguments = arena_array(line->map->arena, count, sizeof(*rule->arguments));
    if (rule->arguments == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(read_op(line, words[1], rule, &schema));
    for (uint32_t i = 0; i < rule->argument_count; i++) {
        struct import_argument *argument = &rule->arguments[i];

        argument->position = i;
        TAPML_TRY(read_argument(line, schema, words[2 + i], argument));
        if (rule->output == NULL && argument->is_output) {
            rule->output = argument;
        }
    }
    return check_rule(line, rule);
}

// Cuts a line of the arena into words.
static tapml_status
read_line(const struct map_line *line, char *text, struct import_rule *rule, int *out_has)
{
    char *words[WORDS_MAX] = {NULL};
    size_t count = 0;
    char *remark = strchr(text, '#');

    if (remark != NULL) {
        *remark = '\0';
    }
    for (char *at = text; *at != '\0';) {
        at += strspn(at, " \t\r");
        if (*at == '\0') {
            break;
        }
        if (count == WORDS_MAX) {
            return status_fail(TAPML_INVALID, "%s:%zu: it has too many words", line->map->name,
                               line->line);
        }
        words[count++] = at;
        at += strcspn(at, " \t\r");
        if (*at != '\0') {
            *at++ = '\0';
        }
    }
    *out_has = count > 0;
    return count > 0 ? read_rule(line, words, count, rule) : TAPML_OK;
}

static tapml_status add_rule(struct import_map *map, const struct import_rule *rule)
{
    void *rules = map->rules;

    if (!alloc_grow(&rules, &map->capacity, map->count, sizeof(*map->rules))) {
        return status_no_memory();
    }
    map->rules = rules;
    map->rules[map->count++] = *rule;
    return TAPML_OK;
}

static tapml_status
parse(struct import_map *map, const char *text, size_t size, const struct catalogue *catalogue)
{
    struct map_line line = {.map = map, .catalogue = catalogue};

    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        const size_t length = end != NULL ? (size_t)(end - text) - at : size - at;
        char *copy = arena_new(map->arena, length + 1);
        struct import_rule rule = {0};
        int has = 0;

        if (copy == NULL) {
            return status_no_memory();
        }
        memcpy(copy, text + at, length);
        line.line++;
        TAPML_TRY(read_line(&line, copy, &rule, &has));
        if (has) {
            TAPML_TRY(add_rule(map, &rule));
        }
        at += length + 1;
    }
    return map->count > 0 ? TAPML_OK : status_fail(TAPML_INVALID, "%s: it has no rules", map->name);
}

tapml_status import_map_parse(const char *name,
                              const char *text,
                              size_t size,
                              const struct catalogue *catalogue,
                              struct import_map *out_map)
{
    struct import_map map = {.arena = arena_create()};

    map.name = map.arena != NULL ? arena_text(map.arena, name) : NULL;
    const tapml_status status =
        map.name != NULL ? parse(&map, text, size, catalogue) : status_no_memory();

    if (status != TAPML_OK) {
        import_map_release(&map);
        return status;
    }
    *out_map = map;
    return TAPML_OK;
}

tapml_status
import_map_load(const char *path, const struct catalogue *catalogue, struct import_map *out_map)
{
    char *text = NULL;
    size_t size = 0;

    TAPML_TRY(file_read(path, MAP_BYTES_MAX, &text, &size));
    const tapml_status status = import_map_parse(path, text, size, catalogue, out_map);

    alloc_free(text);
    return status;
}

// -- Calls -------------------------------------------------------------------------------------

struct expansion {
    const struct dump *dump;
    struct arena *arena;
    struct import_call *calls; // Of base/alloc.h.
    size_t count, capacity;
};

static const char *output_name(const struct import_rule *rule)
{
    return rule->output->after != NULL ? rule->output->after : rule->output->value;
}

static tapml_status
add_call(struct expansion *expansion, struct import_rule *rule, const char *part, size_t output)
{
    void *calls = expansion->calls;
    struct import_call call = {.rule = rule,
                               .instance =
                                   name_pattern_fill(expansion->arena, rule->instance, part),
                               .part = arena_text(expansion->arena, part),
                               .output = output};

    if (call.instance == NULL || call.part == NULL ||
        !alloc_grow(&calls, &expansion->capacity, expansion->count, sizeof(*expansion->calls))) {
        return status_no_memory();
    }
    expansion->calls = calls;
    expansion->calls[expansion->count++] = call;
    rule->call_count++;
    return TAPML_OK;
}

static tapml_status expand_rule(struct expansion *expansion, struct import_rule *rule)
{
    char part[NAME_PATTERN_PART];

    rule->call_count = 0;
    for (size_t i = 0; i < expansion->dump->count; i++) {
        if (name_pattern_match(output_name(rule), expansion->dump->tensors[i].name, part)) {
            TAPML_TRY(add_call(expansion, rule, part, i));
        }
    }
    return TAPML_OK;
}

// Layer after layer, and in each as the rules stand; of one name as the dump has them.
static int is_before(const struct import_call *left, const struct import_call *right)
{
    const int order = dump_compare_names(left->part, right->part);

    if (order != 0) {
        return order < 0;
    }
    return left->rule != right->rule ? left->rule < right->rule : left->output < right->output;
}

static void merge(struct import_call *calls, struct import_call *spare, size_t count)
{
    const size_t half = count / 2;
    size_t left = 0, right = half;

    if (count < 2) {
        return;
    }
    merge(calls, spare, half); // The depth is the logarithm of the count.
    merge(calls + half, spare, count - half);
    for (size_t i = 0; i < count; i++) {
        const int is_left =
            right == count || (left < half && !is_before(&calls[right], &calls[left]));

        spare[i] = is_left ? calls[left++] : calls[right++];
    }
    memcpy(calls, spare, count * sizeof(*calls));
}

static tapml_status sort_block(struct expansion *expansion, size_t first)
{
    const size_t count = expansion->count - first;
    struct import_call *spare = count > 1 ? alloc_array(count, sizeof(*spare)) : NULL;

    if (count > 1 && spare == NULL) {
        return status_no_memory();
    }
    if (count > 1) {
        merge(expansion->calls + first, spare, count);
    }
    alloc_free(spare);
    return TAPML_OK;
}

static tapml_status expand(struct import_map *map, struct expansion *expansion)
{
    size_t first = 0; // Of the block at hand.

    for (size_t i = 0; i < map->count; i++) {
        if (!name_pattern_is_open(map->rules[i].instance)) {
            TAPML_TRY(sort_block(expansion, first));
            TAPML_TRY(expand_rule(expansion, &map->rules[i]));
            first = expansion->count;
        } else {
            TAPML_TRY(expand_rule(expansion, &map->rules[i]));
        }
    }
    return sort_block(expansion, first);
}

tapml_status import_map_expand(struct import_map *map,
                               const struct dump *dump,
                               struct arena *arena,
                               struct import_call **out_calls,
                               size_t *out_count)
{
    struct expansion expansion = {.dump = dump, .arena = arena};
    tapml_status status = expand(map, &expansion);
    struct import_call *calls =
        status == TAPML_OK ? arena_array(arena, expansion.count + 1, sizeof(*calls)) : NULL;

    if (calls != NULL) {
        if (expansion.count > 0) {
            memcpy(calls, expansion.calls, expansion.count * sizeof(*calls));
        }
        *out_calls = calls;
        *out_count = expansion.count;
    } else if (status == TAPML_OK) {
        status = status_no_memory();
    }
    alloc_free(expansion.calls);
    return status;
}

// -- What computed a tensor --------------------------------------------------------------------

static tapml_status annotate(struct dump *dump, const struct import_call *call)
{
    const struct import_rule *rule = call->rule;
    struct dump_tensor *tensor = &dump->tensors[call->output];
    const char **sources = arena_array(dump->arena, rule->argument_count + 1, sizeof(*sources));
    uint32_t count = 0;

    if (sources == NULL) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < rule->argument_count; i++) {
        const struct import_argument *argument = &rule->arguments[i];

        if (!argument->is_number && !argument->is_weight &&
            (!argument->is_output || argument->after != NULL)) {
            sources[count] = name_pattern_fill(dump->arena, argument->value, call->part);
            if (sources[count++] == NULL) {
                return status_no_memory();
            }
        }
    }
    tensor->op = rule->version > 0 ? arena_text(dump->arena, rule->op)
                                   : arena_format(dump->arena, "%s%s", opaque, rule->op);
    tensor->sources = sources;
    tensor->source_count = count;
    return tensor->op != NULL ? TAPML_OK : status_no_memory();
}

tapml_status import_map_annotate(struct import_map *map, struct dump *dump)
{
    struct import_call *calls = NULL;
    size_t count = 0;

    TAPML_TRY(import_map_expand(map, dump, dump->arena, &calls, &count));
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(annotate(dump, &calls[i]));
    }
    return TAPML_OK;
}
