// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/expanded.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/log.h"
#include "schema/plain_frame.h"
#include "tensor/extent.h"

#include <stdio.h>
#include <string.h>

enum { FOUND_SLOTS = 256 };

static const char SPLIT[] = "computed in "; // So an answer begins that calls are made.

enum expanded_way { WAY_UNKNOWN, WAY_INNER, WAY_FORM, WAY_NONE };

// What is known of an op.
struct expanded_op {
    struct expanded_op *next; // Of a slot.
    const tapml_op *op;
    enum expanded_way
        way; // WAY_NONE while its own form is looked at, too: a form that leads to itself.
    struct plain_frame *frame;
    tapml_object **buffers;         // Of the temporaries; NULL until the first call,
    uint64_t *bytes;                // and their sizes.
    struct backend_origin *origins; // Of the arguments of the call at hand.
    tapml_group group;
    const char *identity;
};

struct expanded {
    struct backend_wrapper wrapper; // First, so that a `struct backend *` is a `struct expanded *`.
    struct backend_vt vt;
    const struct catalogue *catalogue;
    struct arena *arena;
    struct expanded_op *slots[FOUND_SLOTS];
    struct inferred inferred; // Of the call at hand of a form.
    const tapml_op *split;    // Is computed by its form at any rate; or NULL.
};

static struct expanded *own(struct backend *backend)
{
    return (struct expanded *)backend;
}

// -- What is known of an op --------------------------------------------------------------------

static struct expanded_op *find_op(struct expanded *expanded, const tapml_op *op);

static int has_parts(struct expanded *expanded, const struct plain_form *form)
{
    for (uint32_t i = 0; i < form->call_count; i++) {
        const struct expanded_op *part = find_op(expanded, form->calls[i].schema->op);
        if (!part || part->way == WAY_NONE) {
            return 0;
        }
    }
    return 1;
}

static const char *identity_of(struct backend *backend, const tapml_op *op);

// A digest of the text and of what computes its calls.
static const char *make_identity(struct expanded *expanded, const struct plain_form *form)
{
    struct hash_state *state = hash_begin();
    char text[HASH_TEXT];
    if (!state) {
        return NULL;
    }
    hash_add(state, form->schema->op->expands, strlen(form->schema->op->expands) + 1);
    for (uint32_t i = 0; i < form->call_count; i++) {
        const char *part = identity_of(expanded_backend(expanded), form->calls[i].schema->op);
        hash_add(state, part, strlen(part) + 1);
    }
    const char *whole = backend_identity(expanded->wrapper.inner, form->schema->op);
    hash_add(state, whole, strlen(whole) + 1);
    hash_text(hash_end(state), text);
    return arena_text(expanded->arena, text);
}

// Makes all that a group needs besides the arguments of a call.
static tapml_status make_group(struct expanded *expanded, struct expanded_op *found)
{
    const struct plain_frame *frame = found->frame;
    const uint32_t count = frame->form->call_count;
    tapml_group_node *nodes = arena_array(expanded->arena, count, sizeof(*nodes));
    const tapml_group_node **list = arena_array(expanded->arena, count, sizeof(*list));
    if (!nodes || !list) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        nodes[i] = (tapml_group_node){.hdr = TAPML_HDR(tapml_group_node),
                                      .op = frame->calls[i].schema->op,
                                      .label = frame->form->calls[i].label,
                                      .args = frame->calls[i].args,
                                      .values = frame->calls[i].values};
        list[i] = &nodes[i];
    }
    found->group = (tapml_group){.hdr = TAPML_HDR(tapml_group),
                                 .op = frame->form->schema->op,
                                 .nodes = list,
                                 .n_nodes = count,
                                 .n_temporaries = frame->temporary_count};
    return TAPML_OK;
}

