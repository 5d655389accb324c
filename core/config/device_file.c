// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/device_file.h"

#include "config/key_reader.h"
#include "config/problems.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BYTES_MAX    (INT64_C(1) << 60)
#define COUNT_MAX    UINT32_MAX
#define GIGABYTES_S  1000000
#define GIGAFLOP_S   1000000000
#define MICROSECONDS 1000000

#define AT(member_) .offset = offsetof(struct device_file, member_)

static const char half_words[] = "unknown none storage arithmetic"; // As enum device_file_half.

static const struct key_section sections[] = {
    {"device", "device", "Which device it is, and who says so.", 0},
    {"memory", "memory", "Its memory, and what a kernel reaches of it.", 0},
    {"kernel", "kernel", "What a kernel may use.", 0},
    {"arithmetic", "arithmetic", "Types and rates.", 0},
};

// A number that has no default: where it is absent it is unknown.
#define NUMBER(section_, name_, member_, high_, example_, help_)                                   \
    {                                                                                              \
        .section = (section_), .name = (name_), .kind = KEY_NUMBER, .low = 1, .high = (high_),     \
        AT(member_), .example = (example_), .help = (help_)                                        \
    }
#define REAL(section_, name_, member_, high_, example_, help_)                                     \
    {                                                                                              \
        .section = (section_), .name = (name_), .kind = KEY_REAL, .high = (high_), AT(member_),    \
        .example = (example_), .help = (help_)                                                     \
    }

static const struct key keys[] = {
    {.section = "device",
     .name = "name",
     .kind = KEY_TEXT,
     .is_needed = 1,
     AT(name),
     .type = "a text",
     .example = "Example 9000",
     .help = "The device, for people."},
    {.section = "device",
     .name = "source",
     .kind = KEY_TEXT,
     .is_needed = 1,
     .may_repeat = 1,
     AT(source),
     .type = "a text",
     .example = "https://example.org/9000.pdf",
     .help = "Where the figures come from: an address, a document, the program that asked."},
    {.section = "device",
     .name = "driver",
     .kind = KEY_TEXT,
     AT(driver),
     .type = "a text",
     .example = "example 1.2",
     .help = "The driver, where the figures are those that it reports."},
    NUMBER("memory",
           "bytes",
           memory_bytes,
           BYTES_MAX,
           "8589934592",
           "Memory of the device for weights, states and activations."),
    NUMBER(
        "memory", "buffer", buffer_bytes, BYTES_MAX, "268435456", "Bytes of the largest buffer."),
    NUMBER("memory",
           "binding",
           binding_bytes,
           BYTES_MAX,
           "134217728",
           "Bytes that a kernel can bind of one buffer."),
    NUMBER("memory",
           "alignment",
           alignment,
           BYTES_MAX,
           "256",
           "Bytes; a binding begins at a multiple of it."),
    REAL("memory", "bandwidth", bandwidth, GIGABYTES_S, "100", "GB/s of the memory, at best."),
    NUMBER("kernel", "bindings", bindings, COUNT_MAX, "8", "Buffers that a kernel can bind."),
    NUMBER("kernel", "items", group_items, COUNT_MAX, "256", "Work items of a workgroup."),
    NUMBER("kernel",
           "shared",
           shared_bytes,
           BYTES_MAX,
           "16384",
           "Bytes that the work items of a workgroup share."),
    NUMBER(
        "kernel", "groups", grid, COUNT_MAX, "65535", "Workgroups that every axis of a grid has."),
    REAL("kernel",
         "launch",
         launch_us,
         MICROSECONDS,
         "5",
         "Microseconds that a kernel takes at least, behind another one."),
    {.section = "arithmetic",
     .name = "f16",
     .kind = KEY_CHOICE,
     .fallback = "unknown",
     .words = half_words,
     AT(f16),
     .example = "storage",
     .help = "Whether kernels keep values of f16 in buffers, and whether they compute in it."},
    {.section = "arithmetic",
     .name = "bf16",
     .kind = KEY_CHOICE,
     .fallback = "unknown",
     .words = half_words,
     AT(bf16),
     .example = "none",
     .help = "The same of bf16."},
    REAL("arithmetic",
         "f32-rate",
         f32_rate,
         GIGAFLOP_S,
         "1000",
         "GFLOP/s in f32, at best; a product with a sum is two operations."),
    REAL("arithmetic", "f16-rate", f16_rate, GIGAFLOP_S, "2000", "The same in f16, with f32 sums."),
};

