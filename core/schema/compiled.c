// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "schema/compiled.h"

#include "base/arena.h"
#include "schema/expression_compiler.h"
#include "tensor/dtype.h"

#include <stdlib.h>
#include <string.h>

static int is_tensor_kind(uint32_t kind)
{
    return kind >= TAPML_P_TENSOR_IN && kind <= TAPML_P_TENSORS_IN;
}

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// A letter, then letters, digits and '_'.
static int is_word(const char *text)
{
    if (text == NULL || !is_letter(text[0])) {
        return 0;
    }
    for (; *text != '\0'; text++) {
        if (!is_letter(*text) && !(*text >= '0' && *text <= '9') && *text != '_') {
            return 0;
        }
    }
    return 1;
}

// -- Parameters --------------------------------------------------------------------------------

// An op while it is compiled.
struct op_compiler {
    const tapml_op *op;
    struct compiled_op *made;
    struct arena *arena;
};

// The tensor parameter of that name, or COMPILED_NONE.
static uint32_t find_tensor(const tapml_op *op, const char *name)
{
    for (uint32_t p = 0; p < op->n_params; p++) {
        if (is_tensor_kind(op->params[p]->kind) && strcmp(op->params[p]->name, name) == 0) {
            return p;
        }
    }
    return COMPILED_NONE;
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

// One word of a list of types. A word that is listed twice counts once.
static tapml_status add_dtype(struct compiled_param *made, const char *text, size_t length)
{
    char word[16] = "";
    uint32_t dtype = 0;

    if (length < sizeof(word)) {
        memcpy(word, text, length);
    }
    if (strcmp(word, "encoded") == 0) {
        made->takes_encoded = 1;
        return TAPML_OK;
    }
    dtype = dtype_find(word);
    if (dtype == 0) {
        return status_fail(TAPML_INVALID, "dtype '%.*s' is unknown", (int)length, text);
    }
    for (uint32_t i = 0; i < made->dtype_count; i++) {
        if (made->dtypes[i] == dtype) {
            return TAPML_OK;
        }
    }
    if (made->dtype_count == COMPILED_DTYPES_MAX) {
        return status_fail(TAPML_INVALID, "more than %d dtypes", COMPILED_DTYPES_MAX);
    }
    made->dtypes[made->dtype_count++] = dtype;
    return TAPML_OK;
}

// A list of types, or the name of another parameter, which has a list.
static tapml_status compile_dtype(const struct op_compiler *compiler,
                                  const tapml_param *param,
                                  struct compiled_param *made)
{
    const tapml_op *op = compiler->op;
    const char *text = param->dtype != NULL ? param->dtype : "";
    const uint32_t like = find_tensor(op, text);

    made->dtype_like = like;
    if (like != COMPILED_NONE) {
        const tapml_param *named = op->params[like];

        return named != param && named->dtype != NULL &&
                       find_tensor(op, named->dtype) == COMPILED_NONE
                   ? TAPML_OK
                   : status_fail(TAPML_INVALID, "dtype '%s' leads to no list of types", text);
    }
    if (*text == '\0') {
        return status_fail(TAPML_INVALID, "has no dtype");
    }
    while (*text != '\0') {
        const size_t length = strcspn(text, " ");

        TAPML_TRY(add_dtype(made, text, length));
        text += length;
        text += strspn(text, " ");
    }
    return TAPML_OK;
}

static tapml_status
compile(struct op_compiler *compiler, const char *text, const struct expression **out_expression)
{
    return expression_compiler_run(text, &compiler->made->names, compiler->arena, out_expression);
}

// A shape or a sum: one value is asked of it, where a region has two.
static tapml_status compile_single(struct op_compiler *compiler,
                                   const char *what,
                                   const char *text,
                                   const struct expression **out_expression)
{
    TAPML_TRY(compile(compiler, text, out_expression));
    return !expression_is_range(*out_expression)
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "%s '%s' is a range", what, text);
}

