// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_markup.h"

#include "base/utf8.h"
#include "store/blame.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

// What a character becomes, or NULL where it may stand as it is.
static const char *replacement_of(uint32_t code)
{
    switch (code) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    case '\n':
        return "&#10;";
    case '\t':
        return "&#9;";
    default:
        return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xfffe || code == 0xffff ||
                       code == UTF8_MALFORMED
                   ? "\xef\xbf\xbd"
                   : NULL;
    }
}

static void add_escaped(struct text *out, const char *value)
{
    const size_t size = strlen(value);

    for (size_t at = 0; at < size;) {
        uint32_t code = 0;
        const size_t count = utf8_read(value + at, size - at, &code);
        const char *replacement = replacement_of(code);

        if (replacement != NULL) {
            text_append(out, replacement);
        } else {
            text_append_bytes(out, value + at, count);
        }
        at += count;
    }
}

void report_markup_add(struct text *out, const char *template_, const char *const *values)
{
    for (const char *hole = strstr(template_, "{}"); hole != NULL; hole = strstr(template_, "{}")) {
        text_append_bytes(out, template_, (size_t)(hole - template_));
        if (*values != NULL) {
            add_escaped(out, *values++);
        }
        template_ = hole + 2;
    }
    text_append(out, template_);
}

const char *report_markup_string(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));

    return value != NULL ? value : "";
}

int64_t report_markup_count(const json_t *object, const char *key)
{
    return (int64_t)json_integer_value(json_object_get(object, key));
}

double report_markup_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    const char *word = json_string_value(value);

    if (word != NULL) {
        return strcmp(word, "Infinity") == 0    ? INFINITY
               : strcmp(word, "-Infinity") == 0 ? -INFINITY
                                                : (double)NAN;
    }
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

const char *report_markup_thousands(int64_t value, char *out)
{
    char digits[REPORT_MARKUP_SHORT / 2];
    const int count = snprintf(digits, sizeof(digits), "%" PRId64, value);
    size_t length = 0;

    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0 && digits[i - 1] != '-') {
            out[length++] = ',';
        }
        out[length++] = digits[i];
    }
    out[length] = '\0';
    return out;
}

const char *report_markup_thousands_of(const json_t *object, const char *key, char *out)
{
    return report_markup_thousands(report_markup_count(object, key), out);
}

const char *report_markup_time(int64_t time_ns, char *out)
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{60e9, "min"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "\xc2\xb5s"}, {1, "ns"}};
    const double time = (double)time_ns;
    size_t i = 0;

    while (i + 1 < sizeof(units) / sizeof(*units) && time < units[i].unit * (i == 0 ? 2 : 1)) {
        i++;
    }
    const double value = time / units[i].unit;

    (void)snprintf(out, REPORT_MARKUP_SHORT, "%.*f %s", value >= 100 || time < 1e3 ? 0 : 1, value,
                   units[i].name);
    return out;
}

// "1.3e5" rather than "1.3e+05".
static void shorten_exponent(char *text)
{
    char *at = strchr(text, 'e');
    char *from = at != NULL ? at + 1 : NULL;
    char *to = from;

    if (from == NULL) {
        return;
    }
    to += *from == '-';
    from += *from == '-' || *from == '+';
    while (*from == '0' && from[1] != '\0') {
        from++;
    }
    memmove(to, from, strlen(from) + 1);
}

const char *report_markup_margin(double margin, char *out)
{
    if (isnan(margin)) {
        (void)snprintf(out, REPORT_MARKUP_SHORT, "?");
    } else if (isinf(margin)) {
        (void)snprintf(out, REPORT_MARKUP_SHORT, "\xe2\x88\x9e");
    } else if (margin == 0) {
        (void)snprintf(out, REPORT_MARKUP_SHORT, "=");
    } else if (margin < 0.01) {
        (void)snprintf(out, REPORT_MARKUP_SHORT, "<.01");
    } else if (margin < 9.95) {
        (void)snprintf(out, REPORT_MARKUP_SHORT, "%.2f", margin);
    } else {
        (void)snprintf(out, REPORT_MARKUP_SHORT, margin < 999.5 ? "%.0f" : "%.1e", margin);
        shorten_exponent(out);
    }
    return out;
}

const char *report_markup_value(double value, int digits, char *out)
{
    if (isnan(value)) {
        (void)snprintf(out, REPORT_MARKUP_SHORT, "NaN");
    } else if (isinf(value)) {
        (void)snprintf(out, REPORT_MARKUP_SHORT, "%s\xe2\x88\x9e", value < 0 ? "-" : "");
    } else {
        (void)snprintf(out, REPORT_MARKUP_SHORT, "%.*g", digits, value);
        shorten_exponent(out);
    }
    return out;
}

const char *report_markup_date(int64_t seconds, char *out)
{
    const time_t moment = (time_t)seconds;
    struct tm parts;

    if (gmtime_r(&moment, &parts) == NULL ||
        strftime(out, REPORT_MARKUP_SHORT, "%d %B %Y, %H:%M UTC", &parts) == 0) {
        out[0] = '\0';
    }
    return out[0] == '0' ? out + 1 : out;
}

int report_markup_command(const char *command, const char *file, const char *dir, struct text *out)
{
    const char *at = *file != '\0' ? strstr(command, file) : NULL;

    if (at == NULL) {
        return 0;
    }
    text_append_bytes(out, command, (size_t)(at - command));
    text_append_shell(out, dir);
    text_append(out, "/");
    text_append(out, at);
    return 1;
}

int report_markup_is_first(const json_t *blamed, size_t index)
{
    const char *op = report_markup_string(json_array_get(blamed, index), "op");
    size_t first = json_array_size(blamed), first_in_model = first;

    for (size_t i = json_array_size(blamed); i-- > 0;) {
        const json_t *item = json_array_get(blamed, i);

        if (strcmp(report_markup_string(item, "op"), op) == 0) {
            const int is_derived =
                strcmp(report_markup_string(item, "evidence"), BLAME_DERIVED) == 0;

            first = i;
            first_in_model = is_derived ? first_in_model : i;
        }
    }
    return index == (first_in_model < json_array_size(blamed) ? first_in_model : first);
}
