// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "library.h"

#include <oneapi/dnnl/dnnl_debug.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

// What a kind is called, and what the library calls its operands.
static const struct {
    const char *name;
    int arguments[LIBRARY_OPERANDS];
} kinds[] = {
    [LIBRARY_REORDER] = {"reorder", {DNNL_ARG_FROM, DNNL_ARG_TO}},
    [LIBRARY_ELTWISE] = {"eltwise", {DNNL_ARG_SRC, DNNL_ARG_DST}},
    [LIBRARY_BINARY] = {"binary", {DNNL_ARG_SRC_0, DNNL_ARG_SRC_1, DNNL_ARG_DST}},
    [LIBRARY_MATMUL] = {"matmul", {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_BIAS}},
    [LIBRARY_REDUCTION] = {"reduction", {DNNL_ARG_SRC, DNNL_ARG_DST}},
    [LIBRARY_LAYER_NORM] = {"layer normalization",
                            {DNNL_ARG_SRC, DNNL_ARG_DST, DNNL_ARG_SCALE, DNNL_ARG_SHIFT}},
    [LIBRARY_SOFTMAX] = {"softmax", {DNNL_ARG_SRC, DNNL_ARG_DST}},
};

int run_is_live(const struct run *run)
{
    return !run->is_trial && run->problem[0] == '\0';
}

void run_refuse(struct run *run, const char *format, ...)
{
    va_list arguments;

    if (run->problem[0] == '\0') {
        va_start(arguments, format);
        (void)vsnprintf(run->problem, sizeof(run->problem), format, arguments);
        va_end(arguments);
    }
}

// 1 where the library is content with a call.
static int check(struct run *run, uint32_t kind, const char *function, dnnl_status_t status)
{
    if (status != dnnl_success) {
        run_refuse(run, "%s of a %s: %s", function, kinds[kind].name, dnnl_status2str(status));
    }
    return status == dnnl_success;
}

#define CHECK(run, kind, function, ...) check(run, kind, #function, function(__VA_ARGS__))

// -- Operands ----------------------------------------------------------------------------------

static dnnl_data_type_t type_of(uint32_t dtype)
{
    return dtype == TAPML_F32    ? dnnl_f32
           : dtype == TAPML_F16  ? dnnl_f16
           : dtype == TAPML_BF16 ? dnnl_bf16
           : dtype == TAPML_I32  ? dnnl_s32
                                 : dnnl_data_type_undef;
}

static void set_dense(struct view *view)
{
    int64_t stride = 1;

    for (int32_t axis = view->rank; axis-- > 0; stride *= view->shape[axis]) {
        view->stride[axis] = stride;
    }
}

void operand_move(struct operand *operand, int64_t elements)
{
    const size_t bytes = dnnl_data_type_size((dnnl_data_type_t)operand->view.type);

    if (operand->address != NULL) {
        operand->address = (char *)operand->address + elements * (int64_t)bytes;
    }
}

void operand_raise(struct operand *operand, int32_t rank)
{
    const struct view given = operand->view;

    for (int32_t axis = rank; given.rank > 0 && axis-- > 0;) {
        const int32_t from = axis - (rank - given.rank);

        operand->view.shape[axis] = from >= 0 ? given.shape[from] : 1;
        operand->view.stride[axis] = from >= 0 ? given.stride[from] : 0;
        operand->view.rank = rank;
    }
}

struct operand run_operand(struct run *run, const tapml_tensor *tensor)
{
    struct operand operand = {.address = NULL};

    if (tensor == NULL) {
        return operand;
    }
    if (tensor->encoding != NULL || tensor->next != NULL) {
        run_refuse(run, "the library does not read %s",
                   tensor->encoding != NULL ? tensor->encoding->id : "a weight in panels");
    }
    operand.view.type = (int32_t)type_of(tensor->dtype);
    operand.view.rank = (int32_t)tensor->rank;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        operand.view.shape[i] = tensor->shape[i];
    }
    set_dense(&operand.view);
    for (uint32_t i = 0; tensor->stride != NULL && i < tensor->rank; i++) {
        operand.view.stride[i] = tensor->stride[i];
    }
    operand.address = run->is_trial ? NULL : memory_at(tensor);
    return operand;
}

struct operand run_scratch(struct run *run, enum library_scratch scratch, struct view view)
{
    const tapml_host_core *core = run->object->core;
    void **data = &run->library->scratch[scratch].data;
    size_t *size = &run->library->scratch[scratch].bytes;
    size_t bytes = dnnl_data_type_size((dnnl_data_type_t)view.type);