// Reads the form of an op, and finds whether all of its calls can be made.
static tapml_status take_form(struct expanded *expanded, struct expanded_op *found)
{
    const struct compiled_op *schema =
        catalogue_find(expanded->catalogue, found->op->name, found->op->version);
    const struct plain_form *form = NULL;
    if (!schema || !schema->op->expands || schema->op->expands[0] == '\0') {
        return TAPML_OK;
    }
    TAPML_TRY(plain_form_create(schema, expanded->catalogue, expanded->arena, &form));
    if (!has_parts(expanded, form) && !backend_info(expanded->wrapper.inner)->takes_groups) {
        return TAPML_OK;
    }
    TAPML_TRY(plain_frame_create(form, expanded->arena, &found->frame));
    const size_t count = (size_t)found->frame->temporary_count + 1;
    found->buffers = arena_array(expanded->arena, count, sizeof(tapml_object *));
    found->bytes = arena_array(expanded->arena, count, sizeof(*found->bytes));
    found->origins = arena_array(expanded->arena, COMPILED_PARAMS_MAX, sizeof(*found->origins));
    found->identity = make_identity(expanded, form);
    if (!found->buffers || !found->bytes || !found->origins || !found->identity) {
        return status_no_memory();
    }
    TAPML_TRY(make_group(expanded, found));
    found->way = WAY_FORM;
    return TAPML_OK;
}

// NULL where there is no memory.
static struct expanded_op *find_op(struct expanded *expanded, const tapml_op *op)
{
    struct expanded_op **slot = &expanded->slots[(size_t)((uintptr_t)op >> 4) % FOUND_SLOTS];
    struct expanded_op *found = *slot;
    while (found && found->op != op) {
        found = found->next;
    }
    if (found) {
        return found;
    }
    found = arena_new(expanded->arena, sizeof(*found));
    if (!found) {
        return NULL;
    }
    *found = (struct expanded_op){.next = *slot, .op = op, .way = WAY_NONE};
    *slot = found;
    if (op != expanded->split && backend_has_op(expanded->wrapper.inner, op)) {
        found->way = WAY_INNER;
    } else if (take_form(expanded, found) != TAPML_OK) {
        log_line(LOG_WARNING, "%s", status_message());
    }
    return found;
}

// -- Calls -------------------------------------------------------------------------------------

static tapml_status evaluate(struct expanded *expanded,
                             struct expanded_op *found,
                             const tapml_value *args,
                             const struct inferred *inferred)
{
    const enum activation activation = backend_info(expanded->wrapper.inner)->activation;
    TAPML_TRY(plain_frame_evaluate(found->frame, args, inferred, activation));
    found->group.args = args;
    for (uint32_t i = 0; i < found->group.n_nodes; i++) {
        // The nodes are this module's; the list shows them to plugins as constant.
        tapml_group_node *node = (tapml_group_node *)(uintptr_t)found->group.nodes[i];
        node->n_values = found->frame->calls[i].tensor_count;
    }
    return TAPML_OK;
}

// A buffer that is too small goes once nothing uses it any more.
static tapml_status
make_room(struct backend *inner, uint64_t bytes, tapml_object **io_buffer, uint64_t *io_bytes)
{
    const uint64_t needed = (bytes > 0 ? bytes : 1) + TAPML_TRANSFER_GRAIN - 1;
    const uint64_t size = needed / TAPML_TRANSFER_GRAIN * TAPML_TRANSFER_GRAIN;
    if (*io_buffer && *io_bytes >= size) {
        return TAPML_OK;
    }
    if (*io_buffer) {
        TAPML_TRY(backend_wait(inner));
        backend_buffer_free(inner, *io_buffer);
        *io_buffer = NULL;
    }
    TAPML_TRY(backend_buffer_new(inner, size, io_buffer));
    *io_bytes = size;
    return TAPML_OK;
}

static tapml_status place_temporaries(struct expanded *expanded, struct expanded_op *found)
{
    for (uint32_t i = 0; i < found->frame->temporary_count; i++) {
        TAPML_TRY(make_room(expanded->wrapper.inner, found->frame->temporaries[i].bytes,
                            &found->buffers[i], &found->bytes[i]));
        plain_frame_set_buffer(found->frame, i, found->buffers[i]);
    }
    return TAPML_OK;
}

// Where the memory of a value comes from: what is known of the op's argument, or its own tensor.
static struct backend_origin origin_of(const struct expanded_op *found,
                                       const struct backend_call *whole,
                                       const struct plain_tensor *tensor)
{
    const struct plain_frame *frame = found->frame;
    const uint32_t first = whole->op->n_params;
    struct backend_origin origin = {.name = frame->form->values[tensor->value].name};
    if (tensor->value < first && whole->origins) {
        return whole->origins[tensor->value];
    }
    const tapml_tensor *base = tensor->value < first
                                   ? whole->args[tensor->value].u.p
                                   : &frame->temporaries[tensor->value - first].tensor;
    return extent_end(base, &origin.base_bytes) ? origin : (struct backend_origin){0};
}

