// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/bundle.h"

#include "base/arena.h"
#include "base/text.h"
#include "model/checkpoint.h"
#include "store/case.h"
#include "store/metadata.h"
#include "store/row.h"
#include "store/run_id.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"
#include "tensor/widen.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// A table that is empty takes a page, and a bundle is sent.
enum { PAGE_BYTES = 4096 };

// Whether a case has an encoded weight as a device got it that does not take its encoding.
static int is_widened(const struct checkpoint_tensor *weight, const struct case_argument *argument)
{
    const uint32_t dtype = widen_dtype(weight->tensor.encoding);
    return dtype != 0 && !argument->encoding && argument->dtype == dtype;
}

// The bytes of a weight in one piece, as the case has it.
static tapml_status contents_of(const struct checkpoint_tensor *weight,
                                const struct case_argument *argument,
                                struct arena *arena,
                                const void **out_data)
{
    const tapml_tensor *form = &weight->tensor;
    const int widens = is_widened(weight, argument);
    *out_data = weight->data;
    if (!weight->spans && !widens) {
        return TAPML_OK;
    }
    void *copy = arena_new(arena, argument->base_bytes);
    if (!copy) {
        return status_no_memory();
    }
    if (widens) {
        widen_values(&(struct widen_source){form->encoding, weight->spans, weight->data,
                                            form->shape, form->rank},
                     argument->dtype, copy);
    } else {
        tiles_gather(form->encoding, weight->spans, form->shape, form->rank, copy);
    }
    *out_data = copy;
    return TAPML_OK;
}

// Whether the checkpoint has the weight of a case.
static int is_same(const struct checkpoint_tensor *weight, const struct case_argument *argument)
{
    uint64_t bytes = 0;
    const tapml_tensor *form = &weight->tensor;
    if (is_widened(weight, argument)) {
        return encoding_bytes(NULL, argument->dtype, form->shape, form->rank, &bytes) == TAPML_OK &&
               bytes == argument->base_bytes;
    }
    return form->dtype == argument->dtype && form->encoding == argument->encoding &&
           weight->bytes == argument->base_bytes;
}

