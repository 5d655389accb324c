// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A policy of a stranger that chooses by plain frequency: the cases of the signature that most
// cases have come first, so that what the model computes most often is tried most. What runs is put
// into the opposite order, the rarest first. It builds one plan for each target: with the kind of
// operator that there is most of away from the source.
//
// The option `deed` makes it wrong: `lavish` chooses all cases, `nan` has a worth that is none, and
// `twice` orders one case twice.
#include "frequent-note.h"

#include <tapml/draft/policy.h>
#include <tapml/host.h>
#include <tapml/plugin.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct root {
    tapml_object base;
    const tapml_host *host;
    const tapml_host_core *core;
};

static int does(const struct root *root, const char *deed)
{
    const char *word = root->core->option(root->host, "deed");

    return word != NULL && strcmp(word, deed) == 0;
}

// -- Frequencies -------------------------------------------------------------------------------

struct counted {
    const char *signature;
    uint32_t index; // Of the case,
    uint32_t count; // and how many cases have its signature.
};

static int by_signature(const void *a, const void *b)
{
    const struct counted *one = a, *other = b;

    return strcmp(one->signature, other->signature);
}

static int by_count(const void *a, const void *b)
{
    const struct counted *one = a, *other = b;

    if (one->count != other->count) {
        return one->count > other->count ? -1 : 1;
    }
    return one->index < other->index ? -1 : one->index > other->index;
}

static int by_index(const void *a, const void *b)
{
    const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;

    return one < other ? -1 : one > other;
}

// The most frequent first; of equal ones as the source called them.
static void sort(const tapml_policy_cases *question, struct counted *cases)
{
    const uint32_t count = question->n_cases;

    for (uint32_t i = 0; i < count; i++) {
        cases[i] = (struct counted){question->cases[i]->signature, i, 0};
    }
    qsort(cases, count, sizeof(*cases), by_signature);
    for (uint32_t begin = 0, end = 0; begin < count; begin = end) {
        while (end < count && strcmp(cases[end].signature, cases[begin].signature) == 0) {
            end++;
        }
        for (uint32_t i = begin; i < end; i++) {
            cases[i].count = end - begin;
        }
    }
    qsort(cases, count, sizeof(*cases), by_count);
}

// Sorted cases; the caller frees them.
static tapml_status count(const struct root *root,
                          tapml_call *call,
                          const tapml_policy_cases *question,
                          struct counted **out_cases)
{
    static const char message[] = "out of memory";
    struct counted *cases =
        root->core->alloc(root->host, question->n_cases * sizeof(*cases), _Alignof(struct counted));

    if (cases == NULL) {
        return root->core->fail(call, TAPML_NO_MEMORY, 0, NULL, message, strlen(message));
    }
    sort(question, cases);
    *out_cases = cases;
    return TAPML_OK;
}

static void
discard(const struct root *root, const tapml_policy_cases *question, struct counted *cases)
{
    root->core->free(root->host, cases, question->n_cases * sizeof(*cases),
                     _Alignof(struct counted));
}

// -- The functions -----------------------------------------------------------------------------

static tapml_status select_cases(tapml_object *object,
                                 tapml_call *call,
                                 const tapml_policy_cases *question,
                                 uint32_t *out_chosen,
                                 double *out_worth,
                                 uint32_t *out_count)
{
    const struct root *root = (const struct root *)object;
    const uint32_t most = does(root, "lavish") ? question->n_cases : question->count_max;
    double left_ns = question->time_max_ns;
    uint32_t chosen = 0;
    struct counted *cases = NULL;
    const tapml_status status = count(root, call, question, &cases);

    if (status != TAPML_OK) {
        return status;
    }
    for (uint32_t i = 0; i < question->n_cases && chosen < most; i++) {
        const double time_ns = question->cases[cases[i].index]->time_ns;
        const double cost_ns = time_ns >= 1 ? time_ns : 1; // NaN counts as 1.

        if (cost_ns <= left_ns) {
            left_ns -= cost_ns;
            out_worth[chosen] = (double)cases[i].count / question->n_cases;
            out_chosen[chosen++] = cases[i].index;
        }
    }
    if (does(root, "nan")) {
        out_worth[0] = (double)NAN;
    }
    *out_count = chosen;
    discard(root, question, cases);
    return TAPML_OK;
}

