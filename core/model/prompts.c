// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/prompts.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/table.h"
#include "base/text.h"
#include "base/utf8.h"
#include "model/chat.h"
#include "tokenizer/ids.h"

#include <string.h>

enum {
    FILE_SIZE_MAX = 64 << 20,
    PROMPT_COUNT_MAX = 1 << 20,
    TOKEN_BYTES_MAX = 4096, // No vocabulary has a longer one.
};

static const char ids_mark[] = "ids:";
static const char chat_mark[] = "chat:";
static const char inputs_mark[] = "inputs:";
static const char blanks[] = " \t\r\v\f";

struct parser {
    const char *path;
    const struct prompts_options *options;
    struct chat *chat; // NULL until a line needs it.
    struct prompts *prompts;
    size_t capacity;
    unsigned line;
};

// The ids of "5 17 3". `list` is taken apart.
static tapml_status read_ids(const struct parser *parser, char *list, struct ids *out_ids)
{
    char *at = list + strspn(list, blanks);
    while (*at) {
        char *end = at + strcspn(at, blanks);
        const int is_last = *end == '\0';
        int64_t id = 0;
        *end = '\0';
        tapml_status status = text_parse_i64(at, &id);
        if (status != TAPML_OK) {
            return status_explain(status, "%s:%u", parser->path, parser->line);
        }
        if (id < 0 || id > INT32_MAX) {
            return status_fail(TAPML_INVALID, "%s:%u: expected an id of 31 bits, found '%s'",
                               parser->path, parser->line, at);
        }
        TAPML_TRY(ids_add(out_ids, (int32_t)id));
        at = is_last ? end : end + 1 + strspn(end + 1, blanks);
    }
    return TAPML_OK;
}

// Refuses what needs a tokenizer if there is none, and a text that is too long to be encoded.
static tapml_status check_text(const struct parser *parser, size_t bytes)
{
    const struct prompts_options *options = parser->options;
    if (!options->tokenizer) {
        return status_fail(
            TAPML_INVALID,
            "%s:%u: expected 'ids: ...' where there is no tokenizer, found a text%s%s",
            parser->path, parser->line, options->no_text ? "; " : "",
            options->no_text ? options->no_text : "");
    }
    // A file without ends of lines would take gigabytes before its tokens could be counted.
    if (options->length_max > 0 && bytes / TOKEN_BYTES_MAX > options->length_max) {
        return status_fail(TAPML_INVALID,
                           "%s:%u: expected a prompt of at most %zu tokens, found %zu bytes",
                           parser->path, parser->line, options->length_max, bytes);
    }
    return TAPML_OK;
}

// Names the line of a failure.
static tapml_status explain(const struct parser *parser, tapml_status status)
{
    return status == TAPML_OK ? TAPML_OK
                              : status_explain(status, "%s:%u", parser->path, parser->line);
}

static tapml_status
read_text(const struct parser *parser, const char *line, size_t bytes, struct ids *out_ids)
{
    TAPML_TRY(check_text(parser, bytes));
    return explain(parser, tokenizer_encode(parser->options->tokenizer, line, bytes, 1,
                                            &out_ids->items, &out_ids->count));
}

// The template writes the special tokens, so that the tokenizer adds none.
static tapml_status read_chat(struct parser *parser, const char *messages, struct ids *out_ids)
{
    const struct prompts_options *options = parser->options;
    char *text = NULL;
    size_t length = 0;
    TAPML_TRY(check_text(parser, strlen(messages)));
    if (!parser->chat) {
        TAPML_TRY(explain(parser, options->folder
                                      ? chat_open(options->folder, &parser->chat)
                                      : status_fail(TAPML_INVALID, "there is no chat template")));
    }
    TAPML_TRY(explain(parser, chat_render(parser->chat, messages, NULL, &text, &length)));
    tapml_status status = check_text(parser, length);
    if (status == TAPML_OK) {
        status = explain(parser, tokenizer_encode(options->tokenizer, text, length, 0,
                                                  &out_ids->items, &out_ids->count));
    }
    alloc_free(text);
    return status;
}