const struct key_table *device_file_table(void)
{
    static const struct key_table table = {sections, sizeof(sections) / sizeof(*sections), keys,
                                           sizeof(keys) / sizeof(*keys), "see docs/forecast.md"};

    return &table;
}

// -- Reading -----------------------------------------------------------------------------------

static tapml_status read_all(struct device_file *file)
{
    const struct key_table *table = device_file_table();
    struct problems problems;

    problems_init(&problems);
    key_reader_check(table, &file->ini, &problems);
    for (size_t i = 0; i < table->section_count; i++) {
        key_reader_read(table, &file->ini, table->sections[i].name, file, &problems);
    }
    const tapml_status status = problems_status(&problems, NULL);

    problems_release(&problems);
    return status;
}

static tapml_status finish(struct device_file *file, struct device_file *out_file)
{
    const tapml_status status = read_all(file);

    if (status != TAPML_OK) {
        device_file_release(file);
        return status;
    }
    *out_file = *file;
    return TAPML_OK;
}

tapml_status device_file_load(const char *path, struct device_file *out_file)
{
    struct device_file file = {.name = NULL};

    TAPML_TRY(ini_load(path, &file.ini));
    return finish(&file, out_file);
}

tapml_status
device_file_parse(const char *name, const char *text, size_t size, struct device_file *out_file)
{
    struct device_file file = {.name = NULL};

    TAPML_TRY(ini_parse(name, text, size, &file.ini));
    return finish(&file, out_file);
}

void device_file_release(struct device_file *file)
{
    ini_release(&file->ini);
    *file = (struct device_file){.name = NULL};
}

const char *device_file_source(const struct device_file *file, size_t index)
{
    for (size_t i = 0; i < file->ini.count; i++) {
        const struct ini_entry *entry = &file->ini.entries[i];

        if (strcmp(entry->section, "device") == 0 && strcmp(entry->key, "source") == 0 &&
            index-- == 0) {
            return entry->value;
        }
    }
    return file->ini.count == 0 && index == 0 ? file->source : NULL;
}

uint64_t device_file_bytes_max(const struct device_file *file)
{
    const uint64_t buffer = (uint64_t)file->buffer_bytes, binding = (uint64_t)file->binding_bytes;

    return buffer == 0 || (binding > 0 && binding < buffer) ? binding : buffer;
}

// -- Writing -----------------------------------------------------------------------------------

// A word of `words` by its place.
static void print_word(struct text *text, const char *key, const char *words, int place)
{
    const char *at = words;

    for (int i = 0; i < place; i++) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    text_format(text, "%s = %.*s\n", key, (int)strcspn(at, " "), at);
}

static void print_key(const struct device_file *file, const struct key *key, struct text *text)
{
    const char *member = (const char *)file + key->offset;
    const char *value = NULL;
    int64_t number = 0;
    double real = 0;
    int place = 0;

    switch (key->kind) {
    case KEY_NUMBER:
        memcpy(&number, member, sizeof(number));
        if (number > 0) {
            text_format(text, "%s = %" PRId64 "\n", key->name, number);
        }
        return;
    case KEY_REAL:
        memcpy(&real, member, sizeof(real));
        if (real > 0) {
            text_format(text, "%s = %.6g\n", key->name, real);
        }
        return;
    case KEY_CHOICE:
        memcpy(&place, member, sizeof(place));
        if (place != DEVICE_FILE_UNKNOWN) {
            print_word(text, key->name, key->words, place);
        }
        return;
    case KEY_TEXT:
        memcpy(&value, member, sizeof(value));
        if (value != NULL && *value != '\0') {
            key_table_print(text, key->name, value);
        }
        return;
    case KEY_OTHERS:
        return;
    }
}

// A section without keys is left out.
static void
print_section(const struct device_file *file, const char *section, struct text *out_text)
{
    const struct key_table *table = device_file_table();
    const size_t begin = out_text->length;

    text_format(out_text, "%s[%s]\n", begin > 0 ? "\n" : "", section);
    const size_t head = out_text->length;

    for (size_t i = 0; i < table->key_count; i++) {
        if (strcmp(table->keys[i].section, section) == 0) {
            print_key(file, &table->keys[i], out_text);
        }
    }
    if (out_text->length == head && !out_text->failed) {
        out_text->length = begin;
        out_text->data[begin] = '\0';
    }
}

void device_file_print(const struct device_file *file, struct text *out_text)
{
    const struct key_table *table = device_file_table();

    for (size_t i = 0; i < table->section_count; i++) {
        print_section(file, table->sections[i].name, out_text);
    }
}