static tapml_status order_cases(tapml_object *object,
                                tapml_call *call,
                                const tapml_policy_cases *question,
                                uint32_t n_order,
                                uint32_t *io_order)
{
    const struct root *root = (const struct root *)object;
    struct counted *cases = NULL;
    uint32_t at = n_order;
    const tapml_status status = count(root, call, question, &cases);

    if (status != TAPML_OK) {
        return status;
    }
    for (uint32_t i = 0, found = 0; i < question->n_cases && found < n_order; i++) {
        if (bsearch(&cases[i].index, io_order, n_order, sizeof(*io_order),
                    by_index)) { // It runs. What was given is not changed before all are found.
            cases[found++].index = cases[i].index;
        }
    }
    for (uint32_t i = 0; i < n_order; i++) {
        io_order[--at] = cases[i].index;
    }
    if (does(root, "twice") && n_order > 1) {
        io_order[1] = io_order[0];
    }
    discard(root, question, cases);
    return TAPML_OK;
}

// How many operators are of the kind of one of them.
static uint32_t count_kind(const tapml_policy_ops *question, uint32_t index)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < question->n_ops; i++) {
        found += strcmp(question->ops[i]->op->name, question->ops[index]->op->name) == 0;
    }
    return found;
}

static tapml_status build(tapml_object *object,
                          tapml_call *call,
                          const tapml_policy_ops *question,
                          uint8_t *out_places,
                          uint32_t *out_count)
{
    uint32_t most = 0, plans = 0;

    for (uint32_t i = 1; i < question->n_ops; i++) {
        most = count_kind(question, i) > count_kind(question, most) ? i : most;
    }
    for (uint8_t place = 1; place < question->n_places && plans < question->count_max; place++) {
        for (uint32_t i = 0; i < question->n_ops; i++) {
            const tapml_policy_op *op = question->ops[i];
            const int is_kind = strcmp(op->op->name, question->ops[most]->op->name) == 0;

            *out_places++ = is_kind && op->may_run[place] ? place : 0;
        }
        plans++;
    }
    *out_count = plans;
    return TAPML_OK;
}

static const tapml_policy table = {.hdr = TAPML_HDR(tapml_policy),
                                   .select = select_cases,
                                   .order_cases = order_cases,
                                   .build = build};

static void release(tapml_object *object)
{
    struct root *root = (struct root *)object;

    root->core->free(root->host, root, sizeof(*root), _Alignof(struct root));
}

static const void *interface_of(tapml_object *object, const char *id)
{
    return strcmp(id, TAPML_KIND_POLICY) == 0 ? &table : NULL;
}

static const tapml_object_vt root_vt = {TAPML_HDR(tapml_object_vt), release, interface_of};

static tapml_status create(const tapml_component *component,
                           const tapml_host *host,
                           tapml_call *call,
                           tapml_object **out_root)
{
    static const char message[] = "out of memory";
    const tapml_host_core *core = host->interface_of(host, TAPML_HOST_CORE);
    struct root *root = core->alloc(host, sizeof(*root), _Alignof(struct root));

    if (root == NULL) {
        return core->fail(call, TAPML_NO_MEMORY, 0, NULL, message, strlen(message));
    }
    *root = (struct root){.base = {&root_vt}, .host = host, .core = core};
    *out_root = &root->base;
    return TAPML_OK;
}

static const tapml_component policy = {.hdr = TAPML_HDR(tapml_component),
                                       .kind = TAPML_KIND_POLICY,
                                       .id = "outside_frequent",
                                       .title = "What the model computes most often",
                                       .create = create};

TAPML_PLUGIN("org.example.outside-frequent", "1.0.0", "Example", "Apache-2.0", &policy)
