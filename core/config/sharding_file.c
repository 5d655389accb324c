// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "config/sharding_file.h"

#include "config/key_reader.h"
#include "config/problems.h"

#define AT(member_) .offset = offsetof(struct sharding_options, member_)

static const struct key_section sections[] = {SHARDING_FILE_SECTION};

static const struct key keys[] = {
    SHARDING_FILE_KEYS(AT),
};

const struct key_table *sharding_file_table(void)
{
    static const struct key_table table = {sections, sizeof(sections) / sizeof(*sections), keys,
                                           sizeof(keys) / sizeof(*keys), "see docs/sharding.md"};
    return &table;
}

tapml_status sharding_file_load(const char *path, struct sharding_file *out_file)
{
    struct sharding_file file = {.options = {.mesh = NULL}};
    struct problems problems;
    TAPML_TRY(ini_load(path, &file.ini));
    problems_init(&problems);
    key_reader_check(sharding_file_table(), &file.ini, &problems);
    key_reader_read(sharding_file_table(), &file.ini, "shard", &file.options, &problems);
    const tapml_status status = problems_status(&problems, NULL);
    problems_release(&problems);
    if (status != TAPML_OK) {
        sharding_file_release(&file);
        return status;
    }
    *out_file = file;
    return TAPML_OK;
}

void sharding_file_release(struct sharding_file *file)
{
    ini_release(&file->ini);
    *file = (struct sharding_file){.options = {.mesh = NULL}};
}
