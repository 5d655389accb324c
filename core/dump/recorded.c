// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "dump/recorded.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "dump/dump.h"
#include "store/carved.h"
#include "store/case.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"

#include <string.h>

static tapml_status
add_output(struct dump *dump, const struct carved_case *item, uint32_t position, int is_only)
{
    const struct case_argument *argument = &item->arguments[position];
    const char **sources = arena_array(dump->arena, item->argument_count + 1, sizeof(*sources));
    struct dump_tensor tensor = {.op = item->op_name,
                                 .sources = sources,
                                 .dtype = argument->dtype,
                                 .rank = argument->rank,
                                 .data = argument->after};

    if (sources == NULL) {
        return status_no_memory();
    }
    if (argument->encoding != NULL || argument->after == NULL) {
        dump->skipped++;
        return TAPML_OK;
    }
    for (uint32_t i = 0; i < item->argument_count; i++) {
        const struct case_argument *given = &item->arguments[i];

        if (given->rank > 0 && given->origin != NULL && *given->origin != '\0' &&
            (given->effects & TAPML_E_WEIGHT) == 0 && given->kind != TAPML_P_TENSOR_OUT) {
            sources[tensor.source_count++] = given->origin;
        }
    }
    case_content_shape(argument, tensor.shape);
    tensor.name = is_only ? item->instance
                          : arena_format(dump->arena, "%s/%s", item->instance, argument->name);
    return tensor.name != NULL ? dump_add(dump, &tensor) : status_no_memory();
}

static tapml_status add_case(struct dump *dump, const struct carved_case *item)
{
    uint32_t outputs = 0;

    for (uint32_t i = 0; i < item->argument_count; i++) {
        outputs += case_is_output(&item->arguments[i]) ? 1 : 0;
    }
    for (uint32_t i = 0; i < item->argument_count; i++) {
        if (case_is_output(&item->arguments[i])) {
            TAPML_TRY(add_output(dump, item, i, outputs == 1));
        }
    }
    return TAPML_OK;
}

// Cases of later prompts and steps are not even loaded: a store may be much larger than memory.
static tapml_status is_wanted(struct store *store, int64_t id, int *out_is)
{
    struct carved_origin origin = {0};
    int has = 0;

    TAPML_TRY(carved_find_origin(store, id, &origin, &has));
    *out_is = !has || (origin.prompt == 0 && origin.step == 0);
    return TAPML_OK;
}

static tapml_status add_cases(struct dump *dump, struct store *store)
{
    struct carved_case item;
    int64_t *ids = NULL;
    size_t count = 0;
    tapml_status status = stored_case_ids(store, &ids, &count);

    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        int is = 0;

        status = is_wanted(store, ids[i], &is);
        if (status != TAPML_OK || !is) {
            continue;
        }
        status = stored_case_load(store, ids[i], dump->arena, &item);
        if (status == TAPML_OK && item.step == 0 && item.part == 0 && !item.is_derived) {
            status = add_case(dump, &item);
        }
    }
    alloc_free(ids);
    return status;
}

tapml_status recorded_add(struct dump *dump, const char *store_path)
{
    struct store *store = NULL;

    TAPML_TRY(store_open_to_read(store_path, &store));
    const tapml_status status = add_cases(dump, store);

    store_close(store);
    dump->is_ordered = 1;
    return status;
}
