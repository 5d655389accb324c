// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/far_knobs.h"

#include "link/far_support.h"
#include "link/message_knobs.h"

tapml_status far_knobs_ask(struct far_side *far,
                           const tapml_op *op,
                           const tapml_value *args,
                           struct arena *arena,
                           struct knob_space *out_space)
{
    struct wire_reader reader;
    int is_answered = 0;
    *out_space = (struct knob_space){.count = 0};
    if (!far_side_has_op(far, op)) {
        return TAPML_OK;
    }
    TAPML_TRY(far->is_busy ? far_side_settle(far) : TAPML_OK);
    TAPML_TRY(far_side_ready(far));
    far_side_begin(far, MESSAGE_KNOBS);
    wire_put_u32(&far->log, op_list_find(&far->ops, op));
    TAPML_TRY(far_support_put_args(far, op, args, NULL));
    TAPML_TRY(far_side_ask(far, &reader, &is_answered));
    return message_knobs_take(&reader, arena, out_space);
}
