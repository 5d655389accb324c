// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "foreign.h"

#include <tapml/ops.h>

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

// A number as the function takes it.
union number {
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
    void *address;
};

static ffi_type *type_of(const struct signature_argument *argument)
{
    if (argument->property == SIGNATURE_TENSOR || argument->property == SIGNATURE_VALUES ||
        argument->property == SIGNATURE_OP) {
        return &ffi_type_pointer;
    }
    switch (argument->type) {
    case TAPML_I32:
        return &ffi_type_sint32;
    case TAPML_F32:
        return &ffi_type_float;
    case TAPML_F64:
        return &ffi_type_double;
    default:
        return &ffi_type_sint64;
    }
}

static union number lower(const struct foreign *foreign,
                          const struct signature_argument *argument,
                          const tapml_value *args)
{
    const tapml_tensor *tensor = NULL;

    if (argument->property == SIGNATURE_VALUES) {
        return (union number){.address = (void *)(uintptr_t)args};
    }
    if (argument->property == SIGNATURE_OP) {
        return (union number){.address = (void *)(uintptr_t)foreign->signature.op};
    }
    if (argument->property == SIGNATURE_TENSOR) {
        tensor = signature_tensor(argument, args);
        return (union number){.address = tensor != NULL ? memory_at(tensor) : NULL};
    }
    switch (argument->type) {
    case TAPML_I32:
        return (union number){.i32 = (int32_t)signature_whole(argument, args)};
    case TAPML_F32:
        return (union number){.f32 = (float)signature_number(argument, args)};
    case TAPML_F64:
        return (union number){.f64 = signature_number(argument, args)};
    default:
        return (union number){.i64 = signature_whole(argument, args)};
    }
}

static tapml_status compute(const struct foreign *foreign,
                            tapml_object *queue,
                            tapml_call *call,
                            const tapml_value *args)
{
    union number numbers[SIGNATURE_ARGUMENTS_MAX];
    void *pointers[SIGNATURE_ARGUMENTS_MAX];
    ffi_arg result = 0;

    for (uint32_t i = 0; i < foreign->signature.count; i++) {
        numbers[i] = lower(foreign, &foreign->signature.arguments[i], args);
        pointers[i] = &numbers[i];
    }
    ffi_call((ffi_cif *)(uintptr_t)&foreign->cif, foreign->entry, &result, pointers);
    return foreign->has_status && (int)result != 0
               ? memory_fail(memory_object_of(queue), call, TAPML_INTERNAL, "'%s' returned %d",
                             foreign->name, (int)result)
               : TAPML_OK;
}

// -- What the host calls -----------------------------------------------------------------------

// The arguments of a call as the host lowers them, back as values.
static void read_values(const tapml_op *op, void **arguments, tapml_value *out_args)
{
    uint32_t at = 2; // Behind queue and call.

    for (uint32_t i = 0; i < op->n_params; i++) {
        tapml_value value = {.kind = op->params[i]->kind};

        switch (value.kind) {
        case TAPML_P_I64:
            value.u.i = *(const int64_t *)arguments[at++];
            break;
        case TAPML_P_F64:
            value.u.d = *(const double *)arguments[at++];
            break;
        case TAPML_P_TENSORS_IN:
            value.u.p = *(const void *const *)arguments[at++];
            value.count = (uint32_t) * (const uint64_t *)arguments[at++];
            break;
        default:
            value.u.p = *(const void *const *)arguments[at++];
            value.kind = value.u.p != NULL ? value.kind : TAPML_V_NONE;
            break;
        }
        out_args[i] = value;
    }
}

static void answer(ffi_cif *cif, void *out_result, void **arguments, void *user)
{
    const struct foreign *foreign = user;
    tapml_value args[FOREIGN_PARAMS_MAX];

    read_values(foreign->signature.op, arguments, args);
    *(ffi_sarg *)out_result =
        compute(foreign, *(tapml_object **)arguments[0], *(tapml_call **)arguments[1], args);
}

static uint32_t list_own_types(const tapml_op *op, ffi_type **out_types)
{
    uint32_t count = 0;

    out_types[count++] = &ffi_type_pointer;
    out_types[count++] = &ffi_type_pointer;
    for (uint32_t i = 0; i < op->n_params; i++) {
        const uint32_t kind = op->params[i]->kind;

        out_types[count++] = kind == TAPML_P_I64   ? &ffi_type_sint64
                             : kind == TAPML_P_F64 ? &ffi_type_double
                                                   : &ffi_type_pointer;
        if (kind == TAPML_P_TENSORS_IN) {
            out_types[count++] = &ffi_type_uint64;
        }
    }
    return count;
}

// -- Opening -----------------------------------------------------------------------------------

// An op of the catalogue, by its name with or without "tapml.".
static const tapml_op *find_op(const char *name)
{
    static const char prefix[] = "tapml.";

    for (uint32_t i = 0; i < TAPML_OPS_COUNT; i++) {
        if (strcmp(tapml_ops[i]->name, name) == 0 ||
            strcmp(tapml_ops[i]->name + sizeof(prefix) - 1, name) == 0) {
            return tapml_ops[i];
        }
    }
    return NULL;
}

