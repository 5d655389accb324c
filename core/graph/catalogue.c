// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/catalogue.h"

#include "base/alloc.h"
#include "base/table.h"
#include "graph/expression.h"
#include "tensor/dtype.h"

#include <stdio.h>
#include <string.h>

enum { NAME_MAX_BYTES = 128 };

struct entry {
    const tapml_op *op;
    char *origin;
};

struct catalogue {
    struct entry *entries;
    size_t count;
    size_t capacity;
    struct table index; // "tapml.rms_norm@1" to the place in `entries`.
};

tapml_status catalogue_create(struct catalogue **out_catalogue)
{
    struct catalogue *catalogue = alloc_new(sizeof(*catalogue));

    if (catalogue == NULL) {
        return status_no_memory();
    }
    table_init(&catalogue->index);
    *out_catalogue = catalogue;
    return TAPML_OK;
}

void catalogue_destroy(struct catalogue *catalogue)
{
    if (catalogue == NULL) {
        return;
    }
    for (size_t i = 0; i < catalogue->count; i++) {
        alloc_free(catalogue->entries[i].origin);
    }
    alloc_free(catalogue->entries);
    table_release(&catalogue->index);
    alloc_free(catalogue);
}

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int is_word(const char *text, const char *others)
{
    if (text == NULL || !is_letter(text[0])) {
        return 0;
    }
    for (; *text != '\0'; text++) {
        if (!is_letter(*text) && !(*text >= '0' && *text <= '9') && strchr(others, *text) == NULL) {
            return 0;
        }
    }
    return 1;
}

static int is_tensor(const tapml_param *param)
{
    return param->kind >= TAPML_P_TENSOR_IN && param->kind <= TAPML_P_TENSORS_IN;
}

static const tapml_param *find_tensor(const tapml_op *op, const char *name)
{
    for (uint32_t p = 0; p < op->n_params; p++) {
        if (is_tensor(op->params[p]) && strcmp(op->params[p]->name, name) == 0) {
            return op->params[p];
        }
    }
    return NULL;
}

static tapml_status check_effects(const tapml_param *param)
{
    const uint32_t known =
        TAPML_E_OPTIONAL | TAPML_E_WEIGHT | TAPML_E_STATE_READ | TAPML_E_STATE_WRITE;
    const int is_input = param->kind == TAPML_P_TENSOR_IN || param->kind == TAPML_P_TENSORS_IN;

    if ((param->effects & ~known) != 0) {
        return status_fail(TAPML_INVALID, "effects 0x%x are unknown", param->effects & ~known);
    }
    if (((param->effects & TAPML_E_WEIGHT) != 0 && !is_input) ||
        ((param->effects & TAPML_E_STATE_WRITE) != 0 && param->kind != TAPML_P_TENSOR_INOUT) ||
        ((param->effects & TAPML_E_STATE_READ) != 0 && param->kind != TAPML_P_TENSOR_IN &&
         param->kind != TAPML_P_TENSOR_INOUT)) {
        return status_fail(TAPML_INVALID, "effects 0x%x do not go with kind %u", param->effects,
                           param->kind);
    }
    return TAPML_OK;
}

// A list of types, or the name of another parameter, which has a list.
static tapml_status check_dtype(const tapml_op *op, const tapml_param *param)
{
    const char *text = param->dtype != NULL ? param->dtype : "";
    const tapml_param *named = find_tensor(op, text);

    if (named != NULL) {
        return named != param && named->dtype != NULL && find_tensor(op, named->dtype) == NULL
                   ? TAPML_OK
                   : status_fail(TAPML_INVALID, "dtype '%s' leads to no list of types", text);
    }
    if (*text == '\0') {
        return status_fail(TAPML_INVALID, "has no dtype");
    }
    while (*text != '\0') {
        char word[16] = "";
        const size_t length = strcspn(text, " ");

        if (length < sizeof(word)) {
            memcpy(word, text, length);
        }
        if (dtype_find(word) == 0 && strcmp(word, "encoded") != 0) {
            return status_fail(TAPML_INVALID, "dtype '%.*s' is unknown", (int)length, text);
        }
        text += length;
        text += strspn(text, " ");
    }
    return TAPML_OK;
}

static tapml_status check_shape(const tapml_op *op, const tapml_param *param)
{
    if (param->shape == NULL) {
        return status_fail(TAPML_INVALID, "has no shape");
    }

    const tapml_param *named = find_tensor(op, param->shape);

    if (named == NULL) {
        return expression_check(param->shape);
    }
    return named != param && named->shape != NULL && find_tensor(op, named->shape) == NULL
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "shape '%s' leads to no shape", param->shape);
}

