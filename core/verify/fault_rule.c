// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "verify/fault_rule.h"

#include "schema/catalogue.h"
#include "tensor/dtype.h"
#include "tensor/quant_format.h"
#include "verify/fault_quants.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// -- Rules -------------------------------------------------------------------------------------

static const char *const kind_names[] = {
    [FAULT_ARGUMENT] = "argument",
    [FAULT_DROP_TAIL] = "drop-tail",
    [FAULT_SWAP_HALVES] = "swap-halves",
    [FAULT_SHIFT_ROWS] = "shift-rows",
    [FAULT_ZERO_ROW] = "zero-row",
    [FAULT_SCALE] = "scale",
    [FAULT_ROUND_F16] = "round-f16",
    [FAULT_TRUNCATE] = "truncate",
    [FAULT_NEIGHBOUR_SCALE] = "neighbour-scale",
    [FAULT_REVERSE_SCALES] = "reverse-scales",
    [FAULT_NAN] = "nan",
    [FAULT_SKIP_WRITE] = "skip-write",
    [FAULT_DELAY] = "delay",
    [FAULT_CRASH] = "crash",
    [FAULT_KILL] = "kill",
    [FAULT_HANG] = "hang",
    [FAULT_MEMORY] = "memory",
    [FAULT_FILL_START] = "fill-start",
    [FAULT_FILL_TAIL] = "fill-tail",
    [FAULT_WRITE_TAIL] = "write-tail",
    [FAULT_WRITE_LATE] = "write-late",
    [FAULT_READ_TAIL] = "read-tail",
    [FAULT_STALE_ARGUMENTS] = "stale-arguments",
    [FAULT_WRITE_DELAY] = "write-delay",
    [FAULT_WRITE_DELAY + 1] = NULL,
};

enum { WORDS_MAX = 3, WORD_TEXT = FAULT_ARGUMENT_TEXT };

struct words {
    char items[WORDS_MAX][WORD_TEXT];
    size_t count;
};

static tapml_status split(const char *text, struct words *out_words)
{
    struct words words = {.count = 0};

    for (text += strspn(text, " \t"); *text != '\0'; text += strspn(text, " \t")) {
        const size_t length = strcspn(text, " \t");

        if (words.count == WORDS_MAX || length >= WORD_TEXT) {
            return status_fail(TAPML_INVALID,
                               "kind is '%s', expected at most %d words of %d letters", text,
                               WORDS_MAX, WORD_TEXT - 1);
        }
        memcpy(words.items[words.count++], text, length);
        text += length;
    }
    *out_words = words;
    return TAPML_OK;
}

static tapml_status parse_operand(const char *word, double *out_operand)
{
    return text_parse_f64(word, out_operand) == TAPML_OK && isfinite(*out_operand)
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "'%s' is no finite number", word);
}

// "+1", "-1", "+-1", "*0.5", "=3".
static tapml_status parse_change(const char *word, struct fault_rule *rule)
{
    if (strchr("+-*=", word[0]) == NULL) {
        return status_fail(TAPML_INVALID, "'%s' is no change, expected '+N', '-N', '*X' or '=V'",
                           word);
    }
    rule->change = '+';
    if (word[0] != '-') {
        rule->change = word[0];
        word++;
    }
    return parse_operand(word, &rule->operand);
}

static tapml_status refuse_kind(const char *word)
{
    struct text names;

    text_init(&names);
    for (int kind = FAULT_ARGUMENT; kind_names[kind] != NULL; kind++) {
        text_format(&names, "%s%s", kind > 0 ? ", " : "", kind_names[kind]);
    }
    tapml_status status = text_status(&names);

    if (status == TAPML_OK) {
        status =
            status_fail(TAPML_INVALID, "unknown kind '%s', expected one of %s", word, names.data);
    }
    text_release(&names);
    return status;
}

static tapml_status find_kind(const char *word, enum fault_kind *out_kind)
{
    for (int kind = FAULT_ARGUMENT; kind <= FAULT_WRITE_DELAY; kind++) {
        if (strcmp(kind_names[kind], word) == 0) {
            *out_kind = (enum fault_kind)kind;
            return TAPML_OK;
        }
    }
    const char *near = text_nearest(word, kind_names);

    return near != NULL
               ? status_fail(TAPML_INVALID, "unknown kind '%s', did you mean '%s'?", word, near)
               : refuse_kind(word);
}

