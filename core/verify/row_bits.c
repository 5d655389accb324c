// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/row_bits.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "carve/fetcher.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#include <stdio.h>
#include <string.h>

enum { NAME_TEXT = 192 };

// What one parameter of an instance has left.
struct row_bits_line {
    char instance[NAME_TEXT]; // Cut where it is longer.
    char op[NAME_TEXT];
    uint32_t param;
    struct row_bits_hash {
        int is_there;
        struct hash hash;
    } * tokens;
    size_t capacity;
};

struct row_bits {
    struct backend_wrapper wrapper; // First: a `struct backend *` is a `struct row_bits *`.
    struct backend_vt vt;
    struct fetcher fetcher;
    struct row_bits_run *run; // Or NULL.
    int64_t position, count;
};

void row_bits_run_release(struct row_bits_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        alloc_free(run->lines[i].tokens);
    }
    alloc_free(run->lines);
    *run = (struct row_bits_run){.lines = NULL};
}

static struct row_bits_line *
find_line(const struct row_bits_run *run, const char *instance, uint32_t param)
{
    for (size_t i = 0; i < run->count; i++) {
        if (run->lines[i].param == param &&
            strncmp(run->lines[i].instance, instance, NAME_TEXT - 1) == 0) {
            return &run->lines[i];
        }
    }
    return NULL;
}

static tapml_status add_line(struct row_bits_run *run,
                             const struct backend_call *call,
                             uint32_t param,
                             struct row_bits_line **out_line)
{
    void *lines = run->lines;
    if (!alloc_grow(&lines, &run->capacity, run->count, sizeof(*run->lines))) {
        return status_no_memory();
    }
    run->lines = lines;
    *out_line = &run->lines[run->count++];
    **out_line = (struct row_bits_line){.param = param};
    (void)snprintf((*out_line)->instance, NAME_TEXT, "%s", call->instance);
    (void)snprintf((*out_line)->op, NAME_TEXT, "%s", call->op->name);
    return TAPML_OK;
}

static tapml_status
set_token(struct row_bits_line *line, int64_t token, const void *data, uint64_t bytes)
{
    while (line->capacity <= (size_t)token) {
        const size_t before = line->capacity;
        void *tokens = line->tokens;
        if (!alloc_grow(&tokens, &line->capacity, line->capacity, sizeof(*line->tokens))) {
            return status_no_memory();
        }
        line->tokens = tokens;
        memset(line->tokens + before, 0, (line->capacity - before) * sizeof(*line->tokens));
    }
    line->tokens[token] = (struct row_bits_hash){1, hash_bytes(data, (size_t)bytes)};
    return TAPML_OK;
}

// What of an output is noted: rows of tokens, or one piece for the last of them.
struct noted {
    tapml_tensor tensor;
    int64_t shape[TAPML_MAX_RANK];
    int64_t rows;
    uint64_t bytes;
};

static uint64_t stride_of(const tapml_tensor *tensor)
{
    int64_t dense[TAPML_MAX_RANK] = {0};
    if (!tensor->stride) {
        shape_dense_strides(tensor->shape, tensor->rank, dense);
    }
    return (uint64_t)(tensor->stride ? tensor->stride[0] : dense[0]) * dtype_bytes(tensor->dtype);
}

// 0: nothing of it.
static int describe(const struct row_bits *bits,
                    const struct backend_call *call,
                    uint32_t param,
                    struct noted *out_noted)
{
    const tapml_tensor *tensor = call->args[param].u.p;
    const struct infer_region *region = &call->inferred->regions[param];
    const int is_state = (call->inferred->schema->params[param].effects &
                          (TAPML_E_STATE_READ | TAPML_E_STATE_WRITE)) != 0;
    const int has_region = is_state && call->inferred->schema->params[param].region;
    int64_t count = 0;
    if (!tensor || tensor->rank == 0 || tensor->encoding || tensor->next) {
        return 0;
    }
    *out_noted = (struct noted){.tensor = *tensor, .rows = bits->count};
    memcpy(out_noted->shape, tensor->shape, tensor->rank * sizeof(*tensor->shape));
    if (has_region) {
        out_noted->shape[0] = region->end - region->begin;
        out_noted->tensor.offset += (uint64_t)region->begin * stride_of(tensor);
    } else if (is_state) {
        out_noted->rows = 1;
    }
    out_noted->tensor.shape = out_noted->shape;
    if ((!is_state || has_region) && out_noted->shape[0] != bits->count) {
        return 0;
    }
    if (shape_count(out_noted->shape, tensor->rank, &count) != TAPML_OK || count == 0) {
        return 0;
    }
    out_noted->bytes = (uint64_t)count * dtype_bytes(tensor->dtype);
    return 1;
}