static void
find_origins(const struct expanded_op *found, const struct backend_call *whole, uint32_t i)
{
    const struct plain_call *call = &found->frame->form->calls[i];
    for (uint32_t p = 0; p < call->schema->op->n_params; p++) {
        const int is_there = call->arguments[p].kind == PLAIN_TENSOR &&
                             found->frame->calls[i].args[p].kind != TAPML_V_NONE;
        found->origins[p] = is_there ? origin_of(found, whole, &call->arguments[p].tensors[0])
                                     : (struct backend_origin){0};
    }
}

static tapml_status call_any(struct expanded *expanded, const struct backend_call *call);

static tapml_status call_parts(struct expanded *expanded,
                               const struct expanded_op *found,
                               const struct backend_call *whole)
{
    for (uint32_t i = 0; i < found->frame->form->call_count; i++) {
        const struct plain_frame_call *part = &found->frame->calls[i];
        const struct backend_call call = {.op = part->schema->op,
                                          .args = part->args,
                                          .inferred = &expanded->inferred,
                                          .instance = whole->instance,
                                          .origins = found->origins,
                                          .is_extra = whole->is_extra};
        tapml_status status = infer_call(part->schema, part->args, &expanded->inferred);
        find_origins(found, whole, i);
        if (status == TAPML_OK) {
            status = call_any(expanded, &call);
        }
        if (status != TAPML_OK) {
            return status_explain(status, "call %u of '%s'", i + 1, whole->op->name);
        }
    }
    return TAPML_OK;
}

static tapml_status
call_form(struct expanded *expanded, struct expanded_op *found, const struct backend_call *call)
{
    tapml_support answer;
    TAPML_TRY(evaluate(expanded, found, call->args, call->inferred));
    TAPML_TRY(backend_supports_group(expanded->wrapper.inner, &found->group, &answer));
    TAPML_TRY(place_temporaries(expanded, found));
    return answer.grade != TAPML_SUPPORT_NO
               ? backend_call_group(expanded->wrapper.inner, &found->group, call)
               : call_parts(expanded, found, call);
}

static tapml_status call_any(struct expanded *expanded, const struct backend_call *call)
{
    struct expanded_op *found = find_op(expanded, call->op);
    if (!found) {
        return status_no_memory();
    }
    return found->way == WAY_FORM ? call_form(expanded, found, call)
                                  : backend_call(expanded->wrapper.inner, call);
}

static tapml_status expanded_call(struct backend *backend, const struct backend_call *call)
{
    return call_any(own(backend), call);
}

// -- What it has -------------------------------------------------------------------------------

static int expanded_has_op(struct backend *backend, const tapml_op *op)
{
    const struct expanded_op *found = find_op(own(backend), op);
    return found && found->way != WAY_NONE;
}

static tapml_status support_any(struct expanded *expanded,
                                const struct compiled_op *schema,
                                const tapml_value *args,
                                tapml_support *answer);

// Asks for all calls of the form, until one is refused.
static tapml_status
support_parts(struct expanded *expanded, const struct expanded_op *found, tapml_support *answer)
{
    const uint32_t count = found->frame->form->call_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct plain_frame_call *part = &found->frame->calls[i];
        const tapml_status status = support_any(expanded, part->schema, part->args, answer);
        if (status != TAPML_OK) {
            return status_explain(status, "call %u of '%s'", i + 1, found->op->name);
        }
        if (answer->grade == TAPML_SUPPORT_NO) {
            char reason[sizeof(answer->reason)];
            (void)snprintf(reason, sizeof(reason), "%s", answer->reason);
            (void)snprintf(answer->reason, sizeof(answer->reason), "its call of %.40s: %.70s",
                           catalogue_short_name(part->schema->op), reason);
            return TAPML_OK;
        }
    }
    answer->grade = TAPML_SUPPORT_SLOW;
    (void)snprintf(answer->reason, sizeof(answer->reason), "%s%u calls of other ops", SPLIT, count);
    return TAPML_OK;
}

int expanded_is_split(const tapml_support *answer)
{
    return answer->grade == TAPML_SUPPORT_SLOW &&
           strncmp(answer->reason, SPLIT, sizeof(SPLIT) - 1) == 0;
}

