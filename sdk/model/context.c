// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include <tapml/model/context.h>

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const model_host_needs[] = {TAPML_HOST_CORE, TAPML_HOST_CONFIG, TAPML_HOST_WEIGHTS,
                                        TAPML_HOST_GRAPH, NULL};

void model_context_init(struct model_context *context,
                        const tapml_host *host,
                        tapml_call *call,
                        tapml_object *config)
{
    *context = (struct model_context){
        .core = host->interface_of(host, TAPML_HOST_CORE),
        .config_table = host->interface_of(host, TAPML_HOST_CONFIG),
        .weights_table = host->interface_of(host, TAPML_HOST_WEIGHTS),
        .graph_table = host->interface_of(host, TAPML_HOST_GRAPH),
        .parts_table = host->interface_of(host, TAPML_HOST_PARTS),
        .config = config,
        .call = call,
        .status = TAPML_OK,
    };
}

tapml_status model_fail(struct model_context *context, tapml_status code, const char *format, ...)
{
    char message[512];
    va_list list;

    if (context->status != TAPML_OK) {
        return context->status;
    }
    va_start(list, format);
    const int length = vsnprintf(message, sizeof(message), format, list);
    va_end(list);

    const size_t bytes = length < 0 ? 0 : (size_t)length;

    context->status = context->core->fail(context->call, code, 0, NULL, message,
                                          bytes < sizeof(message) ? bytes : sizeof(message) - 1);
    return context->status;
}

void model_note(struct model_context *context, tapml_status status)
{
    if (context->status == TAPML_OK) {
        context->status = status;
    }
}

struct model_name model_config_key(struct model_context *context, const char *keys)
{
    struct model_name first = {""}, found = {""};

    while (keys != NULL && *keys != '\0') {
        const size_t length = strcspn(keys, "|");
        struct model_name key;

        if (length >= sizeof(key.text)) {
            model_fail(context, TAPML_INVALID, "the key '%.64s' is too long", keys);
            break;
        }
        memcpy(key.text, keys, length);
        key.text[length] = '\0';
        first = first.text[0] == '\0' ? key : first;
        if (context->config_table->has(context->config, key.text) && found.text[0] == '\0') {
            found = key;
        }
        keys += length + (keys[length] == '|');
    }
    return found.text[0] != '\0' ? found : first;
}

int64_t model_config_count(struct model_context *context,
                           const char *pointer,
                           int64_t fallback,
                           int64_t most)
{
    const int64_t count = context->config_table->i64(context->config, pointer, fallback);

    if (count == 0 && fallback == 0 && !context->config_table->has(context->config, pointer)) {
        model_fail(context, TAPML_INVALID, "the config lacks '%s'", pointer + 1);
    } else if (count < 1 || count > most) {
        model_fail(context, TAPML_INVALID, "'%s' is %lld, expected 1 to %lld", pointer + 1,
                   (long long)count, (long long)most);
    }
    return context->status == TAPML_OK ? count : 0; // Of which somebody may make a loop.
}

double model_config_number(struct model_context *context, const char *pointer, double least)
{
    const double number = context->config_table->f64(context->config, pointer, NAN);

    if (!context->config_table->has(context->config, pointer)) {
        model_fail(context, TAPML_INVALID, "the config lacks '%s'", pointer + 1);
    } else if (!(number > least)) {
        model_fail(context, TAPML_INVALID, "'%s' is %g, expected a number above %g", pointer + 1,
                   number, least);
    } else if (fabs(number) > FLT_MAX || (fabs(number) < FLT_MIN && number != 0)) {
        model_fail(context, TAPML_INVALID,
                   "'%s' is %g, expected a number above %g that f32 holds, from %g to %g",
                   pointer + 1, number, least, (double)FLT_MIN, (double)FLT_MAX);
    }
    return context->status == TAPML_OK ? number : 0;
}

double model_config_between(
    struct model_context *context, const char *pointer, double fallback, double least, double most)
{
    const double number = context->config_table->f64(context->config, pointer, fallback);

    if (!(number >= least && number <= most)) {
        model_fail(context, TAPML_INVALID, "'%s' is %g, expected a number from %g to %g",
                   pointer + 1, number, least, most);
    }
    return context->status == TAPML_OK ? number : 0;
}

double model_config_eps(struct model_context *context, const char *pointer, double fallback)
{
    return model_config_between(context, pointer, fallback, FLT_MIN, 1);
}

