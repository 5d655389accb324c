// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/output.h"
#include "base/text.h"
#include "config/model_path.h"
#include "config/options.h"
#include "tokenizer/tokenizer.h"

#include <jansson.h>
#include <stdio.h>

static const struct options_spec specs[] = {
    {"--plain", NULL, "leaves out what begins and ends a text, such as <s>"},
    {"--help", NULL, "prints this"},
    {NULL, NULL, NULL},
};

const struct options_manual command_tokenize_manual = {
    .usage = "tapml-host tokenize DIR [--plain]",
    .about = "Reads a JSON string from each line of the input and prints its ids, and the "
             "text that they are decoded to.",
    .specs = specs,
};

// Without what the tokenizer puts around a text, the ids are those of the text alone.
static tapml_status decode_text(const struct tokenizer *tokenizer,
                                const json_t *line,
                                char **out_text,
                                size_t *out_length)
{
    int32_t *ids = NULL;
    size_t count = 0;

    TAPML_TRY(tokenizer_encode(tokenizer, json_string_value(line), json_string_length(line), 0,
                               &ids, &count));
    const tapml_status status = tokenizer_decode(tokenizer, ids, count, 0, out_text, out_length);

    alloc_free(ids);
    return status;
}

static int append_dumped(const char *bytes, size_t count, void *user)
{
    text_append_bytes(user, bytes, count);
    return 0;
}

static tapml_status print_row(const int32_t *ids, size_t count, const char *text, size_t length)
{
    json_t *decoded = json_stringn(text, length);
    struct text row;

    text_init(&row);
    text_append(&row, "{\"ids\": [");
    for (size_t i = 0; i < count; i++) {
        text_format(&row, "%s%d", i > 0 ? ", " : "", ids[i]);
    }
    text_append(&row, "], \"text\": ");
    // The text may have zero bytes; and ends of lines as Unicode has them, which are escaped.
    row.failed |= decoded == NULL || json_dump_callback(decoded, append_dumped, &row,
                                                        JSON_ENCODE_ANY | JSON_ENSURE_ASCII) != 0;
    text_append(&row, "}\n");
    json_decref(decoded);
    return text_print(&row);
}

static tapml_status
tokenize_text(const struct tokenizer *tokenizer, const json_t *line, int is_plain)
{
    int32_t *ids = NULL;
    char *text = NULL;
    size_t count = 0;
    size_t length = 0;

    TAPML_TRY(tokenizer_encode(tokenizer, json_string_value(line), json_string_length(line),
                               !is_plain, &ids, &count));
    tapml_status status = decode_text(tokenizer, line, &text, &length);

    if (status == TAPML_OK) {
        status = print_row(ids, count, text, length);
    }
    alloc_free(text);
    alloc_free(ids);
    return status;
}

static tapml_status tokenize_line(const struct tokenizer *tokenizer,
                                  const struct text *line,
                                  size_t number,
                                  int is_plain)
{
    json_t *text = json_loadb(line->data, line->length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

    if (!json_is_string(text)) {
        json_decref(text);
        return status_fail(TAPML_INVALID, "line %zu: expected a JSON string", number);
    }
    const tapml_status status = tokenize_text(tokenizer, text, is_plain);

    json_decref(text);
    return status == TAPML_OK ? TAPML_OK : status_explain(status, "line %zu", number);
}

// Reads a line without its end. Returns 0 at the end of the input.
static int read_line(struct text *line)
{
    int byte = getc(stdin);
    const int is_there = byte != EOF;

    text_clear(line);
    for (; byte != EOF && byte != '\n'; byte = getc(stdin)) {
        const char one = (char)byte;

        text_append_bytes(line, &one, 1);
    }
    return is_there;
}

static tapml_status tokenize_all(const struct tokenizer *tokenizer, int is_plain)
{
    struct text line;
    tapml_status status = TAPML_OK;
    size_t number = 0;

    text_init(&line);
    while (status == TAPML_OK && read_line(&line)) {
        status = text_status(&line);
        if (status == TAPML_OK) {
            status = tokenize_line(tokenizer, &line, ++number, is_plain);
        }
    }
    text_release(&line);
    TAPML_TRY(status);
    if (ferror(stdin)) {
        return status_fail(TAPML_UNAVAILABLE, "cannot read the standard input");
    }
    return output_check();
}

static tapml_status tokenize(const char *program, const struct options *options)
{
    struct tokenizer *tokenizer = NULL;
    char *folder = NULL;

    if (options->plain_count != 1) {
        return status_fail(TAPML_INVALID, "expected one folder with a tokenizer, found %zu",
                           (size_t)options->plain_count);
    }
    TAPML_TRY(model_path_find(program, options->plain[0], &folder));
    tapml_status status = tokenizer_open(folder, &tokenizer);

    alloc_free(folder);
    TAPML_TRY(status);
    status = tokenize_all(tokenizer, options_get(options, "--plain") != NULL);

    tokenizer_close(tokenizer);
    return status;
}

enum outcome command_tokenize_main(const struct command *command)
{
    struct options options;
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_tokenize_manual));
    }
    if (status == TAPML_OK) {
        status = tokenize(command->program, &options);
    }
    return outcome_report(status);
}