static int open_entry(struct foreign *foreign,
                      const struct foreign_options *options,
                      char problem[FOREIGN_PROBLEM])
{
    foreign->library = dlopen(options->library, RTLD_NOW | RTLD_LOCAL);
    if (foreign->library == NULL) {
        (void)snprintf(problem, FOREIGN_PROBLEM, "%s", dlerror());
        return 0;
    }
    void *symbol = dlsym(foreign->library, options->entry);

    if (symbol == NULL) {
        (void)snprintf(problem, FOREIGN_PROBLEM, "%.120s has no function '%.60s'", options->library,
                       options->entry);
        return 0;
    }
    memcpy(&foreign->entry, &symbol, sizeof(symbol));
    return 1;
}

static int make_types(struct foreign *foreign)
{
    const tapml_op *op = foreign->signature.op;

    for (uint32_t i = 0; i < foreign->signature.count; i++) {
        foreign->types[i] = type_of(&foreign->signature.arguments[i]);
    }
    return op->n_params <= FOREIGN_PARAMS_MAX &&
           ffi_prep_cif(&foreign->cif, FFI_DEFAULT_ABI, foreign->signature.count,
                        foreign->has_status ? &ffi_type_sint : &ffi_type_void,
                        foreign->types) == FFI_OK &&
           ffi_prep_cif(&foreign->own_cif, FFI_DEFAULT_ABI, list_own_types(op, foreign->own_types),
                        &ffi_type_sint32, foreign->own_types) == FFI_OK;
}

static int make_closure(struct foreign *foreign, char problem[FOREIGN_PROBLEM])
{
    void *code = NULL;

    foreign->closure =
        make_types(foreign) ? ffi_closure_alloc(sizeof(*foreign->closure), &code) : NULL;
    if (foreign->closure == NULL || ffi_prep_closure_loc(foreign->closure, &foreign->own_cif,
                                                         answer, foreign, code) != FFI_OK) {
        (void)snprintf(problem, FOREIGN_PROBLEM, "libffi cannot make a function for %s",
                       foreign->signature.op->name);
        return 0;
    }
    foreign->impl = (tapml_op_impl){
        .hdr = TAPML_HDR(tapml_op_impl), .op = foreign->signature.op, .convention = 1};
    memcpy(&foreign->impl.fn, &code, sizeof(code));
    return 1;
}

// Of the library's bytes and how the function is called.
static int make_digest(struct foreign *foreign, const struct foreign_options *options)
{
    const char *const texts[] = {options->entry, options->arguments};
    XXH3_state_t *state = XXH3_createState();
    FILE *file = fopen(options->library, "rb");
    unsigned char part[4096];
    size_t bytes = 0;

    if (state == NULL || file == NULL) {
        XXH3_freeState(state);
        if (file != NULL) {
            (void)fclose(file);
        }
        return 0;
    }
    (void)XXH3_128bits_reset(state);
    while ((bytes = fread(part, 1, sizeof(part), file)) > 0) {
        (void)XXH3_128bits_update(state, part, bytes);
    }
    (void)fclose(file);
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        (void)XXH3_128bits_update(state, texts[i], strlen(texts[i]) + 1);
    }
    const XXH128_hash_t hash = XXH3_128bits_digest(state);

    XXH3_freeState(state);
    (void)snprintf(foreign->digest, sizeof(foreign->digest), "%016" PRIx64 "%016" PRIx64,
                   (uint64_t)hash.high64, (uint64_t)hash.low64);
    return 1;
}

int foreign_open(struct foreign *foreign,
                 const struct foreign_options *options,
                 char problem[FOREIGN_PROBLEM])
{
    const tapml_op *op = find_op(options->op);
    char why[FOREIGN_PROBLEM - 32];

    foreign->has_status = options->has_status;
    (void)snprintf(foreign->name, sizeof(foreign->name), "%s", options->entry);
    if (op == NULL) {
        (void)snprintf(problem, FOREIGN_PROBLEM, "the catalogue has no op '%.80s'", options->op);
        return 0;
    }
    if (!signature_parse(options->arguments, op, &foreign->signature, why, sizeof(why))) {
        (void)snprintf(problem, FOREIGN_PROBLEM, "option 'arguments': %s", why);
        return 0;
    }
    if (!open_entry(foreign, options, problem) || !make_closure(foreign, problem)) {
        return 0;
    }
    if (!make_digest(foreign, options)) {
        (void)snprintf(problem, FOREIGN_PROBLEM, "%.200s cannot be read", options->library);
        return 0;
    }
    return 1;
}

// The library stays: it may have begun threads.
void foreign_close(struct foreign *foreign)
{
    if (foreign->closure != NULL) {
        ffi_closure_free(foreign->closure);
        foreign->closure = NULL;
    }
}
