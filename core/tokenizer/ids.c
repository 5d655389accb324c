// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/ids.h"

#include "base/alloc.h"

void ids_init(struct ids *ids)
{
    *ids = (struct ids){0};
}

void ids_release(struct ids *ids)
{
    if (ids) {
        alloc_free(ids->items);
        ids_init(ids);
    }
}

tapml_status ids_add(struct ids *ids, int32_t id)
{
    if (!alloc_grow((void **)&ids->items, &ids->capacity, ids->count, sizeof(id))) {
        return status_no_memory();
    }
    ids->items[ids->count++] = id;
    return TAPML_OK;
}

tapml_status ids_add_all(struct ids *ids, const struct ids *more)
{
    for (size_t i = 0; i < more->count; ++i) {
        TAPML_TRY(ids_add(ids, more->items[i]));
    }
    return TAPML_OK;
}