    set_dense(&view);
    for (int32_t i = 0; i < view.rank; i++) {
        bytes *= (size_t)view.shape[i];
    }
    if (run_is_live(run) && *size < bytes) {
        if (*data != NULL) {
            core->free(run->object->host, *data, *size, MEMORY_OBJECT_ALIGN);
        }
        *data = core->alloc(run->object->host, bytes, MEMORY_OBJECT_ALIGN);
        *size = *data != NULL ? bytes : 0;
        if (*data == NULL) {
            run_refuse(run, "no memory for %zu bytes", bytes);
        }
    }
    return (struct operand){view, run_is_live(run) ? *data : NULL};
}

struct operand run_convert(struct run *run,
                           const struct operand *operand,
                           dnnl_data_type_t type,
                           enum library_scratch scratch)
{
    const struct view *view = &operand->view;
    struct operand converted = *operand;

    if (view->rank > 0 && view->type != (int32_t)type) {
        converted.view.type = (int32_t)type;
        converted = run_scratch(run, scratch, converted.view);
        if (view->rank == 2 && view->stride[0] < view->stride[1]) { // The same order of elements.
            converted.view.stride[0] = 1;
            converted.view.stride[1] = view->shape[0];
        }
        run_step(run, &(struct step){.kind = LIBRARY_REORDER, .operands = {operand, &converted}});
    }
    return converted;
}

// -- Primitives --------------------------------------------------------------------------------

union description {
    dnnl_eltwise_desc_t eltwise;
    dnnl_binary_desc_t binary;
    dnnl_matmul_desc_t matmul;
    dnnl_reduction_desc_t reduction;
    dnnl_layer_normalization_desc_t layer_norm;
    dnnl_softmax_v2_desc_t softmax;
};

static int describe(struct run *run,
                    const struct recipe *recipe,
                    const dnnl_memory_desc_t *of,
                    union description *out)
{
    const dnnl_alg_kind_t algorithm = (dnnl_alg_kind_t)recipe->algorithm;
    const struct view *views = recipe->views;
    const uint32_t kind = recipe->kind;
    float alpha, beta;

    memcpy(&alpha, &recipe->alpha, sizeof(alpha));
    memcpy(&beta, &recipe->beta, sizeof(beta));
    switch ((enum library_kind)kind) {
    case LIBRARY_ELTWISE:
        return CHECK(run, kind, dnnl_eltwise_forward_desc_init, &out->eltwise,
                     dnnl_forward_inference, algorithm, &of[0], alpha, beta);
    case LIBRARY_BINARY:
        return CHECK(run, kind, dnnl_binary_desc_init, &out->binary, algorithm, &of[0], &of[1],
                     &of[2]);
    case LIBRARY_MATMUL:
        return CHECK(run, kind, dnnl_matmul_desc_init, &out->matmul, &of[0], &of[1],
                     views[3].rank > 0 ? &of[3] : NULL, &of[2]);
    case LIBRARY_REDUCTION:
        return CHECK(run, kind, dnnl_reduction_desc_init, &out->reduction, algorithm, &of[0],
                     &of[1], 0, 0);
    case LIBRARY_LAYER_NORM:
        return CHECK(run, kind, dnnl_layer_normalization_forward_desc_init, &out->layer_norm,
                     dnnl_forward_inference, &of[0], NULL, alpha,
                     (views[2].rank > 0 ? (unsigned)dnnl_use_scale : 0) |
                         (views[3].rank > 0 ? (unsigned)dnnl_use_shift : 0));
    case LIBRARY_SOFTMAX:
        return CHECK(run, kind, dnnl_softmax_v2_forward_desc_init, &out->softmax,
                     dnnl_forward_inference, dnnl_softmax_accurate, &of[0], &of[1],
                     views[0].rank - 1);
    case LIBRARY_REORDER:
        break;
    }
    return 0;
}

static int make_primitive(struct run *run,
                          const struct recipe *recipe,
                          const dnnl_memory_desc_t *of,
                          dnnl_primitive_t *out_primitive)
{
    const uint32_t kind = recipe->kind;
    dnnl_engine_t engine = run->library->engine;
    dnnl_primitive_desc_t chosen = NULL;
    union description description;
    const int is_good =
        (kind == LIBRARY_REORDER ? CHECK(run, kind, dnnl_reorder_primitive_desc_create, &chosen,
                                         &of[0], engine, &of[1], engine, NULL)
                                 : describe(run, recipe, of, &description) &&
                                       CHECK(run, kind, dnnl_primitive_desc_create, &chosen,
                                             &description, NULL, engine, NULL)) &&
        CHECK(run, kind, dnnl_primitive_create, out_primitive, chosen);

    (void)dnnl_primitive_desc_destroy(chosen);
    return is_good;
}

static void forget(struct entry *entry)
{
    for (int i = 0; i < LIBRARY_OPERANDS; i++) {
        (void)dnnl_memory_destroy(entry->memories[i]);
    }
    (void)dnnl_primitive_destroy(entry->primitive);
    memset(entry, 0, sizeof(*entry));
}

