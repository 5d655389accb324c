// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "dump/dump_catalogue.h"

#include "schema/catalogue.h"

#include <tapml/ops.h>

tapml_status dump_catalogue_create(struct catalogue **out_catalogue)
{
    struct catalogue *catalogue = NULL;

    TAPML_TRY(catalogue_create(&catalogue));
    for (size_t i = 0; tapml_ops[i] != NULL; i++) {
        const tapml_status status = catalogue_add(catalogue, tapml_ops[i], "tapml-host", NULL);

        if (status != TAPML_OK) {
            catalogue_destroy(catalogue);
            return status;
        }
    }
    *out_catalogue = catalogue;
    return TAPML_OK;
}
