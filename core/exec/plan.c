// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/plan.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "schema/catalogue.h"

#include <stdio.h>
#include <string.h>

enum { PLAN_FILE_BYTES_MAX = 1 << 20 };

struct plan_rule {
    const char *op;       // Globs; NULL: any.
    const char *instance; // The same.
    int phase;            // PLAN_PHASES: any.
    const char *place;
    const char *where;
};

struct plan {
    struct arena *arena;
    struct plan_rule *rules;
    size_t count;
    size_t capacity;
};

static const char *const phase_names[] = {"prefill", "decode", NULL};

// ", did you mean 'prefill'?", or nothing.
struct hint {
    char text[96];
};

static struct hint hint_of(const char *word, const char *const *words)
{
    struct hint hint = {""};
    const char *near = text_nearest(word, words);
    if (near) {
        (void)snprintf(hint.text, sizeof(hint.text), ", did you mean '%s'?", near);
    }
    return hint;
}

tapml_status plan_create(struct plan **out_plan)
{
    struct plan *plan = alloc_new(sizeof(*plan));
    struct arena *arena = arena_create();
    if (!plan || !arena) {
        alloc_free(plan);
        arena_destroy(arena);
        return status_no_memory();
    }
    plan->arena = arena;
    *out_plan = plan;
    return TAPML_OK;
}

void plan_destroy(struct plan *plan)
{
    if (plan) {
        arena_destroy(plan->arena);
        alloc_free(plan->rules);
        alloc_free(plan);
    }
}

// A copy in the plan's arena; NULL stays NULL.
static tapml_status keep_text(struct plan *plan, const char *text, const char **out_copy)
{
    *out_copy = text ? arena_text(plan->arena, text) : NULL;
    return text && !*out_copy ? status_no_memory() : TAPML_OK;
}

static tapml_status keep_rule(struct plan *plan, const struct plan_rule *rule)
{
    struct plan_rule kept = {.phase = rule->phase};
    TAPML_TRY(keep_text(plan, rule->op, &kept.op));
    TAPML_TRY(keep_text(plan, rule->instance, &kept.instance));
    TAPML_TRY(keep_text(plan, rule->place, &kept.place));
    TAPML_TRY(keep_text(plan, rule->where, &kept.where));
    if (!alloc_grow((void **)&plan->rules, &plan->capacity, plan->count, sizeof(kept))) {
        return status_no_memory();
    }
    plan->rules[plan->count++] = kept;
    return TAPML_OK;
}

tapml_status plan_copy(const struct plan *plan, struct plan **out_plan)
{
    struct plan *copy = NULL;
    TAPML_TRY(plan_create(&copy));
    for (size_t i = 0; i < plan->count; i++) {
        const tapml_status status = keep_rule(copy, &plan->rules[i]);
        if (status != TAPML_OK) {
            plan_destroy(copy);
            return status;
        }
    }
    *out_plan = copy;
    return TAPML_OK;
}

int plan_can_name(const char *instance)
{
    return *instance != '\0' && instance[strcspn(instance, " \t\r\n\v\f*?[")] == '\0';
}

static void print_rule(const struct plan_rule *rule, struct text *text)
{
    if (rule->op) {
        text_format(text, "op=%s ", rule->op);
    }
    if (rule->instance) {
        text_format(text, "instance=%s ", rule->instance);
    }
    if (rule->phase != PLAN_PHASES) {
        text_format(text, "phase=%s ", phase_names[rule->phase]);
    }
    if (!rule->op && !rule->instance && rule->phase == PLAN_PHASES) {
        text_append(text, "* ");
    }
    text_format(text, "-> %s", rule->place);
}

void plan_print(const struct plan *plan, struct text *out_text)
{
    for (size_t i = 0; i < plan->count; i++) {
        print_rule(&plan->rules[i], out_text);
        text_append(out_text, "\n");
    }
}

static const char blanks[] = " \t\r";

// Ends the word at `*cursor` with a zero byte and returns it, or NULL at the end.
static char *next_word(char **cursor)
{
    char *word = *cursor + strspn(*cursor, blanks);
    char *end = word + strcspn(word, blanks);
    *cursor = *end ? end + 1 : end;
    *end = '\0';
    return *word ? word : NULL;
}

static tapml_status parse_phase(struct plan_rule *rule, const char *word)
{
    if (rule->phase != PLAN_PHASES) {
        return status_fail(TAPML_INVALID, "%s: 'phase=' is given twice", rule->where);
    }
    for (int phase = 0; phase < PLAN_PHASES; phase++) {
        if (strcmp(word, phase_names[phase]) == 0) {
            rule->phase = phase;
            return TAPML_OK;
        }
    }
    return status_fail(TAPML_INVALID, "%s: expected the phase 'prefill' or 'decode', found '%s'%s",
                       rule->where, word, hint_of(word, phase_names).text);
}