static tapml_status
compile_shape(struct op_compiler *compiler, const tapml_param *param, struct compiled_param *made)
{
    const tapml_op *op = compiler->op;

    if (param->shape == NULL) {
        return status_fail(TAPML_INVALID, "has no shape");
    }
    made->shape_like = find_tensor(op, param->shape);
    if (made->shape_like != COMPILED_NONE) {
        const tapml_param *named = op->params[made->shape_like];

        return named != param && named->shape != NULL &&
                       find_tensor(op, named->shape) == COMPILED_NONE
                   ? TAPML_OK
                   : status_fail(TAPML_INVALID, "shape '%s' leads to no shape", param->shape);
    }
    return compile_single(compiler, "shape", param->shape, &made->shape);
}

static tapml_status
compile_region(struct op_compiler *compiler, const tapml_param *param, struct compiled_param *made)
{
    if (param->region == NULL) {
        return TAPML_OK;
    }
    if ((param->effects & (TAPML_E_STATE_READ | TAPML_E_STATE_WRITE)) == 0) {
        return status_fail(TAPML_INVALID, "region '%s' of what is no state", param->region);
    }
    if (strstr(param->region, "..") == NULL) {
        return status_fail(TAPML_INVALID, "region '%s' is not 'A .. B'", param->region);
    }
    return compile(compiler, param->region, &made->region);
}

// "0 | 1 | 4". A list of anything else has no choices here.
static tapml_status
compile_choices(const struct op_compiler *compiler, const char *text, struct compiled_param *made)
{
    double *choices = arena_array(compiler->arena, strlen(text) + 1, sizeof(*choices));
    uint32_t count = 0;

    if (choices == NULL) {
        return status_no_memory();
    }
    for (;;) {
        char *end = NULL;

        choices[count++] = strtod(text, &end);
        if (end == text) {
            return TAPML_OK;
        }
        text = end + strspn(end, " ");
        if (*text == '\0') {
            break;
        }
        if (*text++ != '|') {
            return TAPML_OK;
        }
    }
    made->choices = choices;
    made->choice_count = count;
    return TAPML_OK;
}

// Domains hold more than whole numbers: those stay texts, for the fuzzer. What chooses rows must be
// a range that can be checked.
static tapml_status
compile_domain(struct op_compiler *compiler, const tapml_param *param, struct compiled_param *made)
{
    const struct expression_names names = compiler->made->names;

    if (param->domain == NULL) {
        return TAPML_OK;
    }
    if (strstr(param->domain, "..") == NULL) {
        return compile_choices(compiler, param->domain, made);
    }

    const tapml_status status = compile(compiler, param->domain, &made->domain);

    if (status != TAPML_INVALID || made->kind == TAPML_P_I64) {
        return status;
    }
    compiler->made->names = names;
    return TAPML_OK;
}

static tapml_status compile_param(struct op_compiler *compiler, uint32_t index)
{
    const tapml_param *param = compiler->op->params[index];
    struct compiled_param *made = &compiler->made->params[index];

    made->kind = param->kind;
    made->effects = param->effects;
    made->is_tensor = is_tensor_kind(param->kind);
    made->symbol = param->kind == TAPML_P_I64 ? expression_find(&compiler->made->names, param->name)
                                              : EXPRESSION_NONE;
    made->dtype_like = made->shape_like = COMPILED_NONE;
    TAPML_TRY(check_effects(param));
    if (made->is_tensor) {
        const char *layout = param->layout != NULL ? param->layout : "";

        TAPML_TRY(compile_dtype(compiler, param, made));
        TAPML_TRY(compile_shape(compiler, param, made));
        if (!layout_find(layout, &made->layout)) {
            return status_fail(TAPML_INVALID, "layout '%s' is none of dense rows strided", layout);
        }
    }
    return compile_region(compiler, param, made);
}

static tapml_status explain(tapml_status status, const tapml_param *param)
{
    return status == TAPML_OK ? TAPML_OK : status_explain(status, "parameter '%s'", param->name);
}

