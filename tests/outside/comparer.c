// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A comparer of a stranger: the largest difference in parts of the largest expected magnitude. With
// the option `deed = fails` it does not measure org.example.scale.
#include "comparer-note.h"

#include <tapml/draft/comparer.h>
#include <tapml/host.h>
#include <tapml/plugin.h>

#include <string.h>

static const double LIMIT = 1e-4;

struct root {
    tapml_object base;
    const tapml_host *host;
    const tapml_host_core *core;
};

static double magnitude(double value)
{
    return value < 0 ? -value : value;
}

static tapml_status measure(tapml_object *object,
                            tapml_call *call,
                            const tapml_compared *compared,
                            tapml_measure *found)
{
    static const char message[] = "this one has no measure";
    const struct root *root = (const struct root *)object;
    const char *deed = root->core->option(root->host, "deed");
    const float *expected = compared->expected, *computed = compared->computed;
    double largest = 0, difference = 0;

    if (deed != NULL && strcmp(deed, "fails") == 0 &&
        strcmp(compared->op->name, "org.example.scale") == 0) {
        return root->core->fail(call, TAPML_DEVICE_LOST, 0, NULL, message, strlen(message));
    }
    for (uint64_t i = 0; compared->dtype == TAPML_F32 && i < compared->count; i++) {
        const double at = magnitude((double)expected[i] - (double)computed[i]);

        largest = magnitude(expected[i]) > largest ? magnitude(expected[i]) : largest;
        difference = at > difference ? at : difference;
    }
    found->value = largest > 0 ? difference / largest : difference;
    found->limit = LIMIT;
    return TAPML_OK;
}

static const tapml_comparer table = {
    .hdr = TAPML_HDR(tapml_comparer), .unit = "of the largest", .measure = measure};

static void release(tapml_object *object)
{
    struct root *root = (struct root *)object;

    root->core->free(root->host, root, sizeof(*root), _Alignof(struct root));
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
    struct root *root = core->alloc(host, sizeof(*root), _Alignof(struct root));

    if (root == NULL) {
        return core->fail(call, TAPML_NO_MEMORY, 0, NULL, message, strlen(message));
    }
    *root = (struct root){.base = {&root_vt}, .host = host, .core = core};
    *out_root = &root->base;
    return TAPML_OK;
}

static const tapml_component comparer = {.hdr = TAPML_HDR(tapml_component),
                                         .kind = TAPML_KIND_COMPARER,
                                         .id = "outside_compare",
                                         .title = "The largest difference",
                                         .create = create};

TAPML_PLUGIN("org.example.outside-comparer", "1.0.0", "Example", "Apache-2.0", &comparer)
