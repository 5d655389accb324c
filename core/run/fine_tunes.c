// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/fine_tunes.h"

#include "base/file.h"
#include "base/text.h"
#include "graph/graph.h"
#include "model/checkpoint.h"
#include "run/setup.h"

#include <inttypes.h>

static const char option[] = "--fine-tune";

// The bytes of a graph's weights that are not those of `base`, or NULL: of all.
static uint64_t count_bytes(const struct model *model, const struct model *base)
{
    const struct graph *graph = model_graph(model);
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < graph->value_count; i++) {
        const struct graph_value *value = &graph->values[i];
        const struct checkpoint_tensor *own =
            value->kind == GRAPH_WEIGHT ? checkpoint_find(model_checkpoint(model), value->name)
                                        : NULL;
        const struct checkpoint_tensor *others =
            own != NULL && base != NULL ? checkpoint_find(model_checkpoint(base), own->name) : NULL;

        if (own != NULL && (others == NULL || others->data != own->data)) {
            bytes += own->bytes;
        }
    }
    return bytes;
}

static tapml_status open_one(struct setup *setup,
                             const struct options *given,
                             const struct model_options *model,
                             const char *path,
                             struct fine_tunes *fine_tunes)
{
    struct model_options options = *model;
    struct fine_tune *item = &fine_tunes->items[fine_tunes->count];
    const int is_adapter = file_is_folder(path);

    options.base = fine_tunes->base;
    options.delta = is_adapter ? NULL : path;
    options.adapter = is_adapter ? path : NULL;
    options.keeps_beside = options_get(given, "--beside") != NULL;
    TAPML_TRY(model_open(setup->registry, &options, &item->model));
    item->path = path;
    item->own_bytes = count_bytes(item->model, fine_tunes->base);
    fine_tunes->count++;
    return TAPML_OK;
}

tapml_status fine_tunes_open(struct setup *setup,
                             const struct options *options,
                             const struct model_options *model,
                             struct fine_tunes *out_fine_tunes)
{
    const char *path = NULL;

    *out_fine_tunes = (struct fine_tunes){.base = setup->model};
    if (options_at(options, option, 0) == NULL) {
        return options_get(options, "--beside") == NULL
                   ? TAPML_OK
                   : status_fail(TAPML_INVALID, "--beside is of %s alone", option);
    }
    if (model->sharding != NULL) {
        return status_fail(TAPML_INVALID, "%s is of a model that --sharding does not divide",
                           option);
    }
    out_fine_tunes->base_bytes = count_bytes(setup->model, NULL);
    for (size_t i = 0; (path = options_at(options, option, i)) != NULL; i++) {
        if (i == FINE_TUNES_MAX) {
            return status_fail(TAPML_INVALID, "expected at most %d of %s", FINE_TUNES_MAX, option);
        }
        TAPML_TRY(open_one(setup, options, model, path, out_fine_tunes));
    }
    return TAPML_OK;
}

void fine_tunes_close(struct setup *setup, struct fine_tunes *fine_tunes)
{
    while (fine_tunes->count > 0 && setup->place_count > 0) { // They know where weights lie.
        place_destroy(setup->places[--setup->place_count]);
    }
    while (fine_tunes->count > 0) {
        model_close(fine_tunes->items[--fine_tunes->count].model);
    }
}

void fine_tunes_print(const struct fine_tunes *fine_tunes, struct text *out_text)
{
    text_format(out_text, "weights of the base %" PRIu64 " bytes", fine_tunes->base_bytes);
    for (size_t i = 0; i < fine_tunes->count; i++) {
        text_format(out_text, ", of %s %" PRIu64, fine_tunes->items[i].path,
                    fine_tunes->items[i].own_bytes);
    }
}
