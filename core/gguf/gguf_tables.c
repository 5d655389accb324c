// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_tables.h"

#include "base/assert.h"
#include "base/json_file.h"

#include <string.h>

// Written by embed.py.
extern const struct gguf_table gguf_table_texts[];
extern const size_t gguf_table_text_count;

size_t gguf_tables_count(void)
{
    return gguf_table_text_count;
}

tapml_status gguf_tables_load(size_t index, json_t **out_root)
{
    ASSERT(index < gguf_table_text_count);
    const struct gguf_table *table = &gguf_table_texts[index];
    return json_file_parse(table->name, table->text, table->size, out_root);
}

tapml_status gguf_tables_load_named(const char *name, json_t **out_root)
{
    for (size_t i = 0; i < gguf_table_text_count; ++i) {
        if (strcmp(gguf_table_texts[i].name, name) == 0) {
            return gguf_tables_load(i, out_root);
        }
    }
    return status_fail(TAPML_INTERNAL, "the tables of GGUF families have no '%s'", name);
}
