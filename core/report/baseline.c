// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/baseline.h"

#include "base/arena.h"
#include "base/table.h"
#include "config/key_reader.h"
#include "config/problems.h"
#include "schema/catalogue.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { DAY_TEXT = 16, DAY_SECONDS = 86400, FILE_BYTES_MAX = 1 << 20, GLOB_BYTES = 150 };

static const char NEVER[] = "never", GROUP[] = "known.";

#define AT(member_) .offset = offsetof(struct baseline_entry, member_)
#define GLOB(name_, member_, example_, help_)                                                      \
    {                                                                                              \
        .section = "known.", .name = (name_), .kind = KEY_TEXT, AT(member_), .type = "a glob",     \
        .example = (example_), .help = (help_)                                                     \
    }

static const struct key_section sections[] = {
    {"known.", "known.NAME", "A failure that is known.", 0},
};

static const struct key keys[] = {
    {.section = "known.",
     .name = "op",
     .kind = KEY_TEXT,
     .is_needed = 1,
     AT(op),
     .type = "a glob",
     .example = "silu",
     .help = "The operator, with or without `tapml.`; or `driver`, `model`, `target`."},
    GLOB("target", target, "gpu", "Its name in the run."),
    GLOB("device", device, "*9000*", "The name of the device, or COMPONENT:DEVICE."),
    GLOB("driver", driver, "3.*", "The driver, as reports name it."),
    GLOB("instance", instance, "layers.0/*", "Where in the graph."),
    GLOB("key", key, "01d0*", "The content key of a case."),
    {.section = "known.",
     .name = "reason",
     .kind = KEY_TEXT,
     .is_needed = 1,
     AT(reason),
     .type = "a sentence",
     .example = "exp overflows, ticket 17",
     .help = "Why it may fail."},
    {.section = "known.",
     .name = "expires",
     .kind = KEY_TEXT,
     .is_needed = 1,
     AT(expires),
     .type = "a day or `never`",
     .example = "2027-03-31",
     .help = "The last day on which it may."},
};

const struct key_table *baseline_table(void)
{
    static const struct key_table table = {sections, sizeof(sections) / sizeof(*sections), keys,
                                           sizeof(keys) / sizeof(*keys), "see docs/comparing.md"};

    return &table;
}

// -- Days --------------------------------------------------------------------------------------

void baseline_day(int64_t now_s, int64_t days, char out_day[DAY_TEXT])
{
    const time_t moment = (time_t)(now_s + days * DAY_SECONDS);
    struct tm parts;

    *out_day = '\0';
    if (gmtime_r(&moment, &parts) != NULL) {
        (void)strftime(out_day, DAY_TEXT, "%Y-%m-%d", &parts);
    }
}

int baseline_is_day(const char *text)
{
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    static const char form[] = "dddd-dd-dd";
    int numbers[3] = {0};
    size_t part = 0;

    if (strlen(text) != sizeof(form) - 1) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(form) - 1; i++) {
        const int is_digit = text[i] >= '0' && text[i] <= '9';

        if (form[i] == 'd' ? !is_digit : text[i] != '-') {
            return 0;
        }
        part += form[i] == '-';
        numbers[part] = is_digit ? numbers[part] * 10 + (text[i] - '0') : numbers[part];
    }
    const int year = numbers[0], month = numbers[1], day = numbers[2];
    const int is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] &&
           (month != 2 || day < 29 || is_leap);
}

// -- Reading -----------------------------------------------------------------------------------

static void read_entry(struct baseline *baseline,
                       const char *section,
                       const char *today,
                       struct problems *problems)
{
    struct baseline_entry *entry = &baseline->entries[baseline->count++];

    entry->name = section;
    key_reader_read(baseline_table(), &baseline->ini, section, entry, problems);
    if (entry->reason != NULL && *entry->reason == '\0') {
        problems_refuse(problems, &baseline->ini, section, "reason", "it is empty");
    }
    if (entry->expires == NULL || strcmp(entry->expires, NEVER) == 0) {
        return;
    }
    if (!baseline_is_day(entry->expires)) {
        problems_refuse(problems, &baseline->ini, section, "expires",
                        "expected a day such as 2027-03-31, or 'never', found '%s'",
                        entry->expires);
        return;
    }
    entry->is_expired = strcmp(entry->expires, today) < 0;
}

static tapml_status read_all(struct baseline *baseline, int64_t now_s)
{
    const struct ini *ini = &baseline->ini;
    struct problems problems;
    char today[DAY_TEXT];

    baseline->entries = arena_array(ini->arena, ini->section_count + 1, sizeof(*baseline->entries));
    if (baseline->entries == NULL) {
        return status_no_memory();
    }
    baseline_day(now_s, 0, today);
    problems_init(&problems);
    key_reader_check(baseline_table(), ini, &problems);
    for (size_t i = 0; i < ini->section_count; i++) {
        if (key_table_section(baseline_table(), ini->sections[i]) != NULL) {
            read_entry(baseline, ini->sections[i], today, &problems);
        }
    }
    const tapml_status status = problems_status(&problems, NULL);

    problems_release(&problems);
    return status;
}

