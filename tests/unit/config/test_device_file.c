// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/file.h"
#include "config/device_file.h"
#include "harness/scratch.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define HEAD "[device]\nname = X\nsource = a page\n"

static tapml_status parse(const char *text, struct device_file *file)
{
    return device_file_parse("x.ini", text, strlen(text), file);
}

static void refused(const char *text, const char *message)
{
    struct device_file file;

    cr_assert_eq(parse(text, &file), TAPML_INVALID);
    cr_assert_str_eq(status_message(), message);
}

Test(device_file, figures_are_read_and_what_is_missing_is_unknown)
{
    struct device_file file;

    cr_assert_eq(parse(HEAD "source = another\n[memory]\nbuffer = 300\nbinding = 200\n"
                            "bandwidth = 2.5\n[arithmetic]\nf16 = storage\n",
                       &file),
                 TAPML_OK, "%s", status_message());
    cr_assert_str_eq(file.name, "X");
    cr_assert_str_eq(device_file_source(&file, 0), "a page");
    cr_assert_str_eq(device_file_source(&file, 1), "another");
    cr_assert_null(device_file_source(&file, 2));
    cr_assert_eq(file.bandwidth, 2.5);
    cr_assert_eq(file.f16, DEVICE_FILE_STORAGE);
    cr_assert_eq(file.bf16, DEVICE_FILE_UNKNOWN);
    cr_assert_eq(file.memory_bytes, 0);
    cr_assert_eq(file.f32_rate, 0);
    cr_assert_null(file.driver);
    cr_assert_eq(device_file_bytes_max(&file), 200u);
    file.binding_bytes = 0;
    cr_assert_eq(device_file_bytes_max(&file), 300u);
    file.buffer_bytes = 0;
    cr_assert_eq(device_file_bytes_max(&file), 0u);
    device_file_release(&file);
}

Test(device_file, what_is_wrong_is_named_with_its_line)
{
    refused("[memory]\nbytes = 1\n", "x.ini: [device] has no 'name' (and 1 more)");
    refused(HEAD "[memory]\nbandwith = 1\n",
            "x.ini:5: unknown key 'bandwith' in [memory], did you mean 'bandwidth'?");
    refused(HEAD "[kernel]\nbandwidth = 1\n",
            "x.ini:5: unknown key 'bandwidth' in [kernel], there is one in [memory]");
    refused(HEAD "[kernal]\n", "x.ini:4: unknown section [kernal], did you mean [kernel]?");
    refused(HEAD "[kernel]\nquux = 1\n",
            "x.ini:5: unknown key 'quux' in [kernel], see docs/forecast.md");
    refused(HEAD "[kernel]\nitems = 0\n",
            "x.ini:5: [kernel] items: expected a whole number from 1 to 4294967295, found '0'");
    refused(HEAD "[arithmetic]\nf16 = maybe\n",
            "x.ini:5: [arithmetic] f16: expected 'unknown' or 'none' or 'storage' or "
            "'arithmetic', found 'maybe'");
    refused(HEAD "[memory]\nbytes = 1\nbytes = 2\n",
            "x.ini:6: expected 'bytes' once in [memory], found it in line 5 too");
    cr_assert_eq(device_file_load("/nowhere/x.ini", &(struct device_file){.name = NULL}),
                 TAPML_NOT_FOUND);
}

// A driver's text can end no line, begin no comment and be of any length.
Test(device_file, what_is_printed_is_read_as_it_was)
{
    char name[400];
    struct device_file file, again;
    struct text text;

    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    memcpy(name, "a ;b\nc\x80", 7);
    file = (struct device_file){.name = name,
                                .source = "s",
                                .driver = "",
                                .binding_bytes = 128,
                                .alignment = 16,
                                .shared_bytes = 32768,
                                .bandwidth = 0.5,
                                .f16 = DEVICE_FILE_NONE};
    text_init(&text);
    device_file_print(&file, &text);
    cr_assert_eq(parse(text.data, &again), TAPML_OK, "%s\n%s", status_message(), text.data);
    cr_assert_eq(strncmp(again.name, "a  b c nnn", 10), 0, "%s", again.name);
    cr_assert_null(again.driver);
    cr_assert_str_eq(device_file_source(&again, 0), "s");
    cr_assert_eq(again.binding_bytes, 128);
    cr_assert_eq(again.alignment, 16);
    cr_assert_eq(again.shared_bytes, 32768);
    cr_assert_eq(again.group_items, 0);
    cr_assert_eq(again.bandwidth, 0.5);
    cr_assert_eq(again.f16, DEVICE_FILE_NONE);
    cr_assert_null(strstr(text.data, "f32-rate"));
    text_release(&text);
    device_file_release(&again);
}

static size_t size_of_member(enum key_kind kind)
{
    return kind == KEY_CHOICE ? sizeof(int) : sizeof(int64_t);
}

Test(device_file, every_row_is_whole_and_in_the_manual)
{
    const struct key_table *table = device_file_table();
    char *page = NULL;
    size_t size = 0;

    cr_assert_eq(file_read(scratch_source("docs/forecast.md"), 1 << 20, &page, &size), TAPML_OK);
    for (size_t i = 0; i < table->key_count; i++) {
        const struct key *key = &table->keys[i];
        char row[128], text[256];
        struct device_file file;

        (void)snprintf(row, sizeof(row), "\n| `[%s]` | `%s` |", key->section, key->name);
        cr_assert_not_null(strstr(page, row), "docs/forecast.md has no row of %s", row);
        cr_assert_eq(key_table_find(table, key->section, key->name), key);
        cr_assert_leq(key->offset + size_of_member(key->kind), sizeof(struct device_file));
        cr_assert_eq(key->help[strlen(key->help) - 1], '.');
        if (strcmp(key->section, "device") != 0) {
            (void)snprintf(text, sizeof(text), HEAD "[%s]\n%s = %s\n", key->section, key->name,
                           key->example);
            cr_assert_eq(parse(text, &file), TAPML_OK, "%s", status_message());
            device_file_release(&file);
        }
    }
    alloc_free(page);
}

Test(device_file, the_published_files_are_read)
{
    static const char *const names[] = {"apple-m2", "nvidia-h100-sxm", "raspberry-pi-5",
                                        "webgpu-default"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        char path[128];
        struct device_file file;

        (void)snprintf(path, sizeof(path), "conf/devices/%s.ini", names[i]);
        cr_assert_eq(device_file_load(scratch_source(path), &file), TAPML_OK, "%s",
                     status_message());
        cr_assert_not_null(device_file_source(&file, 1), "%s", path);
        device_file_release(&file);
    }
}
