// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/case_weights.h"

#include "model/weight_files.h"
#include "run/run_metadata.h"
#include "store/bundle.h"
#include "store/metadata.h"

#include <stdio.h>

tapml_status case_weights_open(struct setup *setup,
                               struct store *store,
                               const char *given,
                               struct checkpoint **out_checkpoint)
{
    char folder[4096];
    const int is_own = given == NULL && !bundle_is(store);
    const char *known = is_own ? metadata_get(store, "model.path") : NULL;

    *out_checkpoint = NULL;
    if (given != NULL) {
        TAPML_TRY(setup_find_model(setup, given, &known));
    }
    (void)snprintf(folder, sizeof(folder), "%s", known != NULL ? known : "");
    if (known == NULL) {
        return TAPML_OK;
    }
    const tapml_status status = weight_files_open(folder, out_checkpoint);

    if (status == TAPML_OK) {
        return run_metadata_encode(store, *out_checkpoint);
    }
    return status == TAPML_NOT_FOUND && given == NULL ? TAPML_OK : status;
}