static tapml_status note_rows(struct row_bits *bits,
                              const struct backend_call *call,
                              uint32_t param,
                              const struct noted *noted,
                              const unsigned char *data)
{
    struct row_bits_line *line = find_line(bits->run, call->instance, param);
    const uint64_t row_bytes = noted->bytes / (uint64_t)noted->rows;
    if (!line) {
        TAPML_TRY(add_line(bits->run, call, param, &line));
    }
    for (int64_t i = 0; i < noted->rows; i++) {
        TAPML_TRY(set_token(line, bits->position + bits->count - noted->rows + i,
                            data + (uint64_t)i * row_bytes, row_bytes));
    }
    return TAPML_OK;
}

static tapml_status
note_output(struct row_bits *bits, const struct backend_call *call, uint32_t param)
{
    struct noted noted;
    if (!describe(bits, call, param, &noted)) {
        return TAPML_OK;
    }
    unsigned char *data = alloc_array(noted.bytes, 1);
    if (!data) {
        return status_no_memory();
    }
    tapml_status status = fetcher_tensor(&bits->fetcher, &noted.tensor, noted.bytes, data);
    status = fetcher_end(&bits->fetcher, status);
    if (status == TAPML_OK) {
        status = note_rows(bits, call, param, &noted, data);
    }
    alloc_free(data);
    return status;
}

static tapml_status note_call(struct backend *backend, const struct backend_call *call)
{
    struct row_bits *bits = (struct row_bits *)backend;
    TAPML_TRY(backend_call(bits->wrapper.inner, call));
    if (!bits->run || !call->instance) {
        return TAPML_OK;
    }
    for (uint32_t i = 0; i < call->op->n_params; i++) {
        if (call->args[i].kind == TAPML_P_TENSOR_OUT ||
            call->args[i].kind == TAPML_P_TENSOR_INOUT) {
            TAPML_TRY(note_output(bits, call, i));
        }
    }
    return TAPML_OK;
}

static void release(struct backend *backend)
{
    struct row_bits *bits = (struct row_bits *)backend;
    fetcher_release(&bits->fetcher);
    alloc_free(bits);
}

static tapml_status make_link(void *user,
                              const struct place_settings *settings,
                              struct backend *inner,
                              struct backend **out_backend)
{
    struct row_bits **out_bits = user;
    struct row_bits *bits = alloc_new(sizeof(*bits));
    (void)settings;
    if (!bits) {
        return status_no_memory();
    }
    bits->vt = backend_forward_vt;
    bits->vt.call = note_call;
    bits->vt.release = release;
    bits->wrapper = (struct backend_wrapper){.backend = {.vt = &bits->vt}, .inner = inner};
    fetcher_init(&bits->fetcher, inner);
    *out_bits = bits;
    *out_backend = &bits->wrapper.backend;
    return TAPML_OK;
}

struct place_link row_bits_link(struct row_bits **out_bits)
{
    return (struct place_link){.kind = PLACE_TRACE, .create = make_link, .user = out_bits};
}

void row_bits_note(struct row_bits *bits, struct row_bits_run *run)
{
    bits->run = run;
}

void row_bits_tokens(struct row_bits *bits, int64_t position, int64_t count)
{
    bits->position = position;
    bits->count = count;
}

// The first token from `begin` on that both lines have, with other bits; -1: none.
static int64_t
find_token(const struct row_bits_line *one, const struct row_bits_line *other, int64_t begin)
{
    for (size_t i = (size_t)begin; i < one->capacity && i < other->capacity; i++) {
        if (one->tokens[i].is_there && other->tokens[i].is_there &&
            !hash_equal(one->tokens[i].hash, other->tokens[i].hash)) {
            return (int64_t)i;
        }
    }
    return -1;
}

int row_bits_compare(const struct row_bits_run *one,
                     const struct row_bits_run *other,
                     int64_t begin,
                     struct row_bits_difference *out_difference)
{
    for (size_t i = 0; i < other->count; i++) {
        const struct row_bits_line *line = &other->lines[i];
        const struct row_bits_line *same = find_line(one, line->instance, line->param);
        const int64_t token = same ? find_token(same, line, begin) : -1;
        if (token >= 0) {
            *out_difference = (struct row_bits_difference){line->instance, line->op, token};
            return 1;
        }
    }
    return 0;
}
