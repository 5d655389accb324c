// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/options.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Of help: the lines, and the column in which the second of two columns begins.
enum { HELP_COLUMNS = 100, HELP_INDENT = 27 };

static const char *const short_forms[][2] = {{"-h", "--help"}, {"-V", "--version"}};

static tapml_status unknown(const struct options_spec *specs, const char *word)
{
    const char *names[OPTIONS_MAX + 1] = {NULL};

    for (size_t i = 0; specs[i].name != NULL && i < OPTIONS_MAX; i++) {
        names[i] = specs[i].name;
    }
    const char *nearest = text_nearest(word, names);

    return nearest != NULL ? status_fail(TAPML_INVALID, "unknown option '%s', did you mean '%s'?",
                                         word, nearest)
                           : status_fail(TAPML_INVALID, "unknown option '%s', see --help", word);
}

// The option that `word` begins with, whole or up to its '='.
static const struct options_spec *
find_spec(const struct options_spec *specs, const char *word, size_t length)
{
    for (; specs->name != NULL; specs++) {
        if (strlen(specs->name) == length && strncmp(specs->name, word, length) == 0) {
            return specs;
        }
    }
    return NULL;
}

// The long form of "-h", where there is such an option; else the word itself.
static const char *long_form(const struct options_spec *specs, const char *word)
{
    for (size_t i = 0; i < sizeof(short_forms) / sizeof(*short_forms); i++) {
        const char *name = short_forms[i][1];

        if (strcmp(word, short_forms[i][0]) == 0 && find_spec(specs, name, strlen(name)) != NULL) {
            return name;
        }
    }
    return word;
}

int options_has(const struct options_spec *specs, const char *word)
{
    const char *name = long_form(specs, word);

    return find_spec(specs, name, strcspn(name, "=")) != NULL;
}

static tapml_status take_option(struct options *options, int argc, char **argv, int *at)
{
    const char *word = long_form(options->specs, argv[*at]);
    const char *equals = strchr(word, '=');
    const struct options_spec *spec = find_spec(options->specs, word, strcspn(word, "="));
    const char *value = equals != NULL ? equals + 1 : "";

    if (spec == NULL) {
        return unknown(options->specs, word);
    }
    if (spec->value == NULL && equals != NULL) {
        return status_fail(TAPML_INVALID, "option '%s' takes no value", spec->name);
    }
    if (spec->value != NULL && equals == NULL) {
        if (*at + 1 >= argc) {
            return status_fail(TAPML_INVALID, "option '%s' needs a value: %s", spec->name,
                               spec->value);
        }
        value = argv[++*at];
    }
    if (options->given_count == OPTIONS_MAX) {
        return status_fail(TAPML_INVALID, "more than %d options", OPTIONS_MAX);
    }
    options->given[options->given_count].spec = spec;
    options->given[options->given_count++].value = value;
    return TAPML_OK;
}

tapml_status
options_parse(const struct options_spec *specs, int argc, char **argv, struct options *out_options)
{
    struct options options = {.specs = specs};
    int only_plain = 0;

    for (int at = 0; at < argc; at++) {
        if (!only_plain && strcmp(argv[at], "--") == 0) {
            only_plain = 1;
        } else if (!only_plain && strncmp(long_form(specs, argv[at]), "--", 2) == 0) {
            TAPML_TRY(take_option(&options, argc, argv, &at));
        } else if (options.plain_count == OPTIONS_MAX) {
            return status_fail(TAPML_INVALID, "more than %d arguments", OPTIONS_MAX);
        } else {
            options.plain[options.plain_count++] = argv[at];
        }
    }
    *out_options = options;
    return TAPML_OK;
}

tapml_status options_no_plain(const struct options *options)
{
    return options->plain_count == 0
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "expected no argument, found '%s'", options->plain[0]);
}

const char *options_get(const struct options *options, const char *name)
{
    const char *value = NULL;

    for (size_t i = 0; i < options->given_count; i++) {
        value = strcmp(options->given[i].spec->name, name) == 0 ? options->given[i].value : value;
    }
    return value;
}

const char *options_at(const struct options *options, const char *name, size_t index)
{
    for (size_t i = 0; i < options->given_count; i++) {
        if (strcmp(options->given[i].spec->name, name) == 0 && index-- == 0) {
            return options->given[i].value;
        }
    }
    return NULL;
}

