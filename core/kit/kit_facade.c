// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_facade.h"

#include "base/text.h"
#include "kit/kit_subject.h"

#include <stdio.h>

enum { NAME_BYTES = 512 };

int kit_facade_open(const struct kit_subject *subject,
                    struct kit_result *io_result,
                    struct kit_facade *out_facade)
{
    const char *const files[] = {
        subject->manifest_path != NULL ? subject->manifest_path : subject->library, NULL};
    char name[NAME_BYTES];

    *out_facade = (struct kit_facade){.registry = NULL};
    (void)snprintf(name, sizeof(name), "%s/%s%s%s", subject->manifest.id, subject->component,
                   subject->device != NULL ? ":" : "",
                   subject->device != NULL ? subject->device : "");
    tapml_status status =
        registry_create(&(struct registry_options){.files = files, .ini = &subject->options},
                        &out_facade->registry);

    if (status == TAPML_OK) {
        status = registry_open(out_facade->registry, name, &out_facade->backend);
    }
    if (status == TAPML_UNAVAILABLE) {
        kit_result_skip(io_result, "%s", status_message());
        kit_result_lack_device(io_result);
    } else if (status != TAPML_OK) {
        kit_result_fail(io_result, "%s", status_message());
    }
    return status == TAPML_OK;
}

void kit_facade_close(struct kit_facade *facade)
{
    if (facade->backend != NULL) {
        backend_release(facade->backend);
    }
    registry_destroy(facade->registry);
    *facade = (struct kit_facade){.registry = NULL};
}