// -- Ops ---------------------------------------------------------------------------------------

// Sizes and names first, so that all that follows can read them.
static tapml_status check_names(const tapml_op *op)
{
    if (op->n_params > COMPILED_PARAMS_MAX || (op->n_params > 0 && op->params == NULL)) {
        return status_fail(TAPML_INVALID, "%u parameters, at most %d are allowed", op->n_params,
                           COMPILED_PARAMS_MAX);
    }
    for (uint32_t p = 0; p < op->n_params; p++) {
        const tapml_param *param = op->params[p];

        if (!TAPML_HAS(tapml_param, param, domain)) {
            return status_fail(TAPML_ABI_MISMATCH, "parameter %u is too short a struct", p);
        }
        if (!is_word(param->name) || strlen(param->name) >= EXPRESSION_NAME_BYTES) {
            return status_fail(TAPML_INVALID, "parameter %u has no name of 1 to %d letters", p,
                               EXPRESSION_NAME_BYTES - 1);
        }
        if (param->kind < TAPML_P_TENSOR_IN || param->kind > TAPML_P_F64) {
            return status_fail(TAPML_INVALID, "parameter '%s': kind %u is unknown", param->name,
                               param->kind);
        }
        for (uint32_t other = 0; other < p; other++) {
            if (strcmp(op->params[other]->name, param->name) == 0) {
                return status_fail(TAPML_INVALID, "two parameters are named '%s'", param->name);
            }
        }
    }
    return TAPML_OK;
}

static tapml_status check_tolerance(const char *tolerance)
{
    static const char *const classes[] = {"exact", "elementwise", "reduction"};

    for (size_t i = 0; tolerance != NULL && i < sizeof(classes) / sizeof(*classes); i++) {
        if (strcmp(tolerance, classes[i]) == 0) {
            return TAPML_OK;
        }
    }
    return status_fail(TAPML_INVALID, "tolerance '%s' is none of exact elementwise reduction",
                       tolerance != NULL ? tolerance : "");
}

// The i64 parameters are the first symbols: they have values before shapes are matched.
static tapml_status name_numbers(struct op_compiler *compiler)
{
    struct expression_names *names = &compiler->made->names;

    for (uint32_t p = 0; p < compiler->op->n_params; p++) {
        if (compiler->op->params[p]->kind != TAPML_P_I64) {
            continue;
        }
        if (names->count == EXPRESSION_SYMBOLS_MAX) {
            return status_fail(TAPML_INVALID, "more than %d symbols", EXPRESSION_SYMBOLS_MAX);
        }
        strncpy(names->names[names->count++], compiler->op->params[p]->name,
                EXPRESSION_NAME_BYTES - 1);
    }
    return TAPML_OK;
}

// Shapes before domains and costs, so that symbols are in the order in which they get values.
static tapml_status compile_params(struct op_compiler *compiler)
{
    const tapml_op *op = compiler->op;

    for (uint32_t p = 0; p < op->n_params; p++) {
        TAPML_TRY(explain(compile_param(compiler, p), op->params[p]));
    }
    for (uint32_t p = 0; p < op->n_params; p++) {
        TAPML_TRY(explain(compile_domain(compiler, op->params[p], &compiler->made->params[p]),
                          op->params[p]));
    }
    return TAPML_OK;
}

static void hash_text_field(struct hash_state *state, const char *text)
{
    text = text != NULL ? text : "";
    hash_add(state, text, strlen(text) + 1);
}

static void hash_number(struct hash_state *state, uint32_t number)
{
    const unsigned char bytes[] = {(unsigned char)number, (unsigned char)(number >> 8),
                                   (unsigned char)(number >> 16), (unsigned char)(number >> 24)};

    hash_add(state, bytes, sizeof(bytes));
}