static tapml_status support_form(struct expanded *expanded,
                                 struct expanded_op *found,
                                 const tapml_value *args,
                                 const struct inferred *inferred,
                                 tapml_support *answer)
{
    const tapml_status status = evaluate(expanded, found, args, inferred);
    if (status == TAPML_INVALID) { // Shapes that the calls do not take, or that have no such view.
        (void)snprintf(answer->reason, sizeof(answer->reason), "%s", status_message());
        return TAPML_OK;
    }
    TAPML_TRY(status);
    TAPML_TRY(backend_supports_group(expanded->wrapper.inner, &found->group, answer));
    return answer->grade != TAPML_SUPPORT_NO ? TAPML_OK : support_parts(expanded, found, answer);
}

static tapml_status support_any(struct expanded *expanded,
                                const struct compiled_op *schema,
                                const tapml_value *args,
                                tapml_support *answer)
{
    struct expanded_op *found = find_op(expanded, schema->op);
    struct inferred inferred;
    if (!found) {
        return status_no_memory();
    }
    if (found->way != WAY_FORM) {
        return backend_supports(expanded->wrapper.inner, schema, args, answer);
    }
    *answer = (tapml_support){.hdr = TAPML_HDR(tapml_support), .grade = TAPML_SUPPORT_NO};
    TAPML_TRY(infer_call(schema, args, &inferred));
    return support_form(expanded, found, args, &inferred, answer);
}

static tapml_status expanded_supports(struct backend *backend,
                                      const struct compiled_op *schema,
                                      const tapml_value *args,
                                      tapml_support *answer)
{
    return support_any(own(backend), schema, args, answer);
}

static const char *identity_of(struct backend *backend, const tapml_op *op)
{
    const struct expanded_op *found = find_op(own(backend), op);
    return found && found->way == WAY_FORM ? found->identity
                                           : backend_identity(own(backend)->wrapper.inner, op);
}

// -- Life --------------------------------------------------------------------------------------

static void free_buffers(struct expanded *expanded)
{
    for (size_t i = 0; i < FOUND_SLOTS; i++) {
        for (struct expanded_op *found = expanded->slots[i]; found; found = found->next) {
            for (uint32_t t = 0; found->frame && t < found->frame->temporary_count; t++) {
                backend_buffer_free(expanded->wrapper.inner, found->buffers[t]);
            }
        }
    }
}

static void expanded_release(struct backend *backend)
{
    expanded_destroy(own(backend));
}

tapml_status expanded_create(struct backend *inner,
                             const struct catalogue *catalogue,
                             struct expanded **out_expanded)
{
    struct expanded *expanded = alloc_new(sizeof(*expanded));
    if (!expanded) {
        return status_no_memory();
    }
    expanded->vt = backend_forward_vt;
    expanded->vt.has_op = expanded_has_op;
    expanded->vt.supports = expanded_supports;
    expanded->vt.call = expanded_call;
    expanded->vt.identity = identity_of;
    expanded->vt.release = expanded_release;
    expanded->catalogue = catalogue;
    expanded->wrapper = (struct backend_wrapper){.backend = {.vt = &expanded->vt}, .inner = inner};
    expanded->arena = arena_create();
    if (!expanded->arena) {
        alloc_free(expanded);
        return status_no_memory();
    }
    *out_expanded = expanded;
    return TAPML_OK;
}

void expanded_destroy(struct expanded *expanded)
{
    if (!expanded) {
        return;
    }
    (void)backend_wait(expanded->wrapper.inner); // What is queued uses what goes now.
    free_buffers(expanded);
    arena_destroy(expanded->arena);
    alloc_free(expanded);
}

void expanded_split(struct expanded *expanded, const tapml_op *op)
{
    expanded->split = op;
}

struct backend *expanded_backend(struct expanded *expanded)
{
    return &expanded->wrapper.backend;
}

static tapml_status make_link(void *user,
                              const struct place_settings *settings,
                              struct backend *inner,
                              struct backend **out_backend)
{
    struct expanded *expanded = NULL;
    (void)settings;
    TAPML_TRY(expanded_create(inner, user, &expanded));
    *out_backend = expanded_backend(expanded);
    return TAPML_OK;
}

struct place_link expanded_link(struct catalogue *catalogue)
{
    return (struct place_link){.kind = PLACE_EXPANDED, .create = make_link, .user = catalogue};
}