static tapml_status inline_weight(const struct checkpoint *checkpoint,
                                  struct arena *arena,
                                  struct case_argument *argument)
{
    const struct checkpoint_tensor *weight =
        checkpoint ? checkpoint_find(checkpoint, argument->origin) : NULL;
    if (!weight) {
        return status_fail(TAPML_INVALID, "weight '%.100s' is not at hand", argument->origin);
    }
    if (!is_same(weight, argument)) {
        return status_fail(
            TAPML_INVALID, "weight '%.100s' is %s with %llu bytes, the case had %s with %llu",
            argument->origin, encoding_name(weight->tensor.encoding, weight->tensor.dtype),
            (unsigned long long)weight->bytes, encoding_name(argument->encoding, argument->dtype),
            (unsigned long long)argument->base_bytes);
    }
    TAPML_TRY(contents_of(weight, argument, arena, &argument->before));
    argument->content_bytes = argument->base_bytes;
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
            TAPML_TRY(inline_weight(checkpoint, arena, &arguments[i]));
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

// What goes into a store that is being made.
struct filling {
    bundle_fill_fn fill;
    void *user;
};

static tapml_status fill(struct store *store, const struct filling *filling)
{
    TAPML_TRY(store_begin(store));
    TAPML_TRY(run_id_make_same(store));
    TAPML_TRY(filling->fill(filling->user, store));
    return store_commit(store);
}

static tapml_status fill_file(const char *path, const struct filling *filling)
{
    struct store *store = NULL;
    TAPML_TRY(remove_old(path));
    TAPML_TRY(store_open_sized(path, PAGE_BYTES, &store));
    const tapml_status status = fill(store, filling);
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    store_close(store); // Which leaves one file alone.
    return status;
}

// A file under its final name is complete.
static tapml_status
write_and_rename(const char *beside, const char *path, const struct filling *filling)
{
    tapml_status status = fill_file(beside, filling);
    if (status == TAPML_OK) {
        status = remove_old(path);
    }
    if (status == TAPML_OK && rename(beside, path) == 0) {
        return TAPML_OK;
    }
    char message[512];
    (void)snprintf(message, sizeof(message), "%s",
                   status != TAPML_OK ? status_message() : strerror(errno));
    (void)remove_old(beside); // The first failure is the one to report.
    return status != TAPML_OK ? status_fail(status, "%s", message)
                              : status_fail(TAPML_UNAVAILABLE, "cannot rename '%s' to '%s': %s",
                                            beside, path, message);
}

tapml_status bundle_write(const char *path, bundle_fill_fn fill_, void *user)
{
    struct text beside;
    text_init(&beside);
    text_format(&beside, "%s.part", path);
    tapml_status status = text_status(&beside);
    if (status == TAPML_OK) {
        status = write_and_rename(beside.data, path, &(struct filling){fill_, user});
    }
    text_release(&beside);
    return status;
}

// A case, or none, with what a bundle says of itself.
struct bundle {
    const struct carved_case *item; // Or NULL.
    const struct bundle_metadata *metadata;
    size_t metadata_count;
};

static tapml_status fill_bundle(void *user, struct store *store)
{
    const struct bundle *bundle = user;
    if (bundle->item) {
        TAPML_TRY(stored_case_add(store, bundle->item));
    }
    for (size_t i = 0; i < bundle->metadata_count; i++) {
        const struct bundle_metadata *metadata = &bundle->metadata[i];
        if (metadata->value) {
            TAPML_TRY(metadata_set(store, metadata->name, metadata->value));
        }
    }
    return TAPML_OK;
}

tapml_status bundle_create(const char *path,
                           const struct carved_case *item,
                           const struct bundle_metadata *metadata,
                           size_t metadata_count,
                           struct store **out_store)
{
    for (uint32_t i = 0; item && i < item->argument_count; i++) {
        if (case_is_reference(&item->arguments[i])) {
            return status_fail(TAPML_INVALID, "bundle '%s': the case lacks the bytes of '%.100s'",
                               path, item->arguments[i].origin);
        }
    }
    struct bundle bundle = {item, metadata, metadata_count};
    TAPML_TRY(bundle_write(path, fill_bundle, &bundle));
    return store_open(path, 0, out_store);
}

int bundle_is(struct store *store)
{
    return metadata_get(store, BUNDLE_METADATA_INSTANCE) != NULL;
}

// -- What it is known by -----------------------------------------------------------------------

// A value with its length before it, so that no two lists of values read alike.
static void add_value(struct hash_state *state, const char *value)
{
    char length[32];
    (void)snprintf(length, sizeof(length), "%zu:", strlen(value));
    hash_add(state, length, strlen(length));
    hash_add(state, value, strlen(value));
}

static tapml_status add_row(void *user, struct row *row)
{
    for (int i = 0; i < row_columns(row); i++) {
        add_value(user, row_text(row, i));
    }
    return TAPML_OK;
}

tapml_status bundle_id(struct store *store, char out_id[HASH_TEXT])
{
    struct hash_state *state = hash_begin();
    if (!state) {
        return status_no_memory();
    }
    tapml_status status =
        row_each(store,
                 "SELECT name, value FROM metadata WHERE name GLOB 'bundle.*' OR name GLOB 'pack.*'"
                 " OR name GLOB 'recorded.*' OR name GLOB 'model.*' OR name GLOB 'source*'"
                 " ORDER BY name",
                 NULL, add_row, state);
    if (status == TAPML_OK) {
        status = row_each(store,
                          "SELECT hex(key), instance, op, version, phase, shape_class, step, part"
                          " FROM \"case\" ORDER BY key, instance, phase, step, part, id",
                          NULL, add_row, state);
    }
    const struct hash hash = hash_end(state); // Which frees it.
    if (status == TAPML_OK) {
        hash_text(hash, out_id);
    }
    return status;
}

struct bundle_visit {
    bundle_visit_fn visit;
    void *user;
};

static tapml_status visit_word(void *user, struct row *row)
{
    const struct bundle_visit *visit = user;
    return visit->visit(visit->user, row_text(row, 0), (uint64_t)row_i64(row, 1));
}

tapml_status
bundle_visit(struct store *store, enum bundle_word what, bundle_visit_fn visit, void *user)
{
    static const char dtypes[] = "SELECT dtype, count(DISTINCT case_id) FROM argument"
                                 " WHERE dtype IS NOT NULL GROUP BY dtype ORDER BY dtype";
    static const char *const queries[BUNDLE_WORDS] = {
        [BUNDLE_WORD_OP] = "SELECT op, count(*) FROM \"case\" GROUP BY op ORDER BY op",
        [BUNDLE_WORD_INSTANCE] =
            "SELECT instance, count(*) FROM \"case\" GROUP BY instance ORDER BY instance",
        [BUNDLE_WORD_PHASE] = "SELECT phase, count(*) FROM \"case\" GROUP BY phase ORDER BY phase",
        [BUNDLE_WORD_SHAPES] =
            "SELECT shape_class, count(*) FROM \"case\" GROUP BY shape_class ORDER BY shape_class",
        [BUNDLE_WORD_DTYPE] = dtypes,
    };
    return row_each(store, queries[what], NULL, visit_word, &(struct bundle_visit){visit, user});
}