static tapml_status check_delay(const struct fault_rule *rule)
{
    enum { DELAY_MAX_MS = 60000 };

    return rule->operand >= 0 && rule->operand <= DELAY_MAX_MS
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "kind is '%s', expected from 0 to %d milliseconds",
                             rule->words, DELAY_MAX_MS);
}

tapml_status fault_rule_parse(struct fault_rule *rule)
{
    struct words words = {0};

    TAPML_TRY(split(rule->words, &words));
    TAPML_TRY(find_kind(words.items[0], &rule->kind));
    if (rule->kind == FAULT_ARGUMENT && words.count == 3) {
        memcpy(rule->argument, words.items[1], sizeof(rule->argument));
        return parse_change(words.items[2], rule);
    }
    if (rule->kind == FAULT_ARGUMENT) {
        return status_fail(TAPML_INVALID, "kind is '%s', expected 'argument NAME +N', '*X' or '=V'",
                           rule->words);
    }
    const int is_delay = rule->kind == FAULT_DELAY || rule->kind == FAULT_WRITE_DELAY;
    const int has_operand = rule->kind == FAULT_SCALE || is_delay;

    if (words.count != (has_operand ? 2 : 1)) {
        return status_fail(TAPML_INVALID, "kind is '%s', expected '%s%s'", rule->words,
                           kind_names[rule->kind], has_operand ? " X" : "");
    }
    TAPML_TRY(has_operand ? parse_operand(words.items[1], &rule->operand) : TAPML_OK);
    return is_delay ? check_delay(rule) : TAPML_OK;
}

void fault_rule_print(const struct fault_rule *rule, struct text *out_text)
{
    text_format(out_text,
                "%s: %s, op=%s instance=%s from-call=%" PRId64 " probability=%g seed=%" PRIu64,
                rule->name, rule->words, rule->op, rule->instance, rule->from_call,
                rule->probability, rule->seed);
}

void fault_rule_print_all(const struct fault_rule *rules, size_t count, struct text *out_text)
{
    for (size_t i = 0; i < count; i++) {
        text_append(out_text, i > 0 ? "; " : "");
        fault_rule_print(&rules[i], out_text);
    }
}

const char *fault_rule_keep_all(const struct fault_rule *rules, size_t count, struct arena *arena)
{
    struct text text;
    text_init(&text);
    fault_rule_print_all(rules, count, &text);
    return text_keep(&text, arena);
}

int fault_rule_needs_worker(const struct fault_rule *rule)
{
    return rule->kind >= FAULT_CRASH && rule->kind <= FAULT_MEMORY;
}

int fault_rule_is_driver(const struct fault_rule *rule)
{
    return rule->kind >= FAULT_FILL_START;
}

// -- What a rule can be done to ----------------------------------------------------------------

int fault_rule_matches(const struct fault_rule *rule, const tapml_op *op, const char *instance)
{
    return (text_glob(rule->op, op->name) || text_glob(rule->op, catalogue_short_name(op))) &&
           (strcmp(instance, FAULT_RULE_CANARY) == 0 ? strcmp(rule->instance, instance) == 0
                                                     : text_glob(rule->instance, instance));
}

// A whole number is not changed by a fraction.
uint32_t fault_rule_find_number(const struct fault_rule *rule, const tapml_op *op)
{
    const int is_whole = rule->change == '*' || rule->operand == nearbyint(rule->operand);
    uint32_t i = 0;

    while (i < op->n_params && (strcmp(op->params[i]->name, rule->argument) != 0 ||
                                !(op->params[i]->kind == TAPML_P_F64 ||
                                  (op->params[i]->kind == TAPML_P_I64 && is_whole)))) {
        i++;
    }
    return i;
}

int fault_rule_is_written(uint32_t kind)
{
    return kind == TAPML_P_TENSOR_OUT || kind == TAPML_P_TENSOR_INOUT;
}

