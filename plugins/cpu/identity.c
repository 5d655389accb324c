// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "identity.h"

#include "reference/reference.h"

#include <string.h>

struct source {
    const char *op, *digest, *kernels; // No kernels: functions of C.
};

// tools/identity finds them. The fast forms fall back on those of the reference.
static const struct source reference_sources[] = {
#include "reference_identities.def"
};
static const struct source fast_sources[] = {
#include "fast_identities.def"
};

static const char *find(const struct source *sources, size_t source_count, const tapml_op *op)
{
    for (size_t i = 0; i < source_count; i++) {
        if (strcmp(sources[i].op, op->name) == 0) {
            return sources[i].digest;
        }
    }
    return NULL;
}

static const char *digest(tapml_object *device, const tapml_op *op)
{
    return memory_object_of(device)->component == &reference_component
               ? find(reference_sources, sizeof(reference_sources) / sizeof(*reference_sources), op)
               : find(fast_sources, sizeof(fast_sources) / sizeof(*fast_sources), op);
}

static const tapml_identity table = {TAPML_HDR(tapml_identity), digest};

const void *identity_interface(tapml_object *device, const char *id)
{
    return strcmp(id, TAPML_IDENTITY) == 0 ? &table : NULL;
}
