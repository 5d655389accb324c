// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A comparer: the share of an output's values whose sign is not the expected one. Zeros have the
// sign of either side.
#include "note.h"

#include <tapml/draft/comparer.h>
#include <tapml/host.h>
#include <tapml/plugin.h>

#include <math.h>
#include <string.h>

static const double SHARE_LIMIT = 0.001;

struct comparer {
    tapml_object base; // First, so that a `tapml_object *` is a `struct comparer *`.
    const tapml_host *host;
    const tapml_host_core *core;
};

// -- Measuring ---------------------------------------------------------------------------------

// Reads all values of both sides; those that are NaN have no sign.
static tapml_status measure(tapml_object *object,
                            tapml_call *call,
                            const tapml_compared *compared,
                            tapml_measure *found)
{
    const float *expected = compared->expected, *computed = compared->computed;
    uint64_t other = 0;

    if (compared->dtype != TAPML_F32 || compared->count == 0) {
        found->value = NAN; // It cannot be told.
        return TAPML_OK;
    }
    for (uint64_t i = 0; i < compared->count; i++) {
        other += (expected[i] > 0 && computed[i] < 0) || (expected[i] < 0 && computed[i] > 0);
    }
    found->value = (double)other / (double)compared->count;
    found->limit = SHARE_LIMIT;
    return TAPML_OK;
}

static const tapml_comparer table = {
    .hdr = TAPML_HDR(tapml_comparer),
    .unit = "share of other signs",
    .measure = measure,
};

// -- The component -----------------------------------------------------------------------------

static void release(tapml_object *object)
{
    struct comparer *comparer = (struct comparer *)object;

    comparer->core->free(comparer->host, comparer, sizeof(*comparer), _Alignof(struct comparer));
}

static const void *interface_of(tapml_object *object, const char *id)
{
    return strcmp(id, TAPML_KIND_COMPARER) == 0 ? &table : NULL;
}

static const tapml_object_vt root_vt = {TAPML_HDR(tapml_object_vt), release, interface_of};

static tapml_status create(const tapml_component *component,
                           const tapml_host *host,
                           tapml_call *call,
                           tapml_object **out_root)
{
    static const char message[] = "out of memory";
    const tapml_host_core *core = host->interface_of(host, TAPML_HOST_CORE);
    struct comparer *comparer = core->alloc(host, sizeof(*comparer), _Alignof(struct comparer));

    if (comparer == NULL) {
        return core->fail(call, TAPML_NO_MEMORY, 0, NULL, message, strlen(message));
    }
    *comparer = (struct comparer){.base = {&root_vt}, .host = host, .core = core};
    *out_root = &comparer->base;
    return TAPML_OK;
}

static const tapml_component sample = {
    .hdr = TAPML_HDR(tapml_component),
    .kind = TAPML_KIND_COMPARER,
    .id = "sample",
    .title = "Sample: a comparer",
    .create = create,
};

TAPML_PLUGIN("org.example.sample", "0.1.0", "Example", "Apache-2.0", &sample)