static tapml_status check_ids(const struct parser *parser, const struct ids *ids)
{
    if (ids->count == 0) {
        return status_fail(TAPML_INVALID, "%s:%u: expected at least one id", parser->path,
                           parser->line);
    }
    if (parser->options->length_max > 0 && ids->count > parser->options->length_max) {
        return status_fail(TAPML_INVALID,
                           "%s:%u: expected a prompt of at most %zu tokens, found %zu",
                           parser->path, parser->line, parser->options->length_max, ids->count);
    }
    for (size_t i = 0; i < ids->count && parser->options->vocabulary > 0; ++i) {
        if (ids->items[i] >= parser->options->vocabulary) {
            return status_fail(TAPML_INVALID, "%s:%u: expected ids within 0 .. %lld, found %d",
                               parser->path, parser->line,
                               (long long)parser->options->vocabulary - 1, ids->items[i]);
        }
    }
    return TAPML_OK;
}

// The hash of what is fed. A file of inputs counts by its content.
static tapml_status
identify(const struct parser *parser, const struct ids *ids, const char *inputs, struct hash *out)
{
    struct hash parts[2] = {hash_bytes(ids->items, ids->count * sizeof(*ids->items))};
    struct file_map map;
    if (!inputs) {
        *out = parts[0];
        return TAPML_OK;
    }
    TAPML_TRY(explain(parser, file_map(inputs, &map)));
    parts[1] = hash_bytes(map.data, map.size);
    file_unmap(&map);
    *out = hash_bytes(parts, sizeof(parts));
    return TAPML_OK;
}

static tapml_status
add_prompt(struct parser *parser, const char *text, const struct ids *ids, const char *inputs)
{
    struct prompts *prompts = parser->prompts;
    TAPML_TRY(check_ids(parser, ids));
    if (prompts->count == PROMPT_COUNT_MAX) {
        return status_fail(TAPML_INVALID, "%s:%u: expected at most %d prompts, found another",
                           parser->path, parser->line, PROMPT_COUNT_MAX);
    }
    if (!alloc_grow((void **)&prompts->items, &parser->capacity, prompts->count,
                    sizeof(*prompts->items))) {
        return status_no_memory();
    }
    struct prompt prompt = {
        .text = text,
        .ids = arena_array(prompts->arena, ids->count, sizeof(*prompt.ids)),
        .count = ids->count,
        .line = parser->line,
        .inputs = inputs,
    };
    if (!prompt.ids) {
        return status_no_memory();
    }
    memcpy(prompt.ids, ids->items, ids->count * sizeof(*ids->items));
    TAPML_TRY(identify(parser, ids, inputs, &prompt.id));
    prompts->items[prompts->count++] = prompt;
    return TAPML_OK;
}

// Takes "inputs: FILE" from the begin of a line.
static tapml_status take_inputs(const struct parser *parser, char **line, const char **out_path)
{
    if (strncmp(*line, inputs_mark, strlen(inputs_mark)) != 0) {
        return TAPML_OK;
    }
    char *name = *line + strlen(inputs_mark);
    name += strspn(name, blanks);
    char *end = name + strcspn(name, blanks);
    *line = end + strspn(end, blanks);
    if (*line > end) {
        *end = '\0';
    }
    if (*name == '\0') {
        return status_fail(TAPML_INVALID, "%s:%u: expected a file behind 'inputs:', found nothing",
                           parser->path, parser->line);
    }
    char *folder = file_folder(parser->path);
    char *path = folder ? file_join(folder, name) : NULL;
    *out_path = path ? arena_text(parser->prompts->arena, path) : NULL;
    alloc_free(path);
    alloc_free(folder);
    return *out_path ? TAPML_OK : status_no_memory();
}