static tapml_status check_layout(const tapml_param *param)
{
    const char *layout = param->layout != NULL ? param->layout : "";

    return strcmp(layout, "dense") == 0 || strcmp(layout, "rows") == 0 ||
                   strcmp(layout, "strided") == 0
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "layout '%s' is none of dense rows strided", layout);
}

static tapml_status check_region(const tapml_param *param)
{
    if (param->region == NULL) {
        return TAPML_OK;
    }
    if ((param->effects & (TAPML_E_STATE_READ | TAPML_E_STATE_WRITE)) == 0) {
        return status_fail(TAPML_INVALID, "region '%s' of what is no state", param->region);
    }
    return strstr(param->region, "..") != NULL
               ? expression_check(param->region)
               : status_fail(TAPML_INVALID, "region '%s' is not 'A .. B'", param->region);
}

static tapml_status check_param(const tapml_op *op, const tapml_param *param)
{
    if (param->kind < TAPML_P_TENSOR_IN || param->kind > TAPML_P_F64) {
        return status_fail(TAPML_INVALID, "kind %u is unknown", param->kind);
    }
    TAPML_TRY(check_effects(param));
    TAPML_TRY(check_region(param));
    if (!is_tensor(param)) {
        return TAPML_OK;
    }
    TAPML_TRY(check_dtype(op, param));
    TAPML_TRY(check_shape(op, param));
    return check_layout(param);
}

// Sizes and names first, so that all that follows can read them.
static tapml_status check_names(const tapml_op *op)
{
    if (op->n_params > CATALOGUE_PARAMS_MAX || (op->n_params > 0 && op->params == NULL)) {
        return status_fail(TAPML_INVALID, "%u parameters, at most %d are allowed", op->n_params,
                           CATALOGUE_PARAMS_MAX);
    }
    for (uint32_t p = 0; p < op->n_params; p++) {
        const tapml_param *param = op->params[p];

        if (!TAPML_HAS(tapml_param, param, domain)) {
            return status_fail(TAPML_ABI_MISMATCH, "parameter %u is too short a struct", p);
        }
        if (!is_word(param->name, "_") || strlen(param->name) > 31) {
            return status_fail(TAPML_INVALID, "parameter %u has no name of 1 to 31 letters", p);
        }
        for (uint32_t other = 0; other < p; other++) {
            if (strcmp(op->params[other]->name, param->name) == 0) {
                return status_fail(TAPML_INVALID, "two parameters are named '%s'", param->name);
            }
        }
    }
    return TAPML_OK;
}

static tapml_status check_op(const tapml_op *op)
{
    static const char *const classes[] = {"exact", "elementwise", "reduction"};
    int is_class = 0;

    for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
        is_class = is_class || (op->tolerance != NULL && strcmp(op->tolerance, classes[i]) == 0);
    }
    if (!is_class) {
        return status_fail(TAPML_INVALID, "tolerance '%s' is none of exact elementwise reduction",
                           op->tolerance != NULL ? op->tolerance : "");
    }
    TAPML_TRY(check_names(op));
    for (uint32_t p = 0; p < op->n_params; p++) {
        const tapml_status status = check_param(op, op->params[p]);

        if (status != TAPML_OK) {
            return status_explain(status, "parameter '%s'", op->params[p]->name);
        }
    }
    return op->flops != NULL ? expression_check(op->flops) : TAPML_OK;
}

static void key_text(const char *name, uint32_t version, char *out_key, size_t size)
{
    snprintf(out_key, size, "%s@%u", name, version);
}

static tapml_status
add_new(struct catalogue *catalogue, const tapml_op *op, const char *origin, const char *key)
{
    if (!alloc_grow((void **)&catalogue->entries, &catalogue->capacity, catalogue->count,
                    sizeof(*catalogue->entries))) {
        return status_no_memory();
    }

    char *copy = alloc_text(origin);

    if (copy == NULL) {
        return status_no_memory();
    }
    catalogue->entries[catalogue->count] = (struct entry){op, copy};
    catalogue->count++;
    return table_set(&catalogue->index, key, catalogue->count - 1);
}

