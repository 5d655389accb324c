// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/weight_files.h"

#include "gguf/gguf.h"
#include "model/gguf_weights.h"
#include "model/quantised_inputs.h"
#include "model/quantised_weights.h"
#include "model/safetensors.h"

// What the files say of inputs stands in tensors that are gone once the weights are made.
static tapml_status make_weights(const char *folder, struct checkpoint *checkpoint)
{
    struct quantised_inputs_list inputs;
    TAPML_TRY(quantised_inputs_find(folder, checkpoint, &inputs));
    TAPML_TRY(quantised_weights_apply(folder, checkpoint));
    quantised_inputs_attach(&inputs, checkpoint);
    return TAPML_OK;
}

static tapml_status open_folder(const char *folder, struct checkpoint **out_checkpoint)
{
    struct checkpoint *checkpoint = NULL;
    TAPML_TRY(safetensors_open(folder, &checkpoint));
    const tapml_status status = make_weights(folder, checkpoint);
    if (status != TAPML_OK) {
        checkpoint_close(checkpoint);
        return status;
    }
    *out_checkpoint = checkpoint;
    return TAPML_OK;
}

tapml_status weight_files_open(const char *path, struct checkpoint **out_checkpoint)
{
    return gguf_is(path) ? gguf_weights_open(path, out_checkpoint)
                         : open_folder(path, out_checkpoint);
}
