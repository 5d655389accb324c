// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/json_file.h"

#include "base/alloc.h"
#include "base/file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// A value of two bytes takes fifty in memory, an empty object three hundred.
enum { FILE_SIZE_MAX = 256 << 20, COMMAS_MAX = 1 << 23, DIGITS_MAX = 19 };

struct scan {
    const char *at;
    const char *end;
    const char *copied; // Up to here the text is in `out`.
    size_t commas;      // Outside of strings.
    struct text *out;
};

// Passes over a string with its quotes, so that nothing inside it is taken for a number.
static void skip_string(struct scan *scan)
{
    ++scan->at;
    while (scan->at < scan->end && *scan->at != '"') {
        scan->at += *scan->at == '\\' && scan->end - scan->at > 1 ? 2 : 1;
    }
    scan->at += scan->at < scan->end ? 1 : 0;
}

static int is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '+' || c == '.' || c == '_';
}

// Whether a word is an integer that does not fit into 64 bits.
static int is_large_integer(const char *word, size_t length)
{
    char digits[DIGITS_MAX + 3] = ""; // A sign and one digit too many.
    const size_t sign = length > 0 && word[0] == '-' ? 1 : 0;
    if (length < DIGITS_MAX) {
        return 0;
    }
    for (size_t i = sign; i < length; ++i) {
        if (word[i] < '0' || word[i] > '9') {
            return 0;
        }
    }
    memcpy(digits, word, length < sizeof(digits) ? length : sizeof(digits) - 1);
    errno = 0;
    (void)strtoll(digits, NULL, 10); // Only whether it fits.
    return errno == ERANGE;
}

// Copies what was passed over, up to `end`.
static void copy_up_to(struct scan *scan, const char *end)
{
    text_append_bytes(scan->out, scan->copied, (size_t)(end - scan->copied));
    scan->copied = end;
}

// Python writes Infinity and NaN bare, and integers of any length; JSON and jansson know neither.
static void rewrite_word(struct scan *scan)
{
    static const char *const floats[] = {"Infinity", "-Infinity", "NaN"};
    const char *begin = scan->at;
    while (scan->at < scan->end && is_word(*scan->at)) {
        ++scan->at;
    }
    const size_t length = (size_t)(scan->at - begin);
    for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); ++i) {
        if (strlen(floats[i]) == length && memcmp(floats[i], begin, length) == 0) {
            copy_up_to(scan, begin);
            text_format(scan->out, "{\"__float__\": \"%s\"}", floats[i]);
            scan->copied = scan->at;
            return;
        }
    }
    if (is_large_integer(begin, length)) {
        copy_up_to(scan, scan->at);
        text_append(scan->out, ".0");
    }
}

// Leaves `out` empty where nothing has to be changed: large files are not copied.
static tapml_status rewrite(const char *name, const char *text, size_t size, struct text *out)
{
    struct scan scan = {.at = text, .end = text + size, .copied = text, .out = out};
    while (scan.at < scan.end) {
        if (*scan.at == '"') {
            skip_string(&scan);
        } else if (is_word(*scan.at)) {
            rewrite_word(&scan);
        } else {
            scan.commas += *scan.at == ',';
            ++scan.at;
        }
    }
    if (scan.commas > COMMAS_MAX) {
        return status_fail(TAPML_INVALID, "%s: expected at most %d values, found %zu commas", name,
                           COMMAS_MAX, scan.commas);
    }
    if (out->length > 0) {
        copy_up_to(&scan, scan.end);
    }
    return text_status(out);
}

static tapml_status
parse(const char *name, const char *text, size_t size, size_t flags, json_t **out_root)
{
    json_error_t error;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES | flags, &error);
    if (!root && json_error_code(&error) == json_error_out_of_memory) {
        return status_no_memory();
    }
    if (!root) {
        return status_fail(TAPML_INVALID, "%s:%d: %s", name, error.line, error.text);
    }
    *out_root = root;
    return TAPML_OK;
}

tapml_status json_file_load(const char *path, json_t **out_root)
{
    char *text = NULL;
    size_t size = 0;
    TAPML_TRY(file_read(path, FILE_SIZE_MAX, &text, &size));
    const tapml_status status = json_file_parse(path, text, size, out_root);
    alloc_free(text);
    return status;
}

tapml_status json_file_find(const char *folder, const char *name, json_t **out_root)
{
    char *path = file_join(folder, name);
    if (!path) {
        return status_no_memory();
    }
    json_t *root = NULL;
    const tapml_status status = file_exists(path) ? json_file_load(path, &root) : TAPML_OK;
    alloc_free(path);
    if (status == TAPML_OK) {
        *out_root = root;
    }
    return status;
}

static tapml_status
rewrite_and_parse(const char *name, const char *text, size_t size, size_t flags, json_t **out_root)
{
    struct text rewritten;
    text_init(&rewritten);
    tapml_status status = rewrite(name, text, size, &rewritten);
    if (status == TAPML_OK) {
        const int is_changed = rewritten.length > 0;
        status = parse(name, is_changed ? rewritten.data : text,
                       is_changed ? rewritten.length : size, flags, out_root);
    }
    text_release(&rewritten);
    return status;
}

tapml_status json_file_parse(const char *name, const char *text, size_t size, json_t **out_root)
{
    return rewrite_and_parse(name, text, size, 0, out_root);
}

tapml_status
json_file_parse_bytes(const char *name, const char *text, size_t size, json_t **out_root)
{
    return rewrite_and_parse(name, text, size, JSON_ALLOW_NUL, out_root);
}

int json_file_number(const json_t *value, double *out_number)
{
    if (json_is_number(value)) {
        *out_number = json_number_value(value);
        return 1;
    }
    const char *name = json_string_value(json_object_get(value, "__float__"));
    if (!name || json_object_size(value) != 1) {
        return 0;
    }
    if (strcmp(name, "Infinity") == 0) {
        *out_number = INFINITY;
    } else if (strcmp(name, "-Infinity") == 0) {
        *out_number = -INFINITY;
    } else if (strcmp(name, "NaN") == 0) {
        *out_number = NAN;
    } else {
        return 0;
    }
    return 1;
}

static int append_bytes(const char *bytes, size_t size, void *text)
{
    text_append_bytes(text, bytes, size);
    return 0;
}

void json_file_print(struct text *text, const json_t *value, size_t flags)
{
    text->failed |= json_dump_callback(value, append_bytes, text, flags | JSON_ENCODE_ANY) != 0;
}

void json_file_append(struct text *text, const json_t *value)
{
    char written[96] = "";
    const size_t room = sizeof(written) - 1;
    const size_t size = json_dumpb(value, written, room, JSON_ENCODE_ANY | JSON_COMPACT);
    text_format(text, "'%s%s'", written, size > room ? "..." : "");
}
