// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// plugin/model, graph/builder and the model plugins of this tree: any bytes as the config.json of a
// model without weights, whose graph is built and printed and whose tables are filled.
#include "fuzz.h"

#include "base/alloc.h"
#include "base/text.h"
#include "graph/print.h"
#include "plugin/model.h"
#include "plugin/registry.h"

#include <tapml/model.h>

enum { TOKENS = 2, TABLE_BYTES_MAX = 1 << 20 };

// The tables of a call, as exec/input asks for them.
static void fill(struct model *model, const struct graph_value *value)
{
    const struct affine_point point = {{TOKENS, 3, 1, 8}};
    const struct model_span span = {.first = 3, .count = TOKENS, .length = 8};
    const uint64_t bytes = graph_value_bytes(value, &point);
    if (value->kind != GRAPH_INPUT || value->from != TAPML_FROM_FILL || bytes > TABLE_BYTES_MAX) {
        return;
    }
    void *table = alloc_new(bytes);
    FUZZ_CHECK(table);
    (void)fuzz_refused(model_fill(model, value->name, span, table, bytes));
    alloc_free(table);
}

static void use(struct model *model)
{
    const struct graph *graph = model_graph(model);
    struct text text;
    text_init(&text);
    print_graph(graph, &text);
    FUZZ_CHECK(text_status(&text) == TAPML_OK && text.length > 0);
    text_release(&text);
    for (uint32_t i = 0; i < graph->value_count; i++) {
        fill(model, &graph->values[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct registry *registry; // For all inputs, with the plugins that it opens.
    struct model *model = NULL;
    FUZZ_CHECK(fuzz_file(data, size));
    if (!registry) {
        const struct registry_options options = {.program = FUZZ_HOST, .safe_only = 1};
        FUZZ_CHECK(registry_create(&options, &registry) == TAPML_OK);
        FUZZ_CHECK(registry_component(registry, TAPML_KIND_MODEL, 0));
        fuzz_link("config.json");
    }
    const struct model_options options = {.folder = fuzz_folder(), .without_weights = 1};
    if (!fuzz_refused(model_open(registry, &options, &model))) {
        use(model);
        model_close(model);
    }
    return 0;
}
