// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "carve/bundle.h"

#include "base/arena.h"
#include "base/text.h"
#include "model/checkpoint.h"
#include "tensor/dtype.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static tapml_status inline_weight(const struct checkpoint *checkpoint,
                                  struct case_argument *argument)
{
    const struct checkpoint_tensor *weight =
        checkpoint ? checkpoint_find(checkpoint, argument->origin) : NULL;
    if (!weight) {
        return status_fail(TAPML_INVALID, "weight '%.100s' is not at hand", argument->origin);
    }
    if (weight->tensor.dtype != argument->dtype || weight->bytes != argument->base_bytes) {
        return status_fail(
            TAPML_INVALID, "weight '%.100s' is %s with %llu bytes, the case had %s with %llu",
            argument->origin, dtype_name(weight->tensor.dtype), (unsigned long long)weight->bytes,
            dtype_name(argument->dtype), (unsigned long long)argument->base_bytes);
    }
    argument->before = weight->data;
    argument->content_bytes = weight->bytes;
    return TAPML_OK;
}

tapml_status bundle_inline(const struct checkpoint *checkpoint,
                           const struct carved_case *item,
                           struct arena *arena,
                           struct carved_case *out_case)
{
    struct case_argument *arguments = arena_array(arena, item->argument_count, sizeof(*arguments));
    if (!arguments) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < item->argument_count; i++) {
        arguments[i] = item->arguments[i];
        if (case_is_reference(&arguments[i])) {
            TAPML_TRY(inline_weight(checkpoint, &arguments[i]));
        }
    }
    *out_case = *item;
    out_case->arguments = arguments;
    return TAPML_OK;
}

// SQLite keeps what is not yet in the file beside it.
static tapml_status remove_old(const char *path)
{
    static const char *const SUFFIXES[] = {"", "-wal", "-shm"};
    struct text name;
    tapml_status status = TAPML_OK;
    text_init(&name);
    for (size_t i = 0; i < 3 && status == TAPML_OK; i++) {
        text_clear(&name);
        text_format(&name, "%s%s", path, SUFFIXES[i]);
        status = text_status(&name);
        if (status == TAPML_OK && remove(name.data) != 0 && errno != ENOENT) {
            status = status_fail(TAPML_UNAVAILABLE, "cannot remove '%s': %s", name.data,
                                 strerror(errno));
        }
    }
    text_release(&name);
    return status;
}

static tapml_status fill(struct store *store,
                         const struct carved_case *item,
                         const struct bundle_fact *facts,
                         size_t fact_count)
{
    TAPML_TRY(store_begin(store));
    TAPML_TRY(store_add_case(store, item));
    for (size_t i = 0; i < fact_count; i++) {
        if (facts[i].value) {
            TAPML_TRY(store_set_fact(store, facts[i].name, facts[i].value));
        }
    }
    return store_commit(store);
}

tapml_status bundle_create(const char *path,
                           const struct carved_case *item,
                           const struct bundle_fact *facts,
                           size_t fact_count,
                           struct store **out_store)
{
    struct store *store = NULL;
    for (uint32_t i = 0; i < item->argument_count; i++) {
        if (case_is_reference(&item->arguments[i])) {
            return status_fail(TAPML_INVALID, "bundle '%s': the case lacks the bytes of '%.100s'",
                               path, item->arguments[i].origin);
        }
    }
    TAPML_TRY(remove_old(path));
    TAPML_TRY(store_open(path, 1, &store));
    const tapml_status status = fill(store, item, facts, fact_count);
    if (status != TAPML_OK) {
        store_rollback(store);
        store_close(store);
        return status;
    }
    *out_store = store;
    return TAPML_OK;
}

int bundle_is(struct store *store)
{
    return store_fact(store, BUNDLE_FACT_INSTANCE) != NULL;
}
