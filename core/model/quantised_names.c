// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/quantised_names.h"

#include "base/arena.h"
#include "base/text.h"
#include "tokenizer/pattern.h"

#include <string.h>

enum { NAME_COUNT_MAX = 1 << 16, NAME_BYTES_MAX = 1024, EXPRESSION_COUNT_MAX = 256 };

struct quantised_name {
    const char *text;
    struct pattern *pattern; // NULL: `text` is a name or a glob.
};

static const char expression_mark[] = "re:";

static tapml_status read_item(struct quantised_name *item,
                              struct arena *arena,
                              const char *file,
                              const char *key,
                              const json_t *value)
{
    const size_t mark = sizeof(expression_mark) - 1;
    const char *text = json_string_value(value);
    if (!text || strlen(text) > NAME_BYTES_MAX) {
        return status_fail(TAPML_INVALID, "%s: '%s': expected names of at most %d bytes", file, key,
                           NAME_BYTES_MAX);
    }
    item->text = arena_text(arena, text);
    if (!item->text) {
        return status_no_memory();
    }
    if (strncmp(text, expression_mark, mark) == 0) {
        const tapml_status status = pattern_create_foreign(file, text + mark, &item->pattern);
        return status == TAPML_OK ? status : status_explain(status, "'%s'", key);
    }
    return TAPML_OK;
}

tapml_status quantised_names_read(struct quantised_names *names,
                                  struct arena *arena,
                                  const char *file,
                                  const char *key,
                                  const json_t *list)
{
    size_t expressions = 0;
    const size_t count = json_array_size(list);
    if (list && (!json_is_array(list) || count > NAME_COUNT_MAX)) {
        return status_fail(TAPML_INVALID, "%s: '%s': expected a list of at most %d names", file,
                           key, NAME_COUNT_MAX);
    }
    names->items = arena_array(arena, count, sizeof(*names->items));
    if (!names->items) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; ++i) {
        struct quantised_name *item = &names->items[i];
        ++names->count;
        TAPML_TRY(read_item(item, arena, file, key, json_array_get(list, i)));
        expressions += item->pattern != NULL;
        if (expressions > EXPRESSION_COUNT_MAX) {
            return status_fail(TAPML_INVALID, "%s: '%s': expected at most %d expressions", file,
                               key, EXPRESSION_COUNT_MAX);
        }
    }
    return TAPML_OK;
}

void quantised_names_release(struct quantised_names *names)
{
    for (size_t i = 0; i < names->count; ++i) {
        pattern_destroy(names->items[i].pattern);
    }
    names->count = 0;
}

// Whether an expression matches from the beginning of a name on, as Python's `re.match` does.
static tapml_status matches(const struct pattern *pattern, const char *module, int *out_matches)
{
    struct pattern_search search;
    size_t begin = PATTERN_NONE;
    size_t end = 0;
    TAPML_TRY(pattern_search_init(&search, pattern));
    pattern_search_start(&search, module, strlen(module));
    const tapml_status status = pattern_search_next(&search, &begin, &end);
    pattern_search_release(&search);
    *out_matches = begin == 0;
    return status;
}

// Whether a name or a glob is `module`, or one that it is a part of.
static int covers(const char *name, const char *module)
{
    const size_t length = strlen(name);
    if (strncmp(name, module, length) == 0 && (module[length] == '.' || !module[length])) {
        return 1;
    }
    return strchr(name, '*') != NULL && text_glob(name, module);
}

tapml_status
quantised_names_find(const struct quantised_names *names, const char *module, int *out_has)
{
    int has = 0;
    for (size_t i = 0; i < names->count && !has; ++i) {
        if (names->items[i].pattern) {
            TAPML_TRY(matches(names->items[i].pattern, module, &has));
        } else {
            has = covers(names->items[i].text, module);
        }
    }
    *out_has = has;
    return TAPML_OK;
}

int quantised_names_have_class(const struct quantised_names *names)
{
    for (size_t i = 0; i < names->count; ++i) {
        const char *text = names->items[i].text;
        if (text[0] >= 'A' && text[0] <= 'Z' && !strchr(text, '.')) {
            return 1;
        }
    }
    return 0;
}