static tapml_status take_fingerprint(const tapml_op *op, struct hash *out_fingerprint)
{
    struct hash_state *state = hash_begin();

    if (state == NULL) {
        return status_no_memory();
    }
    hash_text_field(state, op->name);
    hash_number(state, op->version);
    hash_number(state, op->n_params);
    for (uint32_t p = 0; p < op->n_params; p++) {
        const tapml_param *param = op->params[p];

        hash_text_field(state, param->name);
        hash_number(state, param->kind);
        hash_number(state, param->effects);
        hash_text_field(state, param->shape);
        hash_text_field(state, param->layout);
        hash_text_field(state, param->region);
    }
    *out_fingerprint = hash_end(state);
    return TAPML_OK;
}

// The rules of splitting, with the shape of each tensor, its own or that of another one.
static tapml_status read_splits(const struct op_compiler *compiler)
{
    struct compiled_op *made = compiler->made;
    const struct expression *shapes[COMPILED_PARAMS_MAX] = {NULL};

    for (uint32_t p = 0; p < compiler->op->n_params; p++) {
        const uint32_t like = made->params[p].shape_like;

        shapes[p] =
            made->params[p].is_tensor ? made->params[like == COMPILED_NONE ? p : like].shape : NULL;
    }
    return split_read(compiler->op, &made->names, shapes, compiler->arena, &made->splits,
                      &made->split_count);
}

tapml_status
compiled_create(const tapml_op *op, struct arena *arena, const struct compiled_op **out_schema)
{
    struct compiled_op *made = arena_new(arena, sizeof(*made));
    struct op_compiler compiler = {.op = op, .made = made, .arena = arena};

    if (made == NULL) {
        return status_no_memory();
    }
    *made = (struct compiled_op){.op = op};
    TAPML_TRY(check_tolerance(op->tolerance));
    TAPML_TRY(check_names(op));
    TAPML_TRY(name_numbers(&compiler));
    TAPML_TRY(compile_params(&compiler));
    if (op->flops != NULL) {
        TAPML_TRY(compile_single(&compiler, "flops", op->flops, &made->flops));
    }
    TAPML_TRY(critical_read(op, arena, &made->criticals, &made->critical_count));
    TAPML_TRY(read_splits(&compiler));
    TAPML_TRY(take_fingerprint(op, &made->fingerprint));
    *out_schema = made;
    return TAPML_OK;
}

int compiled_takes(const struct compiled_op *schema, uint32_t param, uint32_t dtype)
{
    const struct compiled_param *own = &schema->params[param];

    if (own->dtype_like != COMPILED_NONE) {
        own = &schema->params[own->dtype_like];
    }
    for (uint32_t i = 0; i < own->dtype_count; i++) {
        if (own->dtypes[i] == dtype) {
            return 1;
        }
    }
    return 0;
}

activation_set compiled_takes_activations(const struct compiled_op *schema, uint32_t param)
{
    activation_set set = 0;
    for (unsigned i = 0; i < ACTIVATION_COUNT; i++) {
        const enum activation activation = (enum activation)i;
        if (activation_is_reduced(activation) &&
            compiled_takes(schema, param, activation_type(activation)->dtype)) {
            set |= activation_bit(activation);
        }
    }
    return set;
}

// -- Comparison --------------------------------------------------------------------------------

static tapml_status same_text(const char *what, const char *ours, const char *theirs)
{
    ours = ours != NULL ? ours : "";
    theirs = theirs != NULL ? theirs : "";
    return strcmp(ours, theirs) == 0
               ? TAPML_OK
               : status_fail(TAPML_ABI_MISMATCH, "%s is '%s', expected '%s'", what, theirs, ours);
}

static int has_dtypes(const struct compiled_param *all, const struct compiled_param *some)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < some->dtype_count; i++) {
        for (uint32_t k = 0; k < all->dtype_count; k++) {
            found += all->dtypes[k] == some->dtypes[i];
        }
    }
    return found == some->dtype_count && all->takes_encoded >= some->takes_encoded;
}