void model_fill_positions(struct model_context *context,
                          const struct model_fill *fill,
                          int64_t rows)
{
    int32_t *positions = fill->target;

    if (fill->count < 0 || fill->target_bytes / sizeof(*positions) != (uint64_t)fill->count) {
        model_fail(context, TAPML_INVALID, "positions of %lld tokens have not %llu bytes",
                   (long long)fill->count, (unsigned long long)fill->target_bytes);
        return;
    }
    if (fill->first < 0 || fill->first > rows - fill->count) {
        model_fail(context, TAPML_INVALID, "position %lld is beyond the %lld that the model knows",
                   (long long)(fill->first + fill->count - 1), (long long)rows);
        return;
    }
    for (int64_t i = 0; i < fill->count; i++) {
        positions[i] = (int32_t)(fill->first + i);
    }
}

void model_fill_nothing(struct model_context *context, const struct model_fill *fill)
{
    model_fail(context, TAPML_NOT_FOUND, "no input '%.64s' is filled here", fill->name);
}

void model_fail_choice(struct model_context *context,
                       const char *pointer,
                       const char *word,
                       const char *const *known)
{
    char list[384] = "";
    size_t length = 0;

    for (size_t i = 0; known[i] != NULL && length < sizeof(list); i++) {
        const char *between = i == 0 ? "" : known[i + 1] == NULL ? " or " : ", ";

        length += (size_t)snprintf(list + length, sizeof(list) - length, "%s'%s'", between,
                                   known[i]); // Cut where it does not fit.
    }
    pointer += pointer[0] == '/';
    if (word[0] == '\0') {
        model_fail(context, TAPML_UNIMPLEMENTED, "the config has no '%.64s', expected %s", pointer,
                   list);
        return;
    }
    model_fail(context, TAPML_UNIMPLEMENTED, "'%.64s' is '%.40s', expected %s", pointer, word,
               list);
}

const char *model_config_choice(struct model_context *context,
                                const char *pointer,
                                const char *fallback,
                                const char *const *known)
{
    if (context->status != TAPML_OK) {
        return fallback; // The pointer may be a name that was not made.
    }
    const char *word = context->config_table->string(context->config, pointer, fallback);

    for (size_t i = 0; known[i] != NULL; i++) {
        if (strcmp(known[i], word) == 0) {
            return known[i];
        }
    }
    model_fail_choice(context, pointer, word, known);
    return fallback;
}

enum { DIGITS = 24 }; // Of any number.

// What stands for a number in a pattern.
struct place {
    const char *begin; // Or the end of the pattern.
    size_t length;
    int64_t number;
};

static struct place
find_place(const struct model_context *context, const char *pattern, int64_t number)
{
    static const char *const words[] = {"{i}", "{i+1}", "{e}"};
    const int64_t numbers[] = {number, number + 1, context->expert};
    const char *begin = pattern + strcspn(pattern, "{");

    for (; *begin != '\0'; begin += 1 + strcspn(begin + 1, "{")) {
        for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
            if (strncmp(begin, words[i], strlen(words[i])) == 0) {
                return (struct place){begin, strlen(words[i]), numbers[i]};
            }
        }
    }
    return (struct place){.begin = begin};
}

// A mixture has tens of thousands of names: printing them took two fifths of the instructions that
// made its graph.
static size_t append(struct model_name *name, size_t length, const char *text, size_t bytes)
{
    if (length + bytes < sizeof(name->text)) {
        memcpy(name->text + length, text, bytes);
        name->text[length + bytes] = '\0';
    }
    return length + bytes;
}

struct model_name
model_name(struct model_context *context, const char *pattern, int64_t number, const char *ending)
{
    struct model_name name = {""};
    size_t length = 0;

    if (context->status != TAPML_OK) {
        return name; // The pattern may be one that the architecture does not have.
    }
    while (length < sizeof(name.text)) {
        const struct place place = find_place(context, pattern, number);

        length = append(&name, length, pattern, (size_t)(place.begin - pattern));
        if (place.length == 0) {
            break;
        }
        char digits[DIGITS];
        const int count = snprintf(digits, sizeof(digits), "%lld", (long long)place.number);

        length = append(&name, length, digits, (size_t)count);
        pattern = place.begin + place.length;
    }
    length = append(&name, length, ending, strlen(ending));
    if (length >= sizeof(name.text)) {
        model_fail(context, TAPML_INVALID, "the name '%s' is too long", name.text);
    }
    return name;
}
