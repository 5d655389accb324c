// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "device/panels.h"

#include "tensor/extent.h"

int panels_are_written(const tapml_param *param)
{
    return param->kind == TAPML_P_TENSOR_OUT || param->kind == TAPML_P_TENSOR_INOUT ||
           (param->effects & TAPML_E_STATE_WRITE) != 0;
}

// Elements, whose sizes are powers of two, need no division.
static int
is_right(const struct handles *handles, const tapml_param *param, const tapml_tensor *panel)
{
    const struct handle *handle = handles_find(handles, panel->buffer);
    const uint64_t element_bytes = TAPML_DT_BYTES(panel->dtype);
    uint64_t end = 0;
    return handle && handle->is_alive && extent_end(panel, &end) && end <= handle->bytes &&
           panel->offset <= handle->bytes &&
           (panel->encoding || (panel->offset & (element_bytes - 1)) == 0) &&
           ((handle->access & TAPML_ACCESS_WRITE) != 0 || !panels_are_written(param));
}

const tapml_tensor *panels_find_wrong(const struct handles *handles,
                                      const tapml_param *param,
                                      const tapml_tensor *tensor)
{
    for (const tapml_tensor *panel = tensor; panel; panel = panel->next) {
        for (uint32_t i = 0; panel->spans && i < panel->encoding->n_spans; i++) {
            if (!is_right(handles, param, panel->spans[i])) {
                return panel->spans[i];
            }
        }
        if (!panel->spans && !is_right(handles, param, panel)) {
            return panel;
        }
    }
    return NULL;
}