tapml_status options_i64(const struct options *options,
                         const char *name,
                         int64_t fallback,
                         int64_t low,
                         int64_t high,
                         int64_t *out_value)
{
    const char *word = options_get(options, name);
    int64_t value = fallback;

    if (word != NULL && text_parse_i64(word, &value) != TAPML_OK) {
        return status_fail(TAPML_INVALID, "option '%s': '%s' is no whole number", name, word);
    }
    if (word != NULL && (value < low || value > high)) {
        return status_fail(TAPML_INVALID,
                           "option '%s' is %" PRId64 ", expected %" PRId64 " to %" PRId64, name,
                           value, low, high);
    }
    *out_value = value;
    return TAPML_OK;
}

tapml_status options_bytes(const struct options *options, const char *name, uint64_t *io_bytes)
{
    static const char letters[] = "KMGT";
    const char *word = options_get(options, name);
    char number[32];
    double value = 0;

    if (word == NULL) {
        return TAPML_OK;
    }
    const size_t length = strlen(word);
    const char *letter = length > 1 ? strchr(letters, word[length - 1]) : NULL;

    (void)snprintf(number, sizeof(number), "%.*s", (int)(letter != NULL ? length - 1 : length),
                   word);
    if (length >= sizeof(number) || text_parse_f64(number, &value) != TAPML_OK || !(value > 0)) {
        return status_fail(TAPML_INVALID, "%s is '%s', expected a size such as 8G or 512M", name,
                           word);
    }
    value = ldexp(value, letter != NULL ? 10 * (int)(letter - letters + 1) : 0);
    if (!(value >= 1 && value < 0x1p63)) {
        return status_fail(TAPML_INVALID, "%s is '%s', expected 1 to 2^63 bytes", name, word);
    }
    *io_bytes = (uint64_t)value;
    return TAPML_OK;
}

tapml_status
options_word(const struct options *options, const char *name, const char *words, int *io_place)
{
    const char *given = options_get(options, name);
    int place = 0;

    if (given == NULL) {
        return TAPML_OK;
    }
    for (const char *word = words; *word != '\0'; place++) {
        const size_t length = strcspn(word, " ");

        if (strlen(given) == length && strncmp(given, word, length) == 0) {
            *io_place = place;
            return TAPML_OK;
        }
        word += length + strspn(word + length, " ");
    }
    return status_fail(TAPML_INVALID, "%s is '%s', expected one of: %s", name, given, words);
}

const char *options_short(const char *name)
{
    for (size_t i = 0; i < sizeof(short_forms) / sizeof(*short_forms); i++) {
        if (strcmp(name, short_forms[i][1]) == 0) {
            return short_forms[i][0];
        }
    }
    return NULL;
}

void options_append_row(struct text *text, const char *name, const char *help)
{
    const int width = HELP_INDENT - 3;                 // Blanks before and behind it aside.
    const int is_long = strlen(name) >= (size_t)width; // One blank would be no column.

    text_format(text, "  %-*s%s%*s", width, name, is_long ? "\n" : "", is_long ? HELP_INDENT : 1,
                "");
    text_wrap(text, help, HELP_INDENT, HELP_COLUMNS);
}

static void append_option(struct text *text, const struct options_spec *spec)
{
    const char *short_form = options_short(spec->name);
    struct text name;

    text_init(&name);
    text_format(&name, "%s%s%s%s%s", short_form != NULL ? short_form : "",
                short_form != NULL ? ", " : "", spec->name, spec->value != NULL ? " " : "",
                spec->value != NULL ? spec->value : "");
    text->failed |= name.failed;
    options_append_row(text, name.data, spec->help);
    text_release(&name);
}

void options_append_help(struct text *text, const struct options_manual *manual)
{
    text_append(text, "usage: ");
    text_wrap(text, manual->usage, strlen("usage: "), HELP_COLUMNS);
    text_append(text, "\n");
    text_wrap(text, manual->about, 0, HELP_COLUMNS);
    text_append(text, "\n");
    for (const struct options_spec *spec = manual->specs; spec->name != NULL; spec++) {
        append_option(text, spec);
    }
}

tapml_status options_help(const struct options_manual *manual)
{
    struct text text;

    text_init(&text);
    options_append_help(&text, manual);
    return text_print(&text);
}