static tapml_status
parse_glob(const struct plan_rule *rule, const char *key, const char *word, const char **out_glob)
{
    if (*out_glob) {
        return status_fail(TAPML_INVALID, "%s: '%s=' is given twice", rule->where, key);
    }
    if (!*word) {
        return status_fail(TAPML_INVALID, "%s: expected a glob behind '%s=', found nothing",
                           rule->where, key);
    }
    *out_glob = word;
    return TAPML_OK;
}

static tapml_status parse_selector(struct plan_rule *rule, char *word)
{
    static const char *const keys[] = {"op", "instance", "phase", NULL};
    char *equals = strchr(word, '=');
    if (!equals) {
        return status_fail(TAPML_INVALID,
                           "%s: expected '*', 'op=', 'instance=' or 'phase=', found '%s'",
                           rule->where, word);
    }
    *equals = '\0';
    if (strcmp(word, "op") == 0) {
        return parse_glob(rule, word, equals + 1, &rule->op);
    }
    if (strcmp(word, "instance") == 0) {
        return parse_glob(rule, word, equals + 1, &rule->instance);
    }
    if (strcmp(word, "phase") == 0) {
        return parse_phase(rule, equals + 1);
    }
    return status_fail(TAPML_INVALID, "%s: expected 'op=', 'instance=' or 'phase=', found '%s='%s",
                       rule->where, word, hint_of(word, keys).text);
}

// The selectors, to behind the arrow. `*` stands alone.
static tapml_status parse_selectors(struct plan_rule *rule, char **cursor)
{
    int count = 0, has_star = 0;
    for (char *word = next_word(cursor); word; word = next_word(cursor)) {
        if (strcmp(word, "->") == 0) {
            if (count == 0) {
                return status_fail(TAPML_INVALID,
                                   "%s: expected '*', 'op=', 'instance=' or 'phase=' before '->'",
                                   rule->where);
            }
            return TAPML_OK;
        }
        count++;
        if (strcmp(word, "*") == 0) {
            has_star = 1;
        } else {
            TAPML_TRY(parse_selector(rule, word));
        }
        if (has_star && count > 1) {
            return status_fail(TAPML_INVALID, "%s: '*' stands alone before '->'", rule->where);
        }
    }
    return status_fail(TAPML_INVALID, "%s: expected '-> PLACE', found the end of the rule",
                       rule->where);
}

static tapml_status parse_place(struct plan_rule *rule, char **cursor)
{
    static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    const char *place = next_word(cursor);
    if (!place) {
        return status_fail(TAPML_INVALID, "%s: expected a place behind '->', found nothing",
                           rule->where);
    }
    if (place[strspn(place, legal)]) {
        return status_fail(TAPML_INVALID,
                           "%s: expected a place of letters, digits, '_', '.' and '-', found '%s'",
                           rule->where, place);
    }
    const char *more = next_word(cursor);
    if (more) {
        return status_fail(TAPML_INVALID, "%s: expected one place behind '->', found also '%s'",
                           rule->where, more);
    }
    rule->place = place;
    return TAPML_OK;
}

static tapml_status parse_rule(struct plan *plan, char *text, const char *where)
{
    struct plan_rule rule = {.phase = PLAN_PHASES, .where = where};
    TAPML_TRY(parse_selectors(&rule, &text));
    TAPML_TRY(parse_place(&rule, &text));
    return keep_rule(plan, &rule);
}

tapml_status plan_add(struct plan *plan, const char *rule, const char *where)
{
    char *words = alloc_text(rule);
    if (!words) {
        return status_no_memory();
    }
    const tapml_status status = parse_rule(plan, words, where);
    alloc_free(words);
    return status;
}

// Cuts a comment: a '#' at the start of the line or behind a blank.
static void cut_comment(char *line)
{
    for (char *at = line; *at; at++) {
        if (*at == '#' && (at == line || strchr(blanks, at[-1]))) {
            *at = '\0';
            return;
        }
    }
}

static tapml_status parse_lines(struct plan *plan, char *text, const char *name)
{
    struct text where;
    text_init(&where);
    tapml_status status = TAPML_OK;
    unsigned number = 1;
    for (char *line = text; line && status == TAPML_OK; number++) {
        char *end = strchr(line, '\n');
        if (end) {
            *end = '\0';
        }
        cut_comment(line);
        if (line[strspn(line, blanks)]) {
            text_clear(&where);
            text_format(&where, "%s:%u", name, number);
            status = text_status(&where);
            status = status == TAPML_OK ? parse_rule(plan, line, where.data) : status;
        }
        line = end ? end + 1 : NULL;
    }
    text_release(&where);
    return status;
}

tapml_status plan_parse(const char *text, const char *name, struct plan **out_plan)
{
    struct plan *plan = NULL;
    TAPML_TRY(plan_create(&plan));
    char *lines = alloc_text(text);
    const tapml_status status = lines ? parse_lines(plan, lines, name) : status_no_memory();
    alloc_free(lines);
    if (status != TAPML_OK) {
        plan_destroy(plan);
        return status;
    }
    *out_plan = plan;
    return TAPML_OK;
}