tapml_status baseline_load(const char *path, int64_t now_s, struct baseline *out_baseline)
{
    struct baseline baseline = {.count = 0};

    TAPML_TRY(ini_load(path, &baseline.ini));
    const tapml_status status = read_all(&baseline, now_s);

    if (status == TAPML_OK) {
        *out_baseline = baseline;
    } else {
        baseline_release(&baseline);
    }
    return status;
}

void baseline_release(struct baseline *baseline)
{
    ini_release(&baseline->ini);
    *baseline = (struct baseline){.count = 0};
}

// -- Looking up --------------------------------------------------------------------------------

static int matches(const char *glob, const char *text)
{
    return glob == NULL || text_glob(glob, text);
}

static int knows(const struct baseline_entry *entry, const struct failure *failure)
{
    return (matches(entry->op, failure->op) ||
            text_glob(entry->op, catalogue_shorten(failure->op))) &&
           matches(entry->target, failure->target) &&
           (matches(entry->device, failure->device) ||
            matches(entry->device, failure->device_name)) &&
           matches(entry->driver, failure->driver) && matches(entry->instance, failure->instance) &&
           matches(entry->key, failure->key);
}

void baseline_apply(struct baseline *baseline, struct failure_list *io_list)
{
    for (size_t i = 0; i < io_list->count; i++) {
        struct failure *failure = &io_list->items[i];

        for (size_t k = 0; k < baseline->count; k++) {
            struct baseline_entry *entry = &baseline->entries[k];

            if (!knows(entry, failure)) {
                continue;
            }
            entry->judged++;
            entry->failed += failure->is_bad != 0;
            if (failure->is_bad && failure->state != FAILURE_KNOWN) {
                failure->state = entry->is_expired ? FAILURE_EXPIRED : FAILURE_KNOWN;
                failure->entry = entry->name;
                failure->known = entry->reason;
            }
        }
        if (failure->is_bad && failure->entry == NULL) {
            failure->state = FAILURE_NEW; // Whatever the run before had.
        }
    }
}

const char *baseline_entry_state(const struct baseline_entry *entry)
{
    return entry->judged == 0   ? "absent"
           : entry->failed == 0 ? "fixed"
           : entry->is_expired  ? "expired"
                                : "known";
}

// -- Writing -----------------------------------------------------------------------------------

// A text as a glob that matches it: what an INI file cannot have is anything, and of a long one the
// begin counts.
static void print_glob(struct text *text, const char *key, const char *value)
{
    size_t length = 0;

    if (*value == '\0') {
        return;
    }
    text_format(text, "%s = ", key);
    for (const char *at = value; *at != '\0' && length < GLOB_BYTES; at++) {
        const int is_special = *at == '*' || *at == '?' || *at == '[';
        const int is_edge = *at == ' ' && (at == value || at[1] == '\0');
        const int is_lost = *at < ' ' || *at > '~' || *at == ';' || *at == '#' || is_edge;
        const char plain = (char)(is_lost ? '*' : *at);

        text_format(text, is_special ? "[%c]" : "%c", plain);
        length += is_special ? 3 : 1;
        if (length >= GLOB_BYTES) {
            text_append(text, "*");
        }
    }
    text_append(text, "\n");
}

static void
print_entry(struct text *text, const struct failure *failure, const char *expires, size_t number)
{
    const char *device = *failure->device_name != '\0' ? failure->device_name : failure->device;
    const int has_key = *failure->key != '\0';

    text_format(text, "%s[%s%zu]\n", number > 1 ? "\n" : "", GROUP, number);
    print_glob(text, "op", catalogue_shorten(failure->op));
    print_glob(text, "target", failure->target);
    print_glob(text, "device", device);
    print_glob(text, "driver", failure->driver);
    print_glob(text, has_key ? "key" : "instance", has_key ? failure->key : failure->instance);
    key_table_print(text, "reason",
                    key_table_can_print(failure->reason) ? failure->reason : failure->verdict);
    text_format(text, "expires = %s\n", expires);
}

static tapml_status print_all(const struct failure_list *list,
                              const char *expires,
                              struct table *seen,
                              struct text *out_text)
{
    struct text name;
    size_t number = 0, known = 0;
    tapml_status status = TAPML_OK;

    text_init(&name);
    for (size_t i = 0; status == TAPML_OK && i < list->count; i++) {
        const struct failure *failure = &list->items[i];

        text_clear(&name);
        text_format(&name, "%s\x1f%s\x1f%s", failure->target, failure->op,
                    *failure->key != '\0' ? failure->key : failure->instance);
        status = text_status(&name);
        if (status == TAPML_OK && failure->is_bad && !table_find(seen, name.data, &known)) {
            status = table_set(seen, name.data, 1);
            print_entry(out_text, failure, expires, ++number);
        }
    }
    text_release(&name);
    return status;
}

tapml_status
baseline_print(const struct failure_list *list, const char *expires, struct text *out_text)
{
    struct table seen;

    table_init(&seen);
    const tapml_status status = print_all(list, expires, &seen, out_text);

    table_release(&seen);
    TAPML_TRY(status);
    return out_text->length <= FILE_BYTES_MAX
               ? text_status(out_text)
               : status_fail(TAPML_INVALID,
                             "a baseline of all failures has %zu bytes, expected %d at most: write "
                             "one by op (docs/comparing.md)",
                             out_text->length, FILE_BYTES_MAX);
}