// The ends of a domain that names no symbol.
static int plain_ends(const struct compiled_op *schema,
                      const struct compiled_param *param,
                      int64_t *out_begin,
                      int64_t *out_end)
{
    struct expression_scope scope;

    expression_scope_init(&scope, &schema->names);
    return param->domain != NULL &&
           expression_range(&scope, param->domain, out_begin, out_end) == TAPML_OK;
}

static int has_choices(const struct compiled_param *all, const struct compiled_param *some)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < some->choice_count; i++) {
        for (uint32_t k = 0; k < all->choice_count; k++) {
            found += all->choices[k] == some->choices[i];
        }
    }
    return some->choice_count > 0 && found == some->choice_count;
}

// Whether the domain of a parameter of `all` contains that of `some`.
static int has_domain(const struct compiled_op *all, const struct compiled_op *some, uint32_t p)
{
    const char *wide = all->op->params[p]->domain;
    const char *narrow = some->op->params[p]->domain;
    int64_t wide_begin = 0, wide_end = 0, begin = 0, end = 0;

    if (wide == NULL || (narrow != NULL && strcmp(wide, narrow) == 0)) {
        return 1;
    }
    if (plain_ends(all, &all->params[p], &wide_begin, &wide_end) &&
        plain_ends(some, &some->params[p], &begin, &end)) {
        return wide_begin <= begin && end <= wide_end;
    }
    return has_choices(&all->params[p], &some->params[p]);
}

// Lists may grow within a version: of two, one contains the other.
static tapml_status
same_lists(const struct compiled_op *ours, const struct compiled_op *theirs, uint32_t p)
{
    const struct compiled_param *our = &ours->params[p];
    const struct compiled_param *their = &theirs->params[p];

    if (our->dtype_like != their->dtype_like ||
        (!has_dtypes(our, their) && !has_dtypes(their, our))) {
        return same_text("dtype", ours->op->params[p]->dtype, theirs->op->params[p]->dtype);
    }
    return has_domain(ours, theirs, p) || has_domain(theirs, ours, p)
               ? TAPML_OK
               : same_text("domain", ours->op->params[p]->domain, theirs->op->params[p]->domain);
}

static tapml_status same_param(const tapml_param *ours, const tapml_param *theirs)
{
    TAPML_TRY(same_text("name", ours->name, theirs->name));
    if (ours->kind != theirs->kind) {
        return status_fail(TAPML_ABI_MISMATCH, "kind is %u, expected %u", theirs->kind, ours->kind);
    }
    if (ours->effects != theirs->effects) {
        return status_fail(TAPML_ABI_MISMATCH, "effects are 0x%x, expected 0x%x", theirs->effects,
                           ours->effects);
    }
    TAPML_TRY(same_text("shape", ours->shape, theirs->shape));
    TAPML_TRY(same_text("layout", ours->layout, theirs->layout));
    return same_text("region", ours->region, theirs->region);
}

// What differs where fingerprints do.
static tapml_status say_difference(const tapml_op *ours, const tapml_op *theirs)
{
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
    return TAPML_OK;
}

tapml_status compiled_same(const struct compiled_op *ours, const struct compiled_op *theirs)
{
    if (!hash_equal(ours->fingerprint, theirs->fingerprint)) {
        TAPML_TRY(say_difference(ours->op, theirs->op));
        return status_fail(TAPML_INTERNAL, "equal schemas have different fingerprints");
    }
    for (uint32_t p = 0; p < ours->op->n_params; p++) {
        const tapml_status status = same_lists(ours, theirs, p);

        if (status != TAPML_OK) {
            return status_explain(status, "parameter %u, '%s'", p + 1, ours->op->params[p]->name);
        }
    }
    return TAPML_OK;
}

uint32_t compiled_lacks(const struct compiled_op *ours, const struct compiled_op *theirs)
{
    uint32_t lacks = 0;

    for (uint32_t p = 0; p < ours->op->n_params; p++) {
        if (!has_dtypes(&theirs->params[p], &ours->params[p]) || !has_domain(theirs, ours, p)) {
            lacks |= UINT32_C(1) << p;
        }
    }
    return lacks;
}