static int make_entry(struct run *run, const struct recipe *recipe, struct entry *entry)
{
    dnnl_memory_desc_t of[LIBRARY_OPERANDS];

    forget(entry);
    for (int i = 0; i < LIBRARY_OPERANDS; i++) {
        const struct view *view = &recipe->views[i];

        if (view->rank > 0 &&
            (!CHECK(run, recipe->kind, dnnl_memory_desc_init_by_strides, &of[i], view->rank,
                    view->shape, (dnnl_data_type_t)view->type, view->stride) ||
             !CHECK(run, recipe->kind, dnnl_memory_create, &entry->memories[i], &of[i],
                    run->library->engine, DNNL_MEMORY_NONE))) {
            return 0;
        }
    }
    return make_primitive(run, recipe, of, &entry->primitive);
}

static struct entry *find_entry(struct run *run, const struct recipe *recipe)
{
    struct library *library = run->library;
    const uint64_t hash = XXH3_64bits(recipe, sizeof(*recipe));
    struct entry *oldest = &library->entries[0];

    library->steps++;
    for (int i = 0; i < LIBRARY_ENTRIES; i++) {
        struct entry *entry = &library->entries[i];

        if (entry->used != 0 && entry->hash == hash &&
            memcmp(&entry->recipe, recipe, sizeof(*recipe)) == 0) {
            entry->used = library->steps;
            return entry;
        }
        oldest = entry->used < oldest->used ? entry : oldest;
    }
    if (!make_entry(run, recipe, oldest)) {
        forget(oldest);
        return NULL;
    }
    oldest->recipe = *recipe;
    oldest->hash = hash;
    oldest->used = library->steps;
    return oldest;
}

static void execute(struct run *run, const struct step *step, const struct entry *entry)
{
    const uint32_t kind = entry->recipe.kind;
    dnnl_stream_t stream = run->library->stream;
    dnnl_exec_arg_t arguments[LIBRARY_OPERANDS];
    int count = 0, is_good = 1;

    for (int i = 0; i < LIBRARY_OPERANDS && is_good; i++) {
        if (entry->memories[i] != NULL) {
            is_good = CHECK(run, kind, dnnl_memory_set_data_handle, entry->memories[i],
                            step->operands[i]->address);
            arguments[count++] = (dnnl_exec_arg_t){kinds[kind].arguments[i], entry->memories[i]};
        }
    }
    (void)(is_good &&
           CHECK(run, kind, dnnl_primitive_execute, entry->primitive, stream, count, arguments) &&
           CHECK(run, kind, dnnl_stream_wait, stream));
}

void run_step(struct run *run, const struct step *step)
{
    struct recipe recipe = {.kind = step->kind, .algorithm = step->algorithm};

    memcpy(&recipe.alpha, &step->alpha, sizeof(recipe.alpha));
    memcpy(&recipe.beta, &step->beta, sizeof(recipe.beta));
    for (int i = 0; i < LIBRARY_OPERANDS; i++) {
        if (step->operands[i] != NULL) {
            recipe.views[i] = step->operands[i]->view;
        }
    }
    if (recipe.kind == LIBRARY_REDUCTION &&
        memcmp(recipe.views[0].shape, recipe.views[1].shape, sizeof(dnnl_dims_t)) == 0) {
        recipe.kind = LIBRARY_REORDER; // The library reduces no axes of one element.
        recipe.algorithm = 0;
    }
    const struct entry *entry = run->problem[0] == '\0' ? find_entry(run, &recipe) : NULL;

    if (entry != NULL && run_is_live(run)) {
        execute(run, step, entry);
    }
}

int library_open(struct library *library, char problem[LIBRARY_PROBLEM])
{
    dnnl_status_t status = dnnl_engine_create(&library->engine, dnnl_cpu, 0);
    const char *function = status == dnnl_success ? "dnnl_stream_create" : "dnnl_engine_create";

    (void)pthread_mutex_init(&library->lock, NULL); // Never fails on Linux.
    if (status == dnnl_success) {
        status = dnnl_stream_create(&library->stream, library->engine, dnnl_stream_default_flags);
    }
    (void)snprintf(problem, LIBRARY_PROBLEM, "%s: %s", function, dnnl_status2str(status));
    return status == dnnl_success;
}

void library_close(struct library *library, const struct memory_object *object)
{
    for (int i = 0; i < LIBRARY_ENTRIES; i++) {
        forget(&library->entries[i]);
    }
    for (int i = 0; i < SCRATCH_COUNT; i++) {
        if (library->scratch[i].data != NULL) {
            object->core->free(object->host, library->scratch[i].data, library->scratch[i].bytes,
                               MEMORY_OBJECT_ALIGN);
        }
    }
    (void)dnnl_stream_destroy(library->stream);
    (void)dnnl_engine_destroy(library->engine);
    (void)pthread_mutex_destroy(&library->lock);
}