// Whether the kind does something to what an op writes.
static int corrupts(const struct fault_rule *rule, const struct graph_value *written)
{
    switch (rule->kind) {
    case FAULT_ARGUMENT:
    case FAULT_FILL_START:
    case FAULT_FILL_TAIL:
    case FAULT_WRITE_TAIL:
    case FAULT_WRITE_LATE:
    case FAULT_READ_TAIL:
    case FAULT_STALE_ARGUMENTS:
    case FAULT_WRITE_DELAY:
        return 0;
    case FAULT_SWAP_HALVES:
        return written->rank > 0 && (!affine_is_constant(&written->shape[written->rank - 1]) ||
                                     written->shape[written->rank - 1].constant > 1);
    case FAULT_ROUND_F16:
        return dtype_is_float(written->dtype) && written->dtype != TAPML_F16;
    case FAULT_TRUNCATE:
        return written->dtype == TAPML_F16 || written->encoding != NULL;
    case FAULT_NEIGHBOUR_SCALE:
    case FAULT_REVERSE_SCALES:
        return written->encoding != NULL;
    case FAULT_NAN:
        return dtype_is_float(written->dtype);
    case FAULT_DROP_TAIL:
    case FAULT_SHIFT_ROWS:
    case FAULT_ZERO_ROW:
    case FAULT_SCALE:
    case FAULT_SKIP_WRITE:
    case FAULT_DELAY:
    case FAULT_CRASH:
    case FAULT_KILL:
    case FAULT_HANG:
    case FAULT_MEMORY:
        break;
    }
    return 1;
}

// Whether the kind does something to how an op quantises its input.
static int corrupts_quants(const struct fault_rule *rule, const struct graph_op *op)
{
    const int moves_scales =
        rule->kind == FAULT_NEIGHBOUR_SCALE || rule->kind == FAULT_REVERSE_SCALES;

    return quant_format_is_op(op->op) &&
           (rule->kind == FAULT_TRUNCATE ||
            (moves_scales &&
             fault_quants_has_scales(op->arguments[QUANT_FORMAT_SCALING].i.constant)));
}

static int
applies(const struct fault_rule *rule, const struct graph *graph, const struct graph_op *op)
{
    if (corrupts_quants(rule, op)) {
        return 1;
    }
    if (rule->kind == FAULT_ARGUMENT) {
        return fault_rule_find_number(rule, op->op) < op->op->n_params;
    }
    for (uint32_t i = 0; i < op->op->n_params; i++) {
        if (fault_rule_is_written(op->arguments[i].kind) &&
            corrupts(rule, &graph->values[op->arguments[i].value])) {
            return 1;
        }
    }
    return 0;
}

// Names the op kinds of the graph, or only those to which the rule can be done.
static void list_kinds(const struct fault_rule *rule, const struct graph *graph, struct text *out)
{
    for (uint32_t i = 0; i < graph->op_count; i++) {
        int is_told = rule != NULL && !applies(rule, graph, &graph->ops[i]);

        for (uint32_t k = 0; k < i && !is_told; k++) {
            is_told = graph->ops[k].op == graph->ops[i].op;
        }
        if (!is_told) {
            text_format(out, "%s%s", out->length > 0 ? ", " : "",
                        catalogue_short_name(graph->ops[i].op));
        }
    }
}

static tapml_status check_driver(const struct fault_rule *rule)
{
    return strcmp(rule->op, "*") == 0 && strcmp(rule->instance, "*") == 0
               ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "[%s] '%s' is a fault of the driver, which knows no op: expected "
                             "neither 'op' nor 'instance', found op '%s' and instance '%s'",
                             rule->name, rule->words, rule->op, rule->instance);
}

tapml_status fault_rule_check(const struct fault_rule *rule, const struct graph *graph)
{
    uint32_t matched = 0;
    struct text kinds;

    if (fault_rule_is_driver(rule)) {
        return check_driver(rule);
    }
    if (strcmp(rule->instance, FAULT_RULE_CANARY) == 0) {
        return TAPML_OK; // It is of no graph.
    }
    for (uint32_t i = 0; i < graph->op_count; i++) {
        const struct graph_op *op = &graph->ops[i];

        if (fault_rule_matches(rule, op->op, op->instance)) {
            matched++;
            if (applies(rule, graph, op)) {
                return TAPML_OK;
            }
        }
    }
    text_init(&kinds);
    list_kinds(matched > 0 ? rule : NULL, graph, &kinds);
    tapml_status status = text_status(&kinds);

    if (status == TAPML_OK && matched == 0) {
        status = status_fail(TAPML_INVALID,
                             "[%s] matches no instance: there is none with op '%s' and instance "
                             "'%s'; the graph has the ops %s",
                             rule->name, rule->op, rule->instance, kinds.data);
    } else if (status == TAPML_OK) {
        status = status_fail(TAPML_INVALID,
                             "[%s] '%s' can be done to none of the %u instances with op '%s' and "
                             "instance '%s'; of the graph's ops it can be done to: %s",
                             rule->name, rule->words, matched, rule->op, rule->instance,
                             kinds.length > 0 ? kinds.data : "none");
    }
    text_release(&kinds);
    return status;
}