static tapml_status parse_line(struct parser *parser, char *line)
{
    if (line[strspn(line, blanks)] == '\0') {
        return TAPML_OK;
    }
    const char *text = arena_text(parser->prompts->arena, line);
    if (!text) {
        return status_no_memory();
    }
    const char *inputs = NULL;
    struct ids ids;
    TAPML_TRY(take_inputs(parser, &line, &inputs));
    ids_init(&ids);
    tapml_status status = TAPML_OK;
    if (inputs && *line == '\0') {
        status = ids_add(&ids, 0);
    } else if (strncmp(line, ids_mark, strlen(ids_mark)) == 0) {
        status = read_ids(parser, line + strlen(ids_mark), &ids);
    } else if (strncmp(line, chat_mark, strlen(chat_mark)) == 0) {
        const char *messages = line + strlen(chat_mark);
        status = read_chat(parser, messages + strspn(messages, blanks), &ids);
    } else {
        status = read_text(parser, line, strlen(line), &ids);
    }
    if (status == TAPML_OK) {
        status = add_prompt(parser, text, &ids, inputs);
    }
    ids_release(&ids);
    return status;
}

// `data` is ended by a zero byte, and is taken apart.
static tapml_status parse(struct parser *parser, char *data, size_t size)
{
    if (!utf8_is_valid(data, size) || memchr(data, '\0', size)) {
        return status_fail(TAPML_INVALID, "%s: expected a text of UTF-8 without zero bytes",
                           parser->path);
    }
    for (char *line = data; line < data + size;) {
        char *end = line + strcspn(line, "\n");
        char *next = end + 1;
        *end = '\0';
        if (end > line && end[-1] == '\r') {
            end[-1] = '\0';
        }
        ++parser->line;
        TAPML_TRY(parse_line(parser, line));
        line = next;
    }
    if (parser->prompts->count == 0) {
        return status_fail(TAPML_INVALID, "%s: expected a prompt, found none", parser->path);
    }
    return TAPML_OK;
}

static tapml_status mark_repeated(struct prompts *prompts)
{
    struct table seen;
    tapml_status status = TAPML_OK;
    table_init(&seen);
    for (size_t i = 0; status == TAPML_OK && i < prompts->count; i++) {
        struct prompt *prompt = &prompts->items[i];
        char key[HASH_TEXT];
        size_t first = 0;
        hash_text(prompt->id, key);
        prompt->is_repeated = table_find(&seen, key, &first);
        status = prompt->is_repeated ? TAPML_OK : table_set(&seen, key, i);
    }
    table_release(&seen);
    return status;
}

tapml_status prompts_parse(const char *name,
                           char *text,
                           size_t size,
                           const struct prompts_options *options,
                           struct prompts *out_prompts)
{
    struct prompts prompts = {.arena = arena_create()};
    struct parser parser = {
        .path = name,
        .options = options,
        .prompts = &prompts,
    };
    tapml_status status = prompts.arena ? parse(&parser, text, size) : status_no_memory();
    chat_close(parser.chat);
    status = status == TAPML_OK ? mark_repeated(&prompts) : status;
    if (status != TAPML_OK) {
        prompts_release(&prompts);
        return status;
    }
    *out_prompts = prompts;
    return TAPML_OK;
}

tapml_status
prompts_load(const char *path, const struct prompts_options *options, struct prompts *out_prompts)
{
    char *data = NULL;
    size_t size = 0;
    TAPML_TRY(file_read(path, FILE_SIZE_MAX, &data, &size));
    const tapml_status status = prompts_parse(path, data, size, options, out_prompts);
    alloc_free(data);
    return status;
}

void prompts_release(struct prompts *prompts)
{
    if (prompts) {
        alloc_free(prompts->items);
        arena_destroy(prompts->arena);
        *prompts = (struct prompts){0};
    }
}
