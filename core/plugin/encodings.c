// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/encodings.h"

#include "base/log.h"
#include "plugin/component.h"

#include <tapml/draft/encoding.h>

#include <string.h>

// The values themselves, as quants of one scale.
static void read_block(const struct codec *codec,
                       const unsigned char *const *spans,
                       struct codec_block *out_block)
{
    const tapml_weight_encoding *table = codec->form;
    *out_block = (struct codec_block){.group_values = codec->encoding->block_values, .scales = {1}};
    table->decode(spans, out_block->quants);
}

static void
write_block(const struct codec *codec, const double *values, unsigned char *const *out_spans)
{
    const tapml_weight_encoding *table = codec->form;
    float plain[CODEC_VALUES_MAX];
    for (uint32_t i = 0; i < codec->encoding->block_values; i++) {
        plain[i] = (float)values[i];
    }
    table->encode(plain, out_spans);
}

// "org.example.ternary/1" of the plugin "org.example.ternary", or of "org.example".
static int is_of_plugin(const char *id, const char *plugin)
{
    const size_t length = strlen(plugin);
    return strncmp(id, plugin, length) == 0 && (id[length] == '/' || id[length] == '.');
}

static tapml_status add(const struct component *component)
{
    const tapml_weight_encoding *table = component->table;
    if (!is_of_plugin(table->layout->id, component->entry.plugin)) {
        return status_fail(TAPML_INVALID, "its id '%s' does not begin with that of the plugin",
                           table->layout->id);
    }
    return encoding_add(&(struct codec){.encoding = table->layout,
                                        .word = table->word,
                                        .read = read_block,
                                        .write = write_block,
                                        .form = table});
}

void encodings_add(struct registry *registry, struct plugin_encodings *out_encodings)
{
    const struct component *component = NULL;
    *out_encodings = (struct plugin_encodings){.count = 0};
    for (size_t i = 0; (component = registry_find(registry, TAPML_KIND_ENCODING, i)) != NULL; i++) {
        const tapml_weight_encoding *table = component->table;
        if (add(component) == TAPML_OK) {
            out_encodings->items[out_encodings->count++] = table->layout;
        } else {
            log_line(LOG_WARNING, "encoding '%s/%s' is not used: %s", component->entry.plugin,
                     component->entry.component, status_message());
        }
    }
}

void encodings_remove(struct plugin_encodings *encodings)
{
    while (encodings->count > 0) {
        encoding_remove(encodings->items[--encodings->count]);
    }
}
