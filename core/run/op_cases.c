// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/op_cases.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "model/checkpoint.h"
#include "store/case.h"
#include "store/label.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What is asked for, in the words of the source.
struct op_search {
    const char *op;
    char *found; // Its full name, of `size` bytes; "" until it was seen.
    size_t size;
    struct text others; // The ops of the source, each once.
};

int op_cases_is_op(const char *name, const char *asked)
{
    static const char prefix[] = "tapml.";

    return strcmp(name, asked) == 0 || (strncmp(name, prefix, sizeof(prefix) - 1) == 0 &&
                                        strcmp(name + sizeof(prefix) - 1, asked) == 0);
}

static tapml_status look(void *user, const char *op, const char *instance)
{
    struct op_search *search = user;

    (void)instance;
    if (op_cases_is_op(op, search->op)) {
        (void)snprintf(search->found, search->size, "%s", op);
    } else if (search->others.length == 0 || strstr(search->others.data, op) == NULL) {
        text_format(&search->others, " %s", op);
    }
    return text_status(&search->others);
}

// Sets the full name of the op.
static tapml_status find_op(struct store *source, const char *op, struct op_cases *cases)
{
    struct op_search search = {.op = op, .found = cases->op, .size = sizeof(cases->op)};

    text_init(&search.others);
    tapml_status status = label_visit_instances(source, look, &search);

    if (status == TAPML_OK && *cases->op == '\0') {
        status =
            status_fail(TAPML_NOT_FOUND, "%s has no case of '%s', it has%s", store_path(source), op,
                        search.others.length > 0 ? search.others.data : " none at all");
    }
    text_release(&search.others);
    return status;
}

// The stored bytes of a weight; NULL where neither the case nor the checkpoint has them.
static const void *find_bytes(const struct op_cases_options *options,
                              const struct case_argument *argument)
{
    const struct checkpoint_tensor *weight =
        argument->before == NULL && options->checkpoint != NULL
            ? checkpoint_find(options->checkpoint, argument->origin)
            : NULL;
    const int is_same = weight != NULL && weight->tensor.encoding == NULL &&
                        weight->tensor.dtype == argument->dtype &&
                        weight->bytes == argument->base_bytes;

    return is_same ? weight->data : argument->before;
}

// Gives a plain weight of fewer bits its numbers as f32.
static tapml_status
widen(const struct op_cases_options *options, struct arena *arena, struct case_argument *argument)
{
    const uint64_t bytes = dtype_bytes(argument->dtype);
    const int is_narrow = argument->dtype == TAPML_F16 || argument->dtype == TAPML_BF16;

    if ((argument->effects & TAPML_E_WEIGHT) == 0 || argument->encoding != NULL || !is_narrow) {
        return TAPML_OK;
    }
    const void *data = find_bytes(options, argument);
    const size_t count = (size_t)(argument->base_bytes / bytes);
    float *wide = data != NULL ? arena_array(arena, count, sizeof(*wide)) : NULL;

    if (wide == NULL) {
        return data != NULL
                   ? status_no_memory()
                   : status_fail(TAPML_INVALID,
                                 "weight '%.100s' is not there to be widened, give --model",
                                 argument->origin);
    }
    for (size_t i = 0; i < count; i++) {
        uint16_t bits = 0;

        memcpy(&bits, (const unsigned char *)data + i * sizeof(bits), sizeof(bits));
        wide[i] =
            argument->dtype == TAPML_F16 ? convert_f16_to_f32(bits) : convert_bf16_to_f32(bits);
    }
    argument->before = wide;
    argument->dtype = TAPML_F32;
    argument->offset_bytes = argument->offset_bytes / bytes * sizeof(*wide);
    argument->content_bytes = argument->base_bytes = count * sizeof(*wide);
    return TAPML_OK;
}

static tapml_status widen_all(const struct op_cases_options *options,
                              struct arena *arena,
                              const struct carved_case *item)
{
    for (uint32_t i = 0; options->widens && i < item->argument_count; i++) {
        TAPML_TRY(widen(options, arena, &item->arguments[i]));
    }
    return TAPML_OK;
}

static tapml_status
copy_case(const struct op_cases_options *options, int64_t id, struct op_cases *cases)
{
    struct store *source = options->source;
    struct arena *arena = arena_create();
    struct carved_case item;

    if (arena == NULL) {
        return status_no_memory();
    }
    tapml_status status = label_read(source, id, arena, &item);

    if (status == TAPML_OK && (options->op == NULL || strcmp(item.op_name, cases->op) == 0)) {
        status = stored_case_load(source, id, arena, &item);
        if (status == TAPML_OK) {
            status = widen_all(options, arena, &item);
        }
        if (status == TAPML_OK) {
            status = stored_case_add(cases->store, &item);
            cases->count++;
        }
    }
    arena_destroy(arena);
    return status;
}

static tapml_status copy_all(const struct op_cases_options *options, struct op_cases *cases)
{
    int64_t *ids = NULL;
    size_t count = 0;

    TAPML_TRY(options->ids != NULL ? TAPML_OK : stored_case_ids(options->source, &ids, &count));
    const int64_t *chosen = options->ids != NULL ? options->ids : ids;
    tapml_status status = store_begin(cases->store);

    count = options->ids != NULL ? options->id_count : count;
    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        status = copy_case(options, chosen[i], cases);
    }
    alloc_free(ids);
    status = status == TAPML_OK ? store_commit(cases->store) : status;
    if (status != TAPML_OK) {
        store_rollback(cases->store);
    }
    return status;
}

static tapml_status make_store(struct op_cases *cases)
{
    static const char *const endings[OP_CASES_FILES] = {"", "-wal", "-shm", "-journal"};

    TAPML_TRY(temporary_folder_make("tapml-judge", cases->folder));
    for (size_t i = 0; i < OP_CASES_FILES; i++) {
        (void)snprintf(cases->paths[i], sizeof(cases->paths[i]), "%s/cases.tapmlrun%s",
                       cases->folder, endings[i]);
        cases->files[i] = cases->paths[i];
    }
    cases->scratch = (struct interrupt_scratch){
        .folder = cases->folder, .files = cases->files, .file_count = OP_CASES_FILES};
    interrupt_set_scratch(&cases->scratch);
    return store_open(cases->paths[0], 1, &cases->store);
}

tapml_status op_cases_copy(const struct op_cases_options *options, struct op_cases *out_cases)
{
    *out_cases = (struct op_cases){.store = NULL};
    if (options->op != NULL) {
        TAPML_TRY(find_op(options->source, options->op, out_cases));
    }
    TAPML_TRY(make_store(out_cases));
    return copy_all(options, out_cases);
}

tapml_status op_cases_create(struct op_cases *out_cases)
{
    *out_cases = (struct op_cases){.store = NULL};
    return make_store(out_cases);
}

void op_cases_close(struct op_cases *cases)
{
    store_close(cases->store);
    if (cases->folder[0] != '\0') {
        interrupt_set_scratch(NULL);
        for (size_t i = 0; i < OP_CASES_FILES; i++) {
            (void)unlink(cases->paths[i]); // Most of them are not there.
        }
        (void)rmdir(cases->folder);
    }
    *cases = (struct op_cases){.store = NULL};
}
