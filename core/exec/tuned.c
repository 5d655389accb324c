// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/tuned.h"

#include "base/log.h"
#include "device/knobs.h"
#include "schema/catalogue.h"

#include <string.h>

static const struct compiled_op *find_op(const struct catalogue *catalogue,
                                         const struct tuned_setting *setting)
{
    return setting->version >= 0 && setting->version <= UINT32_MAX
               ? catalogue_find(catalogue, setting->op, (uint32_t)setting->version)
               : NULL;
}

// Whether an identity is this digest, with or without settings behind it.
static int is_digest(const char *identity, const char *digest)
{
    const size_t length = strcspn(identity, "+");
    return strlen(digest) == length && strncmp(identity, digest, length) == 0;
}

int tuned_fits(struct backend *backend,
               const struct catalogue *catalogue,
               const struct tuned_setting *setting)
{
    const struct backend_info *info = backend_info(backend);
    const struct compiled_op *op = find_op(catalogue, setting);
    if (!op || !backend_has_op(backend, op->op)) {
        return 0;
    }
    return !setting->device || (strcmp(setting->device, info->device) == 0 &&
                                strcmp(setting->driver, info->driver) == 0 &&
                                is_digest(backend_identity(backend, op->op), setting->digest));
}

static tapml_status apply(struct backend *backend, const struct tuned_setting *setting)
{
    struct arena *arena = arena_create();
    tapml_setting given;
    tapml_status status = arena ? knobs_read(setting->shape_class, setting->values, arena, &given)
                                : status_no_memory();
    if (status == TAPML_OK) {
        status = knobs_set(backend, setting->op, &given);
    }
    arena_destroy(arena);
    return status;
}

tapml_status tuned_apply(struct backend *backend,
                         const struct catalogue *catalogue,
                         struct tuned_settings settings)
{
    for (size_t i = 0; i < settings.count; i++) {
        const struct tuned_setting *setting = &settings.items[i];
        if (!tuned_fits(backend, catalogue, setting)) {
            continue;
        }
        const tapml_status status = apply(backend, setting);
        if (status_ends_all(status)) {
            return status;
        }
        if (status != TAPML_OK) {
            log_line(LOG_WARNING, "a setting of '%s' is not used: %s", setting->op,
                     status_message());
        }
    }
    return TAPML_OK;
}