tapml_status catalogue_add(struct catalogue *catalogue, const tapml_op *op, const char *origin)
{
    char key[NAME_MAX_BYTES + 16];
    size_t known = 0;

    if (!TAPML_HAS(tapml_op, op, expands)) {
        return status_fail(TAPML_ABI_MISMATCH, "%s brings an op that is too short a struct",
                           origin);
    }
    if (!is_word(op->name, "._") || strchr(op->name, '.') == NULL ||
        strlen(op->name) > NAME_MAX_BYTES || op->version == 0) {
        return status_fail(TAPML_INVALID, "%s brings an op without a name such as 'org.example.op'",
                           origin);
    }

    tapml_status status = check_op(op);

    if (status != TAPML_OK) {
        return status_explain(status, "op '%s' of %s", op->name, origin);
    }
    key_text(op->name, op->version, key, sizeof(key));
    if (!table_find(&catalogue->index, key, &known)) {
        return add_new(catalogue, op, origin, key);
    }
    status = catalogue_same_schema(catalogue->entries[known].op, op);
    return status == TAPML_OK ? TAPML_OK
                              : status_explain(status, "op '%s' of %s is not that of %s", op->name,
                                               origin, catalogue->entries[known].origin);
}

const tapml_op *
catalogue_find(const struct catalogue *catalogue, const char *name, uint32_t version)
{
    char key[NAME_MAX_BYTES + 16];
    size_t at = 0;

    if (name == NULL || strlen(name) > NAME_MAX_BYTES) {
        return NULL;
    }
    key_text(name, version, key, sizeof(key));
    return table_find(&catalogue->index, key, &at) ? catalogue->entries[at].op : NULL;
}

size_t catalogue_count(const struct catalogue *catalogue)
{
    return catalogue->count;
}

const tapml_op *catalogue_at(const struct catalogue *catalogue, size_t index)
{
    return index < catalogue->count ? catalogue->entries[index].op : NULL;
}

static tapml_status same_text(const char *what, const char *ours, const char *theirs)
{
    ours = ours != NULL ? ours : "";
    theirs = theirs != NULL ? theirs : "";
    return strcmp(ours, theirs) == 0
               ? TAPML_OK
               : status_fail(TAPML_ABI_MISMATCH, "%s is '%s', expected '%s'", what, theirs, ours);
}

static tapml_status same_param(const tapml_param *ours, const tapml_param *theirs)
{
    if (!TAPML_HAS(tapml_param, theirs, domain)) {
        return status_fail(TAPML_ABI_MISMATCH, "too short a struct");
    }
    TAPML_TRY(same_text("name", ours->name, theirs->name));
    if (ours->kind != theirs->kind) {
        return status_fail(TAPML_ABI_MISMATCH, "kind is %u, expected %u", theirs->kind, ours->kind);
    }
    if (ours->effects != theirs->effects) {
        return status_fail(TAPML_ABI_MISMATCH, "effects are 0x%x, expected 0x%x", theirs->effects,
                           ours->effects);
    }
    TAPML_TRY(same_text("dtype", ours->dtype, theirs->dtype));
    TAPML_TRY(same_text("shape", ours->shape, theirs->shape));
    TAPML_TRY(same_text("layout", ours->layout, theirs->layout));
    TAPML_TRY(same_text("region", ours->region, theirs->region));
    return same_text("domain", ours->domain, theirs->domain);
}

tapml_status catalogue_same_schema(const tapml_op *ours, const tapml_op *theirs)
{
    if (ours == theirs) {
        return TAPML_OK;
    }
    if (!TAPML_HAS(tapml_op, theirs, expands)) {
        return status_fail(TAPML_ABI_MISMATCH, "op '%s' is too short a struct", ours->name);
    }
    TAPML_TRY(same_text("name", ours->name, theirs->name));
    if (ours->version != theirs->version) {
        return status_fail(TAPML_ABI_MISMATCH, "version is %u, expected %u", theirs->version,
                           ours->version);
    }
    if (ours->n_params != theirs->n_params) {
        return status_fail(TAPML_ABI_MISMATCH, "%u parameters, expected %u", theirs->n_params,
                           ours->n_params);
    }
    for (uint32_t p = 0; p < ours->n_params; p++) {
        const tapml_status status = same_param(ours->params[p], theirs->params[p]);

        if (status != TAPML_OK) {
            return status_explain(status, "parameter %u, '%s'", p + 1, ours->params[p]->name);
        }
    }
    return same_text("tolerance", ours->tolerance, theirs->tolerance);
}

const char *catalogue_short_name(const tapml_op *op)
{
    static const char own[] = "tapml.";
    const size_t length = sizeof(own) - 1;

    return strncmp(op->name, own, length) == 0 ? op->name + length : op->name;
}