tapml_status plan_load(const char *path, struct plan **out_plan)
{
    char *data = NULL;
    size_t size = 0;
    TAPML_TRY(file_read(path, PLAN_FILE_BYTES_MAX, &data, &size));
    const tapml_status status =
        strlen(data) == size
            ? plan_parse(data, path, out_plan)
            : status_fail(TAPML_INVALID, "%s: expected text, found a zero byte at %zu", path,
                          strlen(data));
    alloc_free(data);
    return status;
}

static int matches_op(const struct plan_rule *rule, const char *op_name)
{
    return !rule->op || text_glob(rule->op, op_name) ||
           text_glob(rule->op, catalogue_shorten(op_name));
}

static int matches_instance(const struct plan_rule *rule, const char *instance)
{
    return !rule->instance || text_glob(rule->instance, instance);
}

// The last rule that matches, or NULL.
static const struct plan_rule *
find_rule(const struct plan *plan, const char *op_name, const char *instance, enum plan_phase phase)
{
    for (size_t i = plan->count; i-- > 0;) {
        const struct plan_rule *rule = &plan->rules[i];
        if ((rule->phase == PLAN_PHASES || rule->phase == (int)phase) &&
            matches_op(rule, op_name) && matches_instance(rule, instance)) {
            return rule;
        }
    }
    return NULL;
}

const char *plan_place(const struct plan *plan,
                       const char *op_name,
                       const char *instance,
                       enum plan_phase phase)
{
    const struct plan_rule *rule = find_rule(plan, op_name, instance, phase);
    return rule ? rule->place : "source";
}

// What is nearest to a selector that matches nothing: an instance, or else an op.
static tapml_status fail_unmatched(const struct plan_rule *rule, const struct graph *graph)
{
    const char **names = alloc_array((size_t)graph->op_count + 1, sizeof(*names));
    struct text text;
    if (!names) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < graph->op_count; i++) {
        names[i] = rule->instance ? graph->ops[i].instance : catalogue_short_name(graph->ops[i].op);
    }
    text_init(&text);
    print_rule(rule, &text);
    const char *wanted = rule->instance ? rule->instance : rule->op;
    const tapml_status status =
        status_fail(TAPML_NOT_FOUND, "%s: the rule '%s' matches no op of the model%s", rule->where,
                    text.data, hint_of(wanted, names).text);
    text_release(&text);
    alloc_free(names);
    return status;
}

static tapml_status check_matches(const struct plan *plan, const struct graph *graph)
{
    for (size_t r = 0; r < plan->count; r++) {
        const struct plan_rule *rule = &plan->rules[r];
        int found = !rule->op && !rule->instance;
        for (uint32_t i = 0; i < graph->op_count && !found; i++) {
            found = matches_op(rule, graph->ops[i].op->name) &&
                    matches_instance(rule, graph->ops[i].instance);
        }
        if (!found) {
            return fail_unmatched(rule, graph);
        }
    }
    return TAPML_OK;
}

static uint32_t find_place(const char *place, const char *const *places, uint32_t place_count)
{
    uint32_t at = 0;
    while (at < place_count && strcmp(places[at], place) != 0) {
        at++;
    }
    return at;
}

static tapml_status
check_places(const struct plan *plan, const char *const *places, uint32_t place_count)
{
    for (size_t r = 0; r < plan->count; r++) {
        const struct plan_rule *rule = &plan->rules[r];
        if (find_place(rule->place, places, place_count) < place_count) {
            continue;
        }
        const char **names = alloc_array((size_t)place_count + 1, sizeof(*names));
        if (!names) {
            return status_no_memory();
        }
        memcpy(names, places, place_count * sizeof(*names));
        const tapml_status status =
            status_fail(TAPML_NOT_FOUND, "%s: there is no place '%s'%s", rule->where, rule->place,
                        hint_of(rule->place, names).text);
        alloc_free(names);
        return status;
    }
    return TAPML_OK;
}

tapml_status plan_resolve(const struct plan *plan,
                          const struct graph *graph,
                          const char *const *places,
                          uint32_t place_count,
                          uint8_t *out_places)
{
    TAPML_TRY(check_places(plan, places, place_count));
    TAPML_TRY(check_matches(plan, graph));
    for (int phase = 0; phase < PLAN_PHASES; phase++) {
        for (uint32_t i = 0; i < graph->op_count; i++) {
            const struct graph_op *op = &graph->ops[i];
            const struct plan_rule *rule =
                find_rule(plan, op->op->name, op->instance, (enum plan_phase)phase);
            *out_places++ =
                rule ? (uint8_t)find_place(rule->place, places, place_count) : (uint8_t)0;
        }
    }
    return TAPML_OK;
}
