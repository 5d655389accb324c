// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/plan_rules.h"

#include "base/alloc.h"
#include "exec/space.h"
#include "schema/catalogue.h"

#include <string.h>

enum {
    PATTERN_TEXT = 256,
    LAYER_LEAST = 2 /* Operators that a rule of a layer has to set right. */
};

// Rules that are being written, and what they mean so far.
struct rule_writing {
    const tapml_policy_ops *question;
    const uint8_t *places; // That are wanted.
    uint8_t *current;      // That the rules give.
    size_t rules;
    struct text *text;
};

size_t plan_rules_layer(const char *instance)
{
    const char *slash = strchr(instance, '/');
    return slash ? (size_t)(slash - instance) : 0;
}

// Rules know the names of kinds and not their versions.
static int is_kind(const tapml_op *a, const tapml_op *b)
{
    return strcmp(a->name, b->name) == 0;
}

static void put(struct rule_writing *writing, const char *key, const char *pattern, uint8_t place)
{
    text_format(writing->text, "%s%s -> %s\n", key, pattern, writing->question->places[place]);
    writing->rules++;
}

// The place that most of some operators are wanted at.
static uint8_t find_most(const struct rule_writing *writing, const tapml_op *kind)
{
    uint32_t counts[SPACE_PLACES_MAX] = {0};
    uint8_t most = 0;
    for (uint32_t i = 0; i < writing->question->n_ops; i++) {
        if (!kind || is_kind(writing->question->ops[i]->op, kind)) {
            counts[writing->places[i]]++;
        }
    }
    for (uint8_t place = 1; place < writing->question->n_places; place++) {
        most = counts[place] > counts[most] ? place : most;
    }
    return most;
}

static void put_most(struct rule_writing *writing)
{
    const uint8_t most = find_most(writing, NULL);
    memset(writing->current, most, writing->question->n_ops);
    put(writing, "", "*", most);
}

static int is_first_of_kind(const tapml_policy_ops *question, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++) {
        if (is_kind(question->ops[i]->op, question->ops[index]->op)) {
            return 0;
        }
    }
    return 1;
}

static void put_kind(struct rule_writing *writing, const tapml_op *kind)
{
    const tapml_policy_ops *question = writing->question;
    const uint8_t most = find_most(writing, kind);
    int is_new = 0;
    for (uint32_t i = 0; i < question->n_ops; i++) {
        if (is_kind(question->ops[i]->op, kind) && writing->current[i] != most) {
            writing->current[i] = most;
            is_new = 1;
        }
    }
    if (is_new) {
        put(writing, "op=", catalogue_short_name(kind), most);
    }
}

static void put_kinds(struct rule_writing *writing)
{
    for (uint32_t i = 0; i < writing->question->n_ops; i++) {
        if (is_first_of_kind(writing->question, i)) {
            put_kind(writing, writing->question->ops[i]->op);
        }
    }
}

// A rule for a layer that is wanted at one place as a whole, where it sets several operators right.
static void put_layer(struct rule_writing *writing, uint32_t index)
{
    const tapml_policy_ops *question = writing->question;
    const char *instance = question->ops[index]->instance;
    const size_t length = plan_rules_layer(instance);
    char pattern[PATTERN_TEXT];
    uint32_t wrong = 0;
    if (length == 0 || length + 3 > sizeof(pattern)) {
        return;
    }
    memcpy(pattern, instance, length);
    memcpy(pattern + length, "/*", 3);
    for (uint32_t i = 0; i < question->n_ops; i++) {
        if (text_glob(pattern, question->ops[i]->instance)) {
            if (writing->places[i] != writing->places[index]) {
                return;
            }
            wrong += writing->current[i] != writing->places[i];
        }
    }
    if (wrong < LAYER_LEAST) {
        return;
    }
    for (uint32_t i = 0; i < question->n_ops; i++) {
        if (text_glob(pattern, question->ops[i]->instance)) {
            writing->current[i] = writing->places[i];
        }
    }
    put(writing, "instance=", pattern, writing->places[index]);
}

static void put_rest(struct rule_writing *writing)
{
    const tapml_policy_ops *question = writing->question;
    for (uint32_t i = 0; i < question->n_ops; i++) {
        if (writing->current[i] != writing->places[i]) {
            put_layer(writing, i);
        }
    }
    for (uint32_t i = 0; i < question->n_ops; i++) {
        if (writing->current[i] != writing->places[i]) {
            put(writing, "instance=", question->ops[i]->instance, writing->places[i]);
        }
    }
}

// Rules with those of kinds, or without.
static size_t write(struct rule_writing *writing, int has_kinds, struct text *text)
{
    writing->rules = 0;
    writing->text = text;
    put_most(writing);
    if (has_kinds) {
        put_kinds(writing);
    }
    put_rest(writing);
    return writing->rules;
}

tapml_status
plan_rules_write(const tapml_policy_ops *question, const uint8_t *places, struct text *out_text)
{
    struct rule_writing writing = {.question = question,
                                   .places = places,
                                   .current = alloc_array((size_t)question->n_ops + 1, 1)};
    struct text tried;
    if (!writing.current) {
        return status_no_memory();
    }
    text_init(&tried);
    const size_t with = write(&writing, 1, &tried);
    text_clear(&tried);
    const size_t without = write(&writing, 0, &tried);
    const tapml_status status = text_status(&tried);
    text_release(&tried);
    if (status == TAPML_OK) {
        (void)write(&writing, with <= without, out_text);
    }
    alloc_free(writing.current);
    return status == TAPML_OK ? text_status(out_text) : status;
}
