// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/delta_losses.h"

#include "base/alloc.h"
#include "base/json_file.h"
#include "base/text.h"
#include "model/delta.h"
#include "store/metadata.h"

#include <stdlib.h>
#include <string.h>

static const char name[] = "model.delta.losses";

static int compare(const void *x, const void *y)
{
    const struct delta_item *a = *(const struct delta_item *const *)x;
    const struct delta_item *b = *(const struct delta_item *const *)y;

    return a->lost != b->lost ? (a->lost < b->lost) - (a->lost > b->lost)
                              : strcmp(a->name, b->name);
}

static void print(const struct delta_item *const *items, size_t count, struct text *out)
{
    text_append(out, "[");
    for (size_t i = 0; i < count; i++) {
        text_append(out, i > 0 ? ",{\"weight\":" : "{\"weight\":");
        text_append_json(out, items[i]->name);
        text_format(out, ",\"kind\":\"%s\",\"lost\":%.9g,\"of\":\"%s\"}",
                    delta_form_word(items[i]->form.kind), items[i]->lost,
                    items[i]->is_of_outputs ? "outputs" : "values");
    }
    text_append(out, "]");
}

static tapml_status write_items(struct store *store, const struct delta *delta)
{
    const size_t all = delta_count(delta);
    const struct delta_item **items = alloc_array(all + 1, sizeof(*items));
    size_t count = 0;
    struct text text;

    if (items == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < all; i++) {
        const struct delta_item *item = delta_at(delta, i);

        if (item->form.kind != DELTA_XOR && item->lost >= 0) {
            items[count++] = item;
        }
    }
    qsort(items, count, sizeof(const struct delta_item *), compare);
    text_init(&text);
    print(items, count, &text);
    tapml_status status = text_status(&text);

    if (status == TAPML_OK && count > 0) {
        status = metadata_set(store, name, text.data);
    }
    text_release(&text);
    alloc_free(items);
    return status;
}

tapml_status delta_losses_write(struct store *store, const char *path)
{
    struct delta *delta = NULL;

    if (path == NULL) {
        return TAPML_OK;
    }
    tapml_status status = delta_open(path, &delta);

    if (status == TAPML_OK) {
        status = write_items(store, delta);
    }
    delta_close(delta);
    return status == TAPML_OK ? TAPML_OK : status_explain(status, "delta '%s'", path);
}

json_t *delta_losses_read(struct store *store)
{
    const char *text = metadata_get(store, name);
    json_t *list = NULL;

    if (text == NULL || json_file_parse(name, text, strlen(text), &list) != TAPML_OK ||
        !json_is_array(list)) {
        json_decref(list);
        return NULL;
    }
    return list;
}
