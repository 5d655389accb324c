// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "schema/split.h"

#include "base/arena.h"
#include "base/text.h"

#include <string.h>

int split_leaves_out(const tapml_op *op, const struct split_rule *rule, uint32_t param, int is_cut)
{
    return rule->is_sum && !is_cut && (op->params[param]->effects & TAPML_E_OPTIONAL) != 0;
}

// An op whose rules are read.
struct split_reader {
    const tapml_op *op;
    const struct expression_names *names;
    const struct expression *const *shapes;
};

// -- Reading -----------------------------------------------------------------------------------

static tapml_status wrong(const char *text, size_t length, const char *why)
{
    return status_fail(TAPML_INVALID, "split '%.*s' %s", (int)length, text, why);
}

// The symbol of a word, which has to be an axis of some shape.
static uint32_t find_symbol(const struct split_reader *reader, const char *word, size_t length)
{
    char name[EXPRESSION_NAME_BYTES] = "";
    if (length < sizeof(name)) {
        memcpy(name, word, length);
    }
    const uint32_t symbol = expression_find(reader->names, name);
    for (uint32_t p = 0; symbol != EXPRESSION_NONE && p < reader->op->n_params; p++) {
        if (reader->shapes[p] && expression_has(reader->shapes[p], symbol)) {
            return symbol;
        }
    }
    return EXPRESSION_NONE;
}

// Each output has one axis that the rule cuts, or none has.
static int fits_outputs(const struct split_reader *reader, const struct split_rule *rule)
{
    for (uint32_t p = 0; p < reader->op->n_params; p++) {
        const tapml_param *param = reader->op->params[p];
        const int is_output =
            param->kind == TAPML_P_TENSOR_OUT || (param->effects & TAPML_E_STATE_WRITE) != 0;
        uint32_t found = 0;
        for (uint32_t i = 0; is_output && i < rule->symbol_count; i++) {
            found += (uint32_t)expression_has_axis(reader->shapes[p], rule->symbols[i]);
        }
        if (is_output && found != (rule->is_sum ? 0 : 1)) {
            return 0;
        }
    }
    return 1;
}

// No tensor has two of the symbols.
static int is_one_axis_each(const struct split_reader *reader, const struct split_rule *rule)
{
    for (uint32_t p = 0; p < reader->op->n_params; p++) {
        uint32_t found = 0;
        for (uint32_t i = 0; reader->shapes[p] && i < rule->symbol_count; i++) {
            found += (uint32_t)expression_has(reader->shapes[p], rule->symbols[i]);
        }
        if (found > 1) {
            return 0;
        }
    }
    return 1;
}

static tapml_status read_symbols(const struct split_reader *reader,
                                 const char *text,
                                 size_t length,
                                 struct split_rule *rule)
{
    for (size_t at = 0; at < length;) {
        const size_t blanks = strspn(text + at, " ");
        const size_t word = strcspn(text + at + blanks, " :|");
        at += blanks;
        if (at >= length || word == 0) {
            break;
        }
        const uint32_t symbol = find_symbol(reader, text + at, word);
        if (symbol == EXPRESSION_NONE) {
            return wrong(text, length, "names what is no axis of a shape");
        }
        if (rule->symbol_count == SPLIT_SYMBOLS_MAX) {
            return wrong(text, length, "has too many symbols");
        }
        rule->symbols[rule->symbol_count++] = (uint8_t)symbol;
        at += word;
    }
    return rule->symbol_count > 0 ? TAPML_OK : wrong(text, length, "names no axis");
}

static int is_sum_word(const char *text, size_t length)
{
    const size_t blanks = strspn(text, " ");
    const size_t word = strcspn(text + blanks, " |");
    return word == 3 && strncmp(text + blanks, "sum", 3) == 0 &&
           blanks + word + strspn(text + blanks + word, " ") >= length;
}

// Reads the rule at `text`, which ends at `length`.
static tapml_status read_rule(const struct split_reader *reader,
                              const char *text,
                              size_t length,
                              struct split_rule *out_rule)
{
    const char *colon = memchr(text, ':', length);
    const size_t names = colon ? (size_t)(colon - text) : length;
    *out_rule = (struct split_rule){.is_sum = colon != NULL};
    if (colon && !is_sum_word(colon + 1, length - names - 1)) {
        return wrong(text, length, "has something else than 'sum' behind the colon");
    }
    TAPML_TRY(read_symbols(reader, text, names, out_rule));
    if (!is_one_axis_each(reader, out_rule)) {
        return wrong(text, length, "cuts two axes of a tensor");
    }
    if (!fits_outputs(reader, out_rule)) {
        return wrong(text, length,
                     out_rule->is_sum ? "cuts an axis of an output, whose parts cannot be added up"
                                      : "cuts no axis of an output");
    }
    return TAPML_OK;
}

tapml_status split_read(const tapml_op *op,
                        const struct expression_names *names,
                        const struct expression *const *shapes,
                        struct arena *arena,
                        const struct split_rule **out_rules,
                        uint32_t *out_count)
{
    const struct split_reader reader = {op, names, shapes};
    const char *text = TAPML_HAS(tapml_op, op, split) ? op->split : NULL;
    uint32_t count = 0;
    *out_rules = NULL;
    *out_count = 0;
    if (!text) {
        return TAPML_OK;
    }
    struct split_rule *rules = arena_array(arena, SPLIT_RULES_MAX, sizeof(*rules));
    if (!rules) {
        return status_no_memory();
    }
    for (int is_last = 0; !is_last;) {
        const size_t length = strcspn(text, "|");
        if (count == SPLIT_RULES_MAX) {
            return wrong(op->split, strlen(op->split), "has too many rules");
        }
        TAPML_TRY(read_rule(&reader, text, length, &rules[count++]));
        is_last = text[length] == '\0';
        text += length + !is_last;
    }
    *out_rules = rules;
    *out_count = count;
    return TAPML_OK;
}

void split_print(const struct expression_names *names,
                 const struct split_rule *rule,
                 struct text *out_text)
{
    for (uint32_t i = 0; i < rule->symbol_count; i++) {
        text_format(out_text, "%s%s", i > 0 ? " " : "", names->names[rule->symbols[i]]);
    }
    text_append(out_text, rule->is_sum ? ": sum" : "");
}
